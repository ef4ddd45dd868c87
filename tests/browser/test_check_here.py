"""The button in a report that repeats the kernel's check in the reader's own browser."""

from __future__ import annotations

import gzip
import json
import random
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.browser.opened_page import opened, text
from tests.kernel.test_javascript import HOSTILE
from tests.support.kernel_documents import DOCUMENTS, document
from tests.support.report_models import evil, heater
from workbench.models.automaton import Property, PropertyKind
from workbench.models.expressions.expression import TRUE, variable
from workbench.models.kernel.document import refusal
from workbench.models.load import load
from workbench.models.model import Model
from workbench.server.gate import SANDBOX

ACCEPTED = re.compile(r"✓ accepted by the kernel in this browser: [0-9]+ numbers in [0-9]+ ms")
REFUSED = "✗ refused: "
OTHER = (
    f"{REFUSED}it proves something, but it is not the proof of this report: its SHA-256 is another"
)


def said(page: Any, number: int = 0) -> str:
    """What the page says of a proof after a press on its button."""
    button = page.locator("button.recheck").nth(number)
    button.click()
    told = page.locator("#certificate .told").nth(number)
    told.and_(page.locator(".basis")).wait_for()
    assert button.text_content() == "Check this proof here"
    return str(told.text_content())


def embed(page: Any, content: str, *, compressed: bool = False) -> None:
    """Put another document in the place of each that the page holds."""
    stored: Any = content
    if compressed:
        stored = {"gzip": b64encode(gzip.compress(content.encode())).decode()}
    page.evaluate(
        """stored => {
          const block = document.getElementById('documents');
          const names = Object.keys(JSON.parse(block.textContent));
          block.textContent = JSON.stringify(Object.fromEntries(names.map((n) => [n, stored])));
        }""",
        stored,
    )


def digit_changed(content: str, draw: random.Random) -> str:
    """A text with another digit in one place."""
    at = draw.choice([i for i, letter in enumerate(content) if letter.isdigit()])
    other = draw.choice([d for d in "0123456789" if d != content[at]])
    return content[:at] + other + content[at + 1 :]


def agrees(page: Any, content: str) -> bool:
    """Whether the page, which is given a document that is not its own and so refuses it, says of
    it what the kernel in Python says; returns that."""
    why = refusal(json.loads(content))
    embed(page, content)
    assert said(page) == (OTHER if why is None else REFUSED + why), content
    return why is None


@pytest.fixture
def room(browser: Any, written: Callable[..., Path]) -> Iterator[Any]:
    with opened(browser, written("heater", heater, until=8.0)) as page:
        yield page


def several_properties() -> Model:
    """The heater, of which three things are proved."""
    model = heater()
    claims = (
        *model.automaton.properties,
        Property("not cold", variable("x") >= 10),
        Property("goes on", TRUE, PropertyKind.PROGRESS),
    )
    return replace(model, automaton=replace(model.automaton, properties=claims))


def test_the_proofs_of_several_properties(browser: Any, written: Callable[..., Path]) -> None:
    with opened(browser, written("several", several_properties, until=8.0)) as page:
        words = [said(page, number) for number in range(page.locator("button.recheck").count())]
        assert len(words) == 3 and all(map(ACCEPTED.fullmatch, words))
        embed(page, json.dumps(document("ellipsoids")).replace('"1/2"', '"1/3"'))
        assert said(page, 1).startswith(REFUSED)
        told = page.locator("#certificate .told").all_text_contents()
        assert [word.startswith(REFUSED) for word in told] == [False, True, False]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_kind_of_proof_and_changes_of_a_digit(room: Any, name: str) -> None:
    content, draw = json.dumps(document(name)), random.Random(name)
    assert agrees(room, content)
    assert not all(agrees(room, digit_changed(content, draw)) for _ in range(16))


def test_a_compressed_document(room: Any) -> None:
    with room.expect_download() as download:
        room.click("button.save[data-proof]")
    content = download.value.path().read_text()
    embed(room, content, compressed=True)
    assert ACCEPTED.fullmatch(said(room))
    embed(room, content.replace(",", ", "), compressed=True)
    assert said(room) == OTHER
    content = json.dumps(document("ellipsoids"))
    embed(room, content, compressed=True)
    assert said(room) == OTHER
    embed(room, content.replace('"1/2"', '"1/3"'), compressed=True)
    assert said(room).startswith(REFUSED)
    room.evaluate(
        """() => {
          const block = document.getElementById('documents');
          block.textContent = block.textContent.replace('AA', 'AB');
        }"""
    )
    assert said(room).startswith(REFUSED)


