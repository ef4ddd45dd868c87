"""From the bytes of a model file to its text, with a clear answer to what is no text."""

from __future__ import annotations

from workbench.models.source import Diagnostic, ModelError, Span

MAX_SOURCE_BYTES = 2_000_000
"""The largest model file that is read: about forty thousand lines."""


def decode_source(data: bytes, file: str) -> str:
    """The text of a model file: UTF-8, with or without a byte order mark."""
    check_size(len(data), file)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _unreadable(
            "the file is UTF-16 text", data, 0, file, "save it as UTF-8 in your editor"
        )
    nul = data.find(b"\0")
    if nul >= 0:
        raise _unreadable(
            f"byte {nul} of the file is NUL, so this is no text file",
            data,
            nul,
            file,
            "a model is plain UTF-8 text",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The decoder counts from behind the byte order mark.
        offset = error.start + (3 if data.startswith(b"\xef\xbb\xbf") else 0)
        raise _unreadable(
            f"byte {offset} of the file (0x{data[offset]:02x}) is not valid UTF-8",
            data,
            offset,
            file,
            "save the file as UTF-8 in your editor",
        ) from None


def check_size(size: int, file: str) -> None:
    """Refuse a text that is too long to be a model somebody wrote."""
    if size > MAX_SOURCE_BYTES:
        raise ModelError(
            Diagnostic(
                "file-too-large",
                f"the model has {size:,} bytes; the limit is {MAX_SOURCE_BYTES:,}",
                Span(file, 1, 1, 1, 1),
                "many alike parts are better written once, as `agent car[i in 1..n] = Car();`",
            )
        )


def _unreadable(message: str, data: bytes, offset: int, file: str, hint: str) -> ModelError:
    line = data.count(b"\n", 0, offset) + 1
    start = data.rfind(b"\n", 0, offset) + 1
    column = len(data[start:offset].decode("utf-8", "replace")) + 1
    span = Span(file, line, column, line, column + 1)
    return ModelError(Diagnostic("not-utf-8", message, span, hint))
