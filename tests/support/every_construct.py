"""Random models in the language that together use every construct of it.

Sizes are small and numbers are few, so that coincidences (guards that are only touched, invariants
met exactly, values at a kink, empty ranges) are common. Nothing is known of the answers: whatever
is asked of such a model may only end in an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

NUMBERS = ("0", "1", "2", "-1", "0.5", "3", "-2.5", "1/3", "10")
COLOURS = "{ red, amber, green }"
KINDS_OF_EVENT = ("", "", "", "", "urgent ", "urgent ", "crossing ", "bilateral ", "sliding ")
TABLES = """\
table ramp(real v) linear { -1: 0, 1: 2, 3: 1 }
table step(real v) previous { 0: 0, 2: 1 }
table plane(real v, real w) linear { : 0, 1;  0: 1, 2;  2: 0, 3 }
"""


@dataclass
class Names:
    """What is in scope: variables that flow, follow equations or are held, and signals."""

    flowing: list[str]
    equations: list[str] = field(default_factory=list)
    signals: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    whole: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    colours: list[str] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    has_tables: bool = False

    @property
    def numbers(self) -> list[str]:
        """Names of numbers, those that flow more often than others."""
        rest = [*self.equations, *self.signals, *self.constants, *self.held, *self.whole]
        return [*self.flowing, *self.flowing, *rest, *self.shared, *self.seen, "time"]

    def declared(self, access: str) -> str:
        """The declarations with which agents (`private`, `write`) and modes (`write`) begin."""
        found = [f"{access} analog real {', '.join([*self.flowing, *self.equations])};"]
        found += [f"{access} discrete real {name};" for name in self.held]
        found += [f"{access} discrete int {name};" for name in self.whole]
        found += [f"{access} discrete bool {name};" for name in self.flags]
        found += [f"{access} discrete enum {COLOURS} {name};" for name in self.colours]
        found += [f"readwrite discrete int {name};" for name in self.shared]
        found += [f"read analog real {name};" for name in (*self.signals, *self.seen)]
        return " ".join(found)


def random_text(seed: int, *, rare: bool = False) -> str:
    """A model: one agent with modes in modes, two agents that read and share variables, or a row
    of alike ones that interact. With `rare` it also has constructs that few models have."""
    writer = _Writer(Random(seed), Random(seed) if rare else None)
    shape = writer.random.choice((writer.alone, writer.pair, writer.row))
    body = shape()
    until = f"system Whole() until {writer.pick('1', '5', '1/2')};\n" if writer.chance(0.3) else ""
    return "\n".join([*writer.definitions, body, until])


class _Writer:
    def __init__(self, random: Random, rare: Random | None):
        self.random, self.rare = random, rare
        self.definitions: list[str] = []
        self.constants: list[str] = []
        self.has_side_entry: set[str] = set()
        self.has_outside = self.rarely(0.1)
        if self.has_outside:
            self.definitions.append('extern real outside(real) from "nowhere";')
        self.has_tables = self.chance(0.25)
        if self.has_tables:
            self.definitions.append(TABLES)
        if self.chance(0.4):
            self.constants.append("k")
            given = self.pick("= 2", "= -1/2", "in [0.5, 1.5]", "in [-1, 1]")
            self.definitions.append(f"const real k {given};")

    # Wholes

    def alone(self) -> str:
        names = self.names("x", "y", signals=["u"] if self.chance(0.4) else [])
        bounded = "".join(f" assume {{ {u} >= -1 && {u} <= 1 }}" for u in names.signals)
        if self.rarely(0.2):
            bounded = ""  # any function of time
        assumed = ""
        if names.signals and self.chance(0.3):
            assumed = f" assume {{ u <= {self.pick('1', 'x', 'x + 2')} }}"
        return self.agent("Whole", names, "private", bounded + assumed)

    def pair(self) -> str:
        """Two agents; the second reads what flows in the first, and both write an integer."""
        first, second = self.names("x", "y"), self.names("v")
        shared = ["turn"] if self.chance(0.6) else []
        first.shared, second.shared = list(shared), list(shared)
        second.seen = ["x"]
        self.definitions.append(self.agent("First", first, "write"))
        self.definitions.append(self.agent("Second", second, "write"))
        hidden = Names(
            [*first.flowing, *second.flowing],
            [*first.equations],
            held=first.held,
            whole=[*first.whole],
            flags=first.flags,
            colours=first.colours,
            constants=self.constants,
            has_tables=self.has_tables,
        )
        seen = f"  {hidden.declared('private')}\n"
        seen += "".join(f"  private discrete int {n} = {self.pick('0', '1')};\n" for n in shared)
        parts = "  agent first = First();\n  agent second = Second();\n"
        parts += f"  hide {second.flowing[0]};\n" if self.rarely(0.2) else ""
        hidden.shared = shared
        return f"agent Whole() {{\n{seen}{parts}{self.claims(hidden, ())}\n}}"

    def row(self) -> str:
        """Alike agents side by side, with an event between any two of them."""
        names = self.names("x")
        names.held = names.whole = names.flags = names.colours = names.equations = []
        self.definitions.append(self.agent("One", names, "write", parameter="int i"))
        n = self.pick("1", "2", "3")
        guard = self.pick(
            "a.x >= b.x + 1", "abs(a.x - b.x) <= 0.1", "a.x > 1 && b.x > 1", "a.x == b.x"
        )
        action = self.pick(
            "a.x = 0;", "let old = a.x; a.x = b.x; b.x = old;", "a.x in [0, 1]; b.x = a.x + 1;"
        )
        urgent = self.pick("", "urgent ")
        claim = self.pick(
            "forall i in 1..n : x[i] <= 3", "(sum i in 1..n : x[i]) <= 10", "x[1]*x[n] <= 9"
        )
        return f"""\