def test_hostile_documents_do_nothing(room: Any) -> None:
    for content in HOSTILE:
        embed(room, content)
        assert said(room).startswith(REFUSED)
    state = "[window.stolen, {}.polluted, document.querySelectorAll('img').length]"
    assert room.evaluate(state) == [None, None, 0]


def test_names_that_try_to_break_out(browser: Any, written: Callable[..., Path]) -> None:
    with opened(browser, written("evil", evil)) as page:
        assert ACCEPTED.fullmatch(said(page))
        assert page.evaluate("window.stolen") is None


def test_a_check_can_be_called_off(room: Any) -> None:
    room.evaluate("document.getElementById('kernel').textContent = 'while (true);'")
    room.click("button.recheck")
    assert text(room, "#certificate .told") == "checking …"
    assert text(room, "button.recheck") == "Stop"
    assert room.evaluate("new Promise((done) => setTimeout(() => done('the page lives')))")
    room.click("button.recheck")
    assert text(room, "#certificate .told") == "stopped"


def test_a_kernel_that_fails_accepts_nothing(room: Any) -> None:
    room.evaluate("document.getElementById('kernel').textContent = 'throw new Error(1);'")
    assert said(room).startswith(REFUSED)


def test_problem_and_evidence_are_saved_as_they_are_checked(room: Any) -> None:
    with room.expect_download() as download:
        room.click("button.save[data-proof]")
    content = json.loads(download.value.path().read_text())
    assert download.value.suggested_filename == "proof.json" and refusal(content) is None


def test_on_paper_there_is_no_button(room: Any) -> None:
    room.emulate_media(media="print")
    assert not room.is_visible("button.recheck")
    assert room.get_by_text("the kernel, in JavaScript").is_visible()


def test_without_scripts_there_is_no_button(browser: Any, written: Callable[..., Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(written("heater", heater, until=8.0).as_uri())
    assert page.locator("button.recheck").count() == 1
    assert not page.is_visible("button.recheck")
    assert page.get_by_text("the kernel, in JavaScript").is_visible()
    context.close()


@pytest.mark.parametrize("policy", [SANDBOX, SANDBOX.replace("worker-src blob:", "img-src data:")])
def test_in_a_frame_of_the_studio(browser: Any, written: Callable[..., Path], policy: str) -> None:
    """Also where no worker is allowed: the page does the work then."""
    report = written("heater", heater, until=8.0).read_text("utf-8")
    context = browser.new_context()
    page = context.new_page()
    headers = {"Content-Security-Policy": policy}
    frame = '<iframe src="report.html" width="900" height="800"></iframe>'
    page.route("**/report.html", lambda r: r.fulfill(
        body=report, headers=headers, content_type="text/html"))  # fmt: skip
    page.route("**/index.html", lambda r: r.fulfill(body=frame, content_type="text/html"))
    page.goto("http://127.0.0.1:9/index.html")
    inside = page.frame_locator("iframe")
    inside.get_by_text("Check this proof here").click()
    inside.get_by_text("accepted by the kernel in this browser").wait_for()
    context.close()


@pytest.mark.slow
def test_the_proofs_of_the_platoon(browser: Any, written: Callable[..., Path]) -> None:
    path = written("platoon", lambda: load("platoon"), time_limit=600.0)
    draw = random.Random(19)
    with opened(browser, path) as page:
        words = [said(page, number) for number in range(page.locator("button.recheck").count())]
        print(*words, sep="\n")
        assert len(words) == 4 and all(map(ACCEPTED.fullmatch, words))
        with page.expect_download() as download:
            page.locator("button.save[data-proof]").first.click()
        content = download.value.path().read_text()
        changes = [agrees(page, digit_changed(content, draw)) for _ in range(100)]
    assert 10 < changes.count(False) < 100, "that many prove nothing, and no change goes unseen"
