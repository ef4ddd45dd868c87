"""Random models in the language: agents that share integers, urgent edges, resets, ranges."""

from __future__ import annotations

from random import Random

VARIABLES = ("x", "y")


def random_model(seed: int, claim: str = "x <= 1000000") -> str:
    """A plant with one or two flowing variables and a clock, and beside it, half of the time,
    a switch that toggles a shared integer which some edges of the plant wait for."""
    random = Random(seed)
    switched = random.random() < 0.5
    constant_rates = random.random() < 0.4
    names = VARIABLES[: random.choice((1, 2))]
    count = random.choice((1, 2, 3))
    modes = [_mode(random, i, names, constant_rates) for i in range(count)]
    edges = [_edges(random, i, count, names, switched) for i in range(count)]
    shared = " read discrete int flag;" if switched else ""
    flowing = f"write analog real {', '.join(names)}, c;"
    starts = " ".join(_start(random, name) for name in names)
    plant = [
        *modes,
        f"mode PlantTop() {{ {flowing}{shared} write discrete int n;",
        *(f"  mode l{i} = M{i}();" for i in range(count)),
        "  trans from init to l0;",
        *(line for lines in edges for line in lines),
        "}",
        f"agent Plant() {{ private analog real {', '.join(names)}, c = 0;{shared}",
        "  private discrete int n = 0;",
        f"  init {{ {starts} }}",
        "  mode top = PlantTop();",
        f'  assert "claim" {{ {claim} }}',
        "}",
    ]
    if not switched:
        return "\n".join(plant)
    return "\n".join([*plant, *_switch(random)])


def _decimal(random: Random, low: float, high: float) -> str:
    return f"{random.uniform(low, high):.2f}"


def _rate(random: Random, names: tuple[str, ...], is_constant: bool) -> str:
    if is_constant:
        low = random.uniform(-2, 2)
        width = random.choice((0.0, 0.0, 0.5))
        return f"in [{low:.2f}, {low + width:.2f}]" if width else f"== {low:.2f}"
    terms = [f"{_decimal(random, -1.5, 0.5)}*{name}" for name in names]
    return f"== {_decimal(random, -1, 1)} + {' + '.join(terms)}"


def _mode(random: Random, number: int, names: tuple[str, ...], constant_rates: bool) -> str:
    flows = " ".join(f"d({n}) {_rate(random, names, constant_rates)};" for n in names)
    stay = _decimal(random, 0.5, 2)
    invariant = f" inv {{ c <= {stay} }}" if random.random() < 0.8 else ""
    declared = f"write analog real {', '.join(names)}, c;"
    return f"mode M{number}() {{ {declared} diff {{ {flows} d(c) == 1; }}{invariant} }}"


def _edges(
    random: Random, source: int, count: int, names: tuple[str, ...], switched: bool
) -> list[str]:
    found = []
    for _ in range(random.choice((1, 1, 2))):
        target = random.randrange(count)
        urgent = random.random() < 0.3
        guard = [f"c >= {_decimal(random, 0.2, 1)}"]
        if random.random() < 0.4:
            comparison = random.choice((">=", "<="))
            guard.append(f"{random.choice(names)} {comparison} {_decimal(random, -1, 1)}")
        if switched and random.random() < 0.5:
            guard = [*guard[1:], f"flag == {random.choice((0, 1))}"]
        actions = ["c = 0;"]
        if random.random() < 0.5:
            actions.append(_reset(random, names))
        if random.random() < 0.3:
            actions.append(f"n = n < {random.choice((2, 3))} ? n + 1 : 0;")
            guard.append("n <= 3")
        word = "urgent trans" if urgent else "trans"
        found.append(
            f"  {word} from l{source} to l{target} when {' && '.join(guard)} "
            f"do {{ {' '.join(actions)} }}"
        )
    return found


def _reset(random: Random, names: tuple[str, ...]) -> str:
    name = random.choice(names)
    if random.random() < 0.4:
        low = random.uniform(-1, 1)
        return f"{name} in [{low:.2f}, {low + 0.5:.2f}];"
    factor, shift = _decimal(random, -0.9, 0.9), _decimal(random, -0.5, 0.5)
    return f"{name} = {factor}*{random.choice(names)} + {shift};"


def _start(random: Random, name: str) -> str:
    low = random.uniform(-1, 1)
    return f"{name} in [{low:.2f}, {low + random.choice((0, 0.3)):.2f}];"


def _switch(random: Random) -> list[str]:
    low, high = 0.3, random.choice((0.3, 0.8))
    return [
        f"mode Wait() {{ write analog real w; diff {{ d(w) == 1; }} inv {{ w <= {high} }} }}",
        "mode SwitchTop() { write analog real w; write discrete int flag; mode wait = Wait();",
        "  trans from init to wait;",
        f"  trans from wait to wait when w >= {low} do {{ flag = 1 - flag; w = 0; }}",
        "}",
        "agent Switch() { private analog real w = 0; write discrete int flag;",
        "  init { flag = 0; }",
        "  mode top = SwitchTop();",
        "}",
        "agent Both() { private discrete int flag; agent s = Switch(); agent p = Plant(); }",
    ]
