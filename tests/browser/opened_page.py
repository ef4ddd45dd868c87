"""A report in a browser, with everything it asks for and complains about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def opened(browser: Any, path: Path, width: int = 1400, scheme: str = "light") -> Iterator[Any]:
    """The page, with every request (not to itself, as of workers) and every complaint of the
    console recorded."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.complaints, page.requests = [], []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda r: r.url.startswith("blob:") or page.requests.append(r.url))
    page.goto(path.as_uri())
    page.wait_for_selector("body.ready")
    yield page
    assert page.complaints == []
    assert page.requests == [path.as_uri()]
    context.close()


def text(page: Any, selector: str) -> str:
    return str(page.text_content(selector))
