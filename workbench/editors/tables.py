"""The tables that editors read from files: the grammar of TextMate and snippets for VS Code, and
the words of the page's editor. `python -m workbench.editors.tables` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.api.texts import templates, words_of_the_language

_HERE = Path(__file__).resolve().parent
TEXTMATE = _HERE / "vscode" / "syntaxes" / "charon.tmLanguage.json"
SNIPPETS = _HERE / "vscode" / "snippets" / "charon.json"
WORDS = _HERE.parent / "studio" / "src" / "text" / "words.json"


def textmate() -> dict[str, Any]:
    """The grammar of TextMate."""
    table = words_of_the_language()

    def scoped(name: str, found: tuple[str, ...], behind: str = "") -> dict[str, str]:
        return {"name": f"{name}.charon", "match": rf"\b(?:{'|'.join(found)})\b{behind}"}

    signs = "|".join("".join(f"\\{c}" for c in sign) for sign in table.signs)
    return {
        "name": "CHARON",
        "scopeName": "source.charon",
        "fileTypes": ["charon"],
        "patterns": [
            {"name": "comment.line.double-slash.charon", "match": "//.*$"},
            {"name": "comment.block.charon", "begin": r"/\*", "end": r"\*/"},
            {"name": "string.quoted.double.charon", "match": table.patterns["STRING"]},
            {"name": "entity.name.tag.charon", "match": table.patterns["LABEL"]},
            scoped("support.function", table.functions, r"(?=\s*\()"),
            scoped("keyword.control", table.before_brace, r"(?=\s*\{)"),
            scoped("storage.type", table.definitions),
            scoped("storage.modifier", table.manners),
            scoped("support.type", table.types),
            scoped("constant.language", table.constants),
            scoped("keyword.control", table.blocks),
            {"name": "variable.other.charon", "match": table.patterns["NAME"]},
            {"name": "constant.numeric.charon", "match": table.patterns["NUMBER"]},
            {"name": "keyword.operator.charon", "match": signs},
        ],
    }


def words() -> dict[str, Any]:
    """The words for the page's editor."""
    table = words_of_the_language()
    return {
        "keywords": list(table.keywords),
        "types": list(table.types),
        "functions": list(table.functions),
        "constants": list(table.constants),
        "comments": {"line": "//", "block": {"open": "/*", "close": "*/"}},
    }


def snippets() -> dict[str, Any]:
    """Blocks of the language with gaps to fill in, for VS Code."""
    return {
        word: {"prefix": word, "body": template.split("\n")}
        for word, template in templates().items()
    }


def written() -> dict[Path, str]:
    """The files and what they hold."""
    made = {TEXTMATE: textmate(), SNIPPETS: snippets(), WORDS: words()}
    return {path: json.dumps(data, indent=2) + "\n" for path, data in made.items()}


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
