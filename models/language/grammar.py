"""The parse table of `grammar.lark`.

Lark turns the grammar into an LALR(1) table; that takes longer than reading most models, so
the table is kept beside the grammar as `grammar.json`, with a digest of the grammar it was
made from. A grammar that has been edited since is turned into its table afresh.
"""

from __future__ import annotations

import json
import zlib
from functools import cache
from pathlib import Path
from typing import Any

from workbench.models.record import record

_FOLDER = Path(__file__).resolve().parent


@record
class GrammarRule:
    """`origin: symbols`, which `maker` turns into a value.

    `maker` is empty where a single symbol's value is passed on, and None where the symbols'
    values are spliced into the list of the surrounding rule; `spliced` are the positions
    of the symbols whose own values are such lists.
    """

    origin: str
    length: int
    maker: str | None
    spliced: tuple[int, ...]


@record
class Grammar:
    """An LALR(1) table. `actions[state]` maps a terminal to the state entered by reading it,
    or, as `~i`, to the rule i to be reduced; `gotos[state]` maps an origin to the state
    after it. `keywords` are the terminals that look like names, by their text."""

    rules: tuple[GrammarRule, ...]
    actions: tuple[dict[str, int], ...]
    gotos: tuple[dict[str, int], ...]
    start: int
    end: int
    keywords: dict[str, str]


@cache
def grammar() -> Grammar:
    """The table, read from its file or, if that is out of date, made by Lark."""
    text = (_FOLDER / "grammar.lark").read_text(encoding="utf-8")
    try:
        data = json.loads((_FOLDER / "grammar.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        data = {}
    if data.get("digest") != digest(text):
        data = make_table(text)
    return _from_json(data)


def digest(text: str) -> str:
    """What ties a table to the grammar it was made from: enough to notice an edit."""
    return f"{zlib.crc32(text.encode()):08x} {len(text)}"


def make_table(text: str) -> dict[str, Any]:
    """The table of a grammar as JSON data."""
    from lark import Lark

    lark = Lark(text, parser="lalr", keep_all_tokens=True, maybe_placeholders=False)
    table = lark.parser.parser._parse_table
    numbers = {state: i for i, state in enumerate(table.states)}
    rules = {rule: i for i, rule in enumerate(lark.rules)}
    actions: list[dict[str, int]] = []
    gotos: list[dict[str, int]] = []
    terminals = {t.name for t in lark.terminals} | {"$END"}
    for row in table.states.values():
        act: dict[str, int] = {}
        go: dict[str, int] = {}
        for symbol, (step, target) in row.items():
            if symbol not in terminals:
                go[symbol] = numbers[target]
            else:
                act[symbol] = ~rules[target] if step.name == "Reduce" else numbers[target]
        actions.append(act)
        gotos.append(go)
    return {
        "digest": digest(text),
        "rules": [_rule_data(rule) for rule in lark.rules],
        "actions": actions,
        "gotos": gotos,
        "start": numbers[table.start_states["start"]],
        "end": numbers[table.end_states["start"]],
        "keywords": {t.pattern.value: t.name for t in lark.terminals if t.pattern.value.isalpha()},
    }


def _rule_data(rule: Any) -> list[Any]:
    spliced = [i for i, s in enumerate(rule.expansion) if s.name.startswith("_")]
    maker: str | None = str(rule.alias or rule.origin.name)
    if rule.origin.name.startswith("_"):
        maker = None
    elif rule.options.expand1 and rule.alias is None and len(rule.expansion) == 1 and not spliced:
        maker = ""
    return [str(rule.origin.name), len(rule.expansion), maker, spliced]


def _from_json(data: dict[str, Any]) -> Grammar:
    return Grammar(
        tuple(GrammarRule(o, n, m, tuple(s)) for o, n, m, s in data["rules"]),
        tuple(data["actions"]),
        tuple(data["gotos"]),
        data["start"],
        data["end"],
        data["keywords"],
    )


def write_table() -> None:
    """Bring `grammar.json` up to date (`python -m workbench.models.language.grammar`)."""
    data = make_table((_FOLDER / "grammar.lark").read_text(encoding="utf-8"))
    text = json.dumps(data, separators=(",", ":"), sort_keys=True)
    (_FOLDER / "grammar.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_table()
