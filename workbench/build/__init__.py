"""Models made in Python: agents and modes from objects, expressions with operators.

>>> from workbench.build import Agent, Mode, Real, always, enter
>>> level = Real("level")
>>> draining = Mode("draining", level.d == -level / 10)
>>> tank = Agent("Tank", draining, always("never negative", level >= 0), initial={level: 6})
>>> print(tank.charon())
mode Draining() {
  write analog real level;
  diff { d(level) == -0.1*level; }
}
<BLANKLINE>
agent Tank() {
  write analog real level;
  init { level = 6; }
  mode draining = Draining();
  assert "never negative" { level >= 0 }
}
<BLANKLINE>

`workbench.load(tank)` checks it as it checks a file; what is wrong is told with the line of the
Python file. Which variables a mode reads and writes is seen from what it does with them.
Definitions have no parameters of their own: Python functions that make modes and agents do that,
and a `Constant` stays open to `with_parameters`.
"""

from workbench.build.parts import (
    Agent,
    Claim,
    ControlPoint,
    Instance,
    Mode,
    Transition,
    always,
    enter,
    leave,
    never,
)
from workbench.build.terms import (
    Bool,
    Constant,
    Enum,
    Equation,
    Flow,
    Function,
    Int,
    Real,
    Table,
    Term,
    Variable,
    acos,
    asin,
    atan,
    atan2,
    choose,
    cos,
    exp,
    floor,
    log,
    maximum,
    minimum,
    sign,
    sin,
    sqrt,
    tan,
    time,
)

__all__ = [
    "Agent",
    "Bool",
    "Claim",
    "Constant",
    "ControlPoint",
    "Enum",
    "Equation",
    "Flow",
    "Function",
    "Instance",
    "Int",
    "Mode",
    "Real",
    "Table",
    "Term",
    "Transition",
    "Variable",
    "acos",
    "always",
    "asin",
    "atan",
    "atan2",
    "choose",
    "cos",
    "enter",
    "exp",
    "floor",
    "leave",
    "log",
    "maximum",
    "minimum",
    "never",
    "sign",
    "sin",
    "sqrt",
    "tan",
    "time",
]