agent Whole(int n = {n}) {{
  private analog real x[1..n];
  agent one[i in 1..n] = One(i) [ x := x[i] ];
  {urgent}interaction meet between a, b in one when {guard} do {{ {action} }}
  assert "row" {{ {claim} }}
}}"""

    # Agents and modes

    def names(self, *flowing: str, signals: list[str] | None = None) -> Names:
        def perhaps(name: str) -> list[str]:
            return [name] if self.chance(0.3) else []

        count = self.random.randint(1, len(flowing))
        return Names(
            list(flowing[:count]),
            perhaps("w") if len(flowing) > 1 else [],
            signals or [],
            self.constants,
            perhaps("h") if len(flowing) > 1 else [],
            perhaps("n") if len(flowing) > 1 else [],
            perhaps("on") if len(flowing) > 1 else [],
            perhaps("lamp") if len(flowing) > 1 else [],
            has_tables=self.has_tables,
        )

    def agent(
        self, name: str, names: Names, access: str, items: str = "", parameter: str = ""
    ) -> str:
        top, places = self.composed(f"{name}Top", names, 1, is_top=True)
        self.definitions.append(top)
        starts = [self.start(v, parameter) for v in names.flowing]
        starts += [f"{v} = {self.number()};" for v in names.held]
        starts += [f"{v} {self.pick('= 0', '= 3', 'in [0, 2]')};" for v in names.whole]
        starts += [f"{v} = {self.pick('true', 'false')};" for v in names.flags]
        starts += [f"{v} = {self.pick('red', 'green')};" for v in names.colours]
        if self.chance(0.15):
            starts.append(f"where {names.flowing[0]} <= {self.pick('1', '3', '10')};")
        hints = f"  predicate {{ {self.comparison(names)} }}\n" if self.chance(0.2) else ""
        claims = self.claims(names, places) if access == "private" else ""
        return f"""\
