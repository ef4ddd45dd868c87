"""What is declared, as one would write it."""

from __future__ import annotations

from functools import cache

from workbench.models.expressions.dialect import FUNCTIONS
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.printing import to_text
from workbench.models.language import syntax
from workbench.models.language.editor.names import Declaration
from workbench.models.language.syntax import TypeName, WrittenInterval

_ABOUT = {
    "abs": "the distance from zero",
    "acos": "the angle of a cosine",
    "asin": "the angle of a sine",
    "atan": "the angle of a tangent",
    "atan2": "the angle of the point (x, y)",
    "cos": "the cosine of an angle in radians",
    "exp": "e to the power of x",
    "floor": "the next whole number below",
    "log": "the natural logarithm",
    "max": "the largest of its arguments",
    "min": "the smallest of its arguments",
    "sign": "-1, 0 or 1",
    "sin": "the sine of an angle in radians",
    "sqrt": "the square root",
    "tan": "the tangent of an angle in radians",
}


@cache
def functions() -> dict[str, str]:
    """The built-in functions, with their arguments and what they give."""
    arguments = {"atan2": "y, x", "max": "x, y, ...", "min": "x, y, ..."}
    return {
        name: f"{name}({arguments.get(name, 'x')}): {_ABOUT[name]}" for name in sorted(FUNCTIONS)
    }


def type_text(name: TypeName) -> str:
    """A type as it is written."""
    return f"{name.name} {{ {', '.join(name.values)} }}" if name.values else name.name


def value_text(value: Expression | WrittenInterval) -> str:
    """A value or an interval as it is written."""
    if isinstance(value, WrittenInterval):
        return f"[{to_text(value.low)}, {to_text(value.high)}]"
    return to_text(value)


def given_text(value: Expression | WrittenInterval | None) -> str:
    """What a name is given where it is introduced: ` = 2`, ` in [0, 1]` or nothing."""
    if value is None:
        return ""
    return (
        f" in {value_text(value)}"
        if isinstance(value, WrittenInterval)
        else f" = {value_text(value)}"
    )


def parameter_text(parameter: syntax.FormalParameter) -> str:
    """A parameter as it is written."""
    given = given_text(parameter.default)
    return f"{type_text(parameter.type)} {parameter.name.name}{given}"


def declared_as(declaration: Declaration) -> str:
    """What introduces a name, on one line."""
    node, name = declaration.node, declaration.symbol.name
    match node:
        case syntax.AgentDefinition() | syntax.ModeDefinition():
            return f"{declaration.sort} {name}({', '.join(map(parameter_text, node.parameters))})"
        case syntax.FormalParameter():
            return parameter_text(node)
        case (item, declared):
            kind = f"{item.kind} " if item.kind else ""
            over = declared.extent
            extent = f"[{to_text(over.low)}..{to_text(over.high)}]" if over else ""
            given = given_text(declared.initial)
            return f"{item.access} {kind}{type_text(item.type)} {name}{extent}{given}"
        case syntax.ConstantDeclaration():
            return f"const {type_text(node.type)} {name}{given_text(node.value)}"
        case syntax.TableDeclaration():
            arguments = ", ".join(f"real {a.name}" for a in node.arguments)
            return f"table {name}({arguments}) {node.interpolation}"
        case syntax.ExternDeclaration():
            arguments = ", ".join(map(type_text, node.arguments))
            return f"extern {type_text(node.type)} {name}({arguments})"
        case syntax.InstanceDeclaration() if declaration.sort != "index":
            over = node.replicated
            index = f"[{_range_text(over)}]" if over else ""
            return f"{node.keyword} {name}{index} = {_call_text(node)}"
        case syntax.IndexRange():
            return _range_text(node)
        case syntax.LetStatement():
            return f"let {name} = {to_text(node.value)}"
    return f"{declaration.sort} {name}"


def _range_text(over: syntax.IndexRange) -> str:
    return f"{over.index} in {to_text(over.low)}..{to_text(over.high)}"


def _call_text(instance: syntax.InstanceDeclaration) -> str:
    return f"{instance.definition.name}({', '.join(map(to_text, instance.arguments))})"
