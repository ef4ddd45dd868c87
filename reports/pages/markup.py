"""HTML that cannot be injected into: text becomes markup only through this module.

`tag` builds an element; every string that is not already `Markup` is escaped. Data enters a
page as JSON inside a script element (`data_block`), with every character escaped that could
end the element or the line. Characters that do not show are written out (`visible`).
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from html import escape
from typing import Any, TypeAlias
from unicodedata import category


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Content: TypeAlias = "str | int | float | Iterable[Content] | None"

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_VOID = frozenset({"meta", "input", "br", "hr", "col"})
_IN_JSON = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
}
"""What JSON leaves as it is although HTML may read it; all else beyond ASCII, the separators
U+2028 and U+2029 among it, is escaped by the encoder."""


def visible(text: str) -> str:
    """The text with characters that do not show written out: what turns the direction of writing
    or takes no space could make one name look like another."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_written_out(c) if category(c) in _UNSEEN else c for c in text)


def visible_data(value: Any) -> Any:
    """Plain data, all its texts made visible, those by which others are found as well."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible_data(key): visible_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [visible_data(item) for item in value]
    return value


def _written_out(character: str) -> str:
    return character if character in "\n\r\t" else f"\\u{ord(character):04x}"


def markup(content: Content) -> Markup:
    """Content as markup: strings escaped, lists joined, None nothing."""
    if content is None:
        return Markup("")
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return Markup(escape(visible(content)))
    if isinstance(content, int | float):
        return Markup(escape(str(content)))
    return Markup("".join(map(markup, content)))


def tag(name: str, /, *content: Content, **attributes: str | int | bool | None) -> Markup:
    """An element. Attributes: `class_` for class, `data_x` for data-x; None and False leave
    one out, True writes it without a value."""
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        plain = key.rstrip("_").replace("_", "-")
        parts.append(plain if value is True else f'{plain}="{escape(visible(str(value)))}"')
    opening = f"<{' '.join(parts)}>"
    if name in _VOID:
        return Markup(opening)
    return Markup(f"{opening}{markup(content)}</{name}>")


def data_block(identifier: str, value: Any) -> Markup:
    """A script element that holds JSON and runs nothing."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for character, replacement in _IN_JSON.items():
        text = text.replace(character, replacement)
    return Markup(f'<script type="application/json" id="{escape(identifier)}">{text}</script>')


def script(source: str, identifier: str | None = None) -> Markup:
    """A script of our own; it must not contain the end of its element."""
    assert "</script" not in source.lower() and "<!--" not in source
    return tag("script", Markup(source), id=identifier)


def style(source: str) -> Markup:
    """A style sheet of our own."""
    assert "</style" not in source.lower()
    return Markup(f"<style>{source}</style>")


def source_hash(source: str) -> str:
    """The hash by which a content security policy allows one inline script or style."""
    return f"'sha256-{b64encode(sha256(source.encode()).digest()).decode()}'"