agent {name}({parameter}) {{
  {names.declared(access)}{items}
  init {{ {" ".join(starts)} }}
  mode top = {name}Top();
{hints}{claims}
}}"""

    def start(self, name: str, parameter: str) -> str:
        if parameter and self.chance(0.5):
            return f"{name} = i;"
        if self.chance(0.5):
            return f"{name} = {self.pick('0', '1', '-1', '1/3')};"
        return f"{name} in {self.interval()};"

    def composed(
        self, name: str, names: Names, depth: int, *, is_top: bool
    ) -> tuple[str, tuple[str, ...]]:
        """A mode of modes, and what its submodes are called."""
        count = self.random.randint(1, 3)
        lines = [f"mode {name}() {{", f"  {names.declared('write')}"]
        subs = [f"m{i}" for i in range(count)]
        exits: dict[str, bool] = {}
        if not is_top and self.rarely(0.5):
            self.has_side_entry.add(name)
            lines.append("  entry aside;")
        for sub in subs:
            kind = f"{name}_{sub}"
            exits[sub] = depth > 0 and self.chance(0.25)
            if exits[sub]:
                text, _ = self.composed(kind, names, depth - 1, is_top=False)
            else:
                text = self.leaf(kind, names)
            self.definitions.append(text)
            lines.append(f"  mode {sub} = {kind}();")
        if not is_top:
            lines.append("  exit done;")
        if is_top and names.equations:
            equation = self.value(names, names.flowing)
            lines.append(f"  alge {{ {names.equations[0]} == {equation}; }}")
        entry = "init" if is_top else "default"
        lines.append(f"  trans from {entry} to {subs[0]};")
        if name in self.has_side_entry:
            lines.append(f"  trans from aside to {subs[-1]}{self.doing(names)};")
        if len(subs) > 1 and self.rarely(0.3):
            both = f"{subs[0]}, {subs[1]}"
            lines.append(f"  unilateral trans #both from {both} to {subs[0]} when time >= 1;")
        if self.chance(0.2):
            guard = self.comparison(names)
            lines.append(f"  trans from {entry} to {subs[-1]} when {guard}{self.doing(names)};")
        for number in range(self.random.randint(count - 1, count + 2)):
            source, target = self.pick(*subs), self.pick(*subs)
            if number + 1 < count:
                source, target = subs[number], subs[number + 1]
            leaves, enters = source, target
            if exits[source]:
                leaves = f"{source}.{self.pick('done', 'default')}"
            if exits[target] and self.chance(0.5):
                enters = f"{target}.default"
            elif f"{name}_{target}" in self.has_side_entry:
                enters = f"{target}.aside"
            if not is_top and number + 1 >= count and self.chance(0.4):
                enters = "done"
            word = self.pick(*KINDS_OF_EVENT)
            when = f" when {self.condition(names)}" if self.chance(0.9) else ""
            end = f"{when}{self.doing(names)};"
            lines.append(f"  {word}trans #t{number} from {leaves} to {enters}{end}")
        if self.chance(0.2):
            lines.append(f"  inv {{ {self.bound(names)} }}")
        return "\n".join([*lines, "}"]), tuple(subs)

    def leaf(self, name: str, names: Names) -> str:
        lines = [f"mode {name}() {{", f"  {names.declared('write')}"]
        flows = [self.flow(v, names) for v in names.flowing]
        if self.rarely(0.2):
            lines.append("  private analog real own = 1;")
            flows = [flows[0].replace(";", " - own;") if "==" in flows[0] else flows[0], *flows[1:]]
            flows.append("d(own) == -own;")
        lines.append(f"  diff {{ {' '.join(flows)} }}")
        if self.chance(0.7):
            lines.append(f"  inv {{ {self.bound(names)} }}")
        if self.chance(0.15):
            lines.append(f'  assert "inside {name}" {{ {self.comparison(names)} }}')
        return "\n".join([*lines, "}"])

    def flow(self, name: str, names: Names) -> str:
        sort = self.random.random()
        if sort < 0.3:
            return f"d({name}) == {self.number()};"
        if sort < 0.45:
            return f"d({name}) in {self.interval()};"
        if sort < 0.5:
            return f"d({name}) {self.pick('<=', '>=')} {self.number()};"
        if sort < 0.75:
            return f"d({name}) == {self.number()} - {name};"
        return f"d({name}) == {self.value(names, names.numbers)};"

    def doing(self, names: Names) -> str:
        count = self.random.randint(0, len(names.flowing))
        chosen = self.random.sample(names.flowing, count)
        actions = [self.assigned(name, names) for name in chosen]
        for name in names.held:
            actions += [f"{name} = {self.pick(names.flowing[0], '1/2', 'time')};"]
        for name in [*names.whole, *names.shared]:
            given = ("1", f"{name} + 1", f"1 - {name}", f"{name} < 2 ? {name} + 1 : 0")
            options = (*given, f"floor({names.flowing[0]})", f"2*{name}", f"max({name} - 1, 0)")
            actions += [f"{name} = {self.pick(*options)};"] if self.chance(0.6) else []
            actions += [f"{name} in [0, 2];"] if self.chance(0.1) else []
        for name in names.flags:
            given = ("true", f"!{name}", f"{names.flowing[0]} >= 1")
            actions += [f"{name} = {self.pick(*given)};"] if self.chance(0.6) else []
        for name in names.colours:
            actions += [f"{name} = {self.pick('red', 'amber', 'green')};"]
        self.random.shuffle(actions)
        if self.chance(0.15):
            actions = [f"let old = {names.flowing[0]};", *actions, f"{names.flowing[0]} = old/2;"]
        return f" do {{ {' '.join(actions)} }}" if actions and self.chance(0.7) else ""

    def assigned(self, name: str, names: Names) -> str:
        sort = self.random.random()
        if sort < 0.4:
            return f"{name} = {self.number()};"
        if sort < 0.6:
            return f"{name} in {self.interval()};"
        if sort < 0.8:
            return f"{name} = {self.pick('-1', '1/2', '0.9')}*{self.pick(*names.flowing)};"
        return f"{name} = {self.value(names, names.numbers)};"

    # Values and conditions

    def value(self, names: Names, over: list[str]) -> str:
        """A value of one or two names, of any sort of dynamics."""
        a, b, c = self.pick(*over), self.pick(*over), self.number()
        if self.rare is not None and self.rarely(0.3):
            outside = [f"outside({a})"] if self.has_outside else []
            return self.rare.choice(
                [
                    f"tan({a})",
                    f"asin({a})",
                    f"acos({a}/3)",
                    f"atan({a}) - {b}",
                    f"floor({a})",
                    f"(sum i in 1..3 : i*{a})",
                    f"({a} < {b} ? ({a} > 0 ? {a} : 1) : max({a}, {b}))",
                    f"{a}/{b}",
                    f"2^{a}",
                    *outside,
                ]
            )
        options = [
            f"{c}*{a} + {b}",
            f"{a} - {b}",
            f"{c} - {a}/2 + {b}/3",
            f"{a}*{b}",
            f"{a}^2 - {c}",
            f"-{a}^3",
            f"sin({a}) + {b}",
            f"exp(-{a}^2)",
            f"cos({a})*{b}",
            f"sqrt({a}^2 + 1)",
            f"{b}/({a}^2 + 1)",
            f"1/{a}",
            f"log({a})",
            f"sqrt({a})",
            f"atan2({a}, {b})",
            f"max({a}, {b})",
            f"min({a}, {c}) - abs({b})",
            f"sign({a})",
            f"({a} >= {c} ? {b} : -{b})",
            f"abs({a} - {c})",
        ]
        options += [f"({flag} ? {a} : {c})" for flag in names.flags]
        options += [f"({lamp} == red ? {c} : {a})" for lamp in names.colours]
        if names.has_tables:
            options += [f"ramp({a})", f"step({a})", f"plane({a}, {b})"]
        return self.pick(*options)

    def bound(self, names: Names) -> str:
        """An invariant: more often than not an upper or lower bound of what flows."""
        name = self.pick(*names.flowing)
        if self.chance(0.7):
            return f"{name} {self.pick('<=', '<=', '>=')} {self.pick('2', '5', '3', '-1', '1')}"
        return self.condition(names)

    def condition(self, names: Names) -> str:
        sort = self.random.random()
        if sort < 0.55:
            return self.comparison(names)
        if sort < 0.7:
            return f"{self.comparison(names)} && {self.comparison(names)}"
        if sort < 0.85:
            return f"({self.comparison(names)} || {self.comparison(names)})"
        if sort < 0.9:
            return f"!({self.comparison(names)})"
        return self.pick("true", "false", f"time >= {self.number()}", f"time == {self.number()}")

    def comparison(self, names: Names) -> str:
        options = [f"{self.pick(*names.flowing)} {self.relation()} {self.number()}"] * 4
        options += [f"{flag}" for flag in names.flags] + [f"!{flag}" for flag in names.flags]
        options += [f"{lamp} != {self.pick('red', 'green')}" for lamp in names.colours]
        whole = [*names.whole, *names.shared]
        options += [f"{n} {self.pick('==', '<', '>=')} {self.pick('0', '1', '3')}" for n in whole]
        options += [f"max({n}, -{n}) <= {self.pick('1', '2')}" for n in whole]
        a, b = self.pick(*names.numbers), self.pick(*names.numbers)
        options += [f"{a} + {b} {self.relation()} {self.number()}"]
        options += [f"{self.value(names, names.numbers)} {self.relation()} {self.number()}"]
        return self.pick(*options)

    def relation(self) -> str:
        return self.pick("<=", ">=", "<=", ">=", "<", ">", "==", "!=")

    def claims(self, names: Names, places: tuple[str, ...]) -> str:
        found = [f'  assert "safe" {{ {self.condition(names)} }}']
        if self.chance(0.3):
            found = [f'  forbid "never" {{ {self.condition(names)} }}']
        if self.chance(0.3):
            name = names.flowing[0]
            found = [f'  assert "far" {{ {name} <= 20 && {name} >= -20 }}']
        if self.chance(0.3):
            found.append('  assert "goes on" { never blocks }')
        if self.rarely(0.2):
            name = names.flowing[0]
            found.append(f'  assert "saved" {{ {name} <= 4 }} rescue {{ d({name}) == -1; }}')
        return "\n".join(found)

    # Choices

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def rarely(self, probability: float) -> bool:
        """A chance for what few models have; asking does not change what else is drawn."""
        return self.rare is not None and self.rare.random() < probability

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def number(self) -> str:
        return self.random.choice(NUMBERS)

    def interval(self) -> str:
        low = self.random.choice((0, 1, -1, 0.5, -2))
        return f"[{low}, {low + self.random.choice((0, 0.5, 1, 2))}]"
