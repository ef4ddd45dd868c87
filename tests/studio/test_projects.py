"""Files, windows and servers that come and go: nothing is lost, and changes are seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.studio.opened_studio import Studio
from tests.support.serving import Server, until

PLAIN = "// one line\nagent A() { private analog real x; }\n"

Open = Callable[..., Studio]


@pytest.fixture
def project(project: Path) -> Path:
    (project / "a.charon").write_text(PLAIN)
    return project


def test_two_pages_on_one_project(open_studio: Open) -> None:
    one, two = open_studio(), open_studio()
    one.open("a.charon")
    two.open("a.charon")
    one.replace("one line", "from the first")
    one.save()
    two.page.wait_for_selector(".cm-line:has-text('from the first')")
    two.create("b")
    one.page.wait_for_selector("[data-path='b.charon']")


def test_a_file_changed_on_both_sides_is_asked_about(studio: Studio) -> None:
    page = studio.page
    studio.open("a.charon")
    studio.replace("one line", "mine")
    studio.file("a.charon").write_text(PLAIN.replace("one line", "theirs"))
    page.wait_for_selector(".banner:has-text('changed on disk')")
    page.click("text=Take the one on disk")
    page.wait_for_selector(".cm-line:has-text('theirs')")
    studio.replace("theirs", "mine again")
    studio.file("a.charon").write_text(PLAIN.replace("one line", "theirs again"))
    page.click("text=Keep this one")
    page.wait_for_selector(".top button:text-is('Saved')")
    assert studio.file("a.charon").read_text() == PLAIN.replace("one line", "mine again")


def test_a_file_is_renamed_and_deleted_in_the_tree(studio: Studio) -> None:
    page = studio.page
    studio.open("a.charon")
    page.focus("[data-path='a.charon']")
    page.keyboard.press("F2")
    studio.answer("parts/b.charon")
    page.wait_for_selector("[data-path='parts/b.charon']")
    page.wait_for_selector(".file-tab.chosen:has-text('parts/b.charon')")
    assert studio.file("parts/b.charon").read_text() == PLAIN
    page.focus("[data-path='parts/b.charon']")
    page.keyboard.press("Delete")
    page.click("dialog button.danger")
    page.wait_for_selector("[data-path='parts/b.charon']", state="detached")
    assert not studio.file("parts/b.charon").exists()


def test_a_model_is_copied_from_the_library(studio: Studio) -> None:
    page = studio.page
    page.keyboard.press("Alt+n")
    page.check("input[value='library']")
    page.fill("dialog input[type=search]", "leaky pump marks")
    page.click("dialog .model:has-text('leaky_tank') input >> nth=0")
    page.click("dialog button.primary")
    page.wait_for_selector(".file-tab.chosen:has-text('leaky_tank')")
    studio.wait_for_runs(6)
    # What is called as one writes comes first; what a model imports comes with it.
    page.keyboard.press("Alt+n")
    page.check("input[value='library']")
    page.fill("dialog input[type=search]", "platoon")
    page.wait_for_selector("dialog .model b >> nth=0 >> text='platoon'")
    page.fill("dialog input[type=search]", "platoon_mild")
    page.click("dialog .model input >> nth=0")
    page.click("dialog button.primary")
    page.wait_for_selector("[data-path='platoon_paper.charon']")
    studio.wait_for_errors(0)


def test_what_is_not_saved_comes_back_with_a_new_page(open_studio: Open, project: Path) -> None:
    first = open_studio()
    first.open("a.charon")
    first.replace("one line", "not saved")
    kept = project / ".workbench" / "drafts"
    until(lambda: any("not saved" in f.read_text() for f in kept.rglob("*") if f.is_file()))
    first.page.goto("about:blank")
    second = open_studio()
    second.page.wait_for_selector(".cm-line:has-text('not saved')")
    second.page.wait_for_selector(".notice:has-text('restored')")
    assert (project / "a.charon").read_text() == PLAIN


HELD_SOCKET = """
  const Real = WebSocket;
  let release;
  const released = new Promise((done) => { release = done; });
  window.letItOpen = release;
  window.WebSocket = class extends Real {
    #open = false;
    get readyState() { return this.#open ? super.readyState : Real.CONNECTING; }
    set onopen(heard) {
      this.addEventListener('open', () => released.then(() => { this.#open = true; heard(); }));
    }
  };
"""


def test_what_is_asked_before_there_is_a_socket_is_answered(open_studio: Open) -> None:
    studio = open_studio()
    page = studio.page
    page.add_init_script(HELD_SOCKET)
    page.reload()
    page.wait_for_selector("[data-waiting='true']", state="attached")
    assert page.is_visible(".server.off")
    page.evaluate("letItOpen()")
    page.wait_for_selector("[data-waiting='false']", state="attached")
    studio.ready()


def test_the_server_is_killed_and_started_again(open_studio: Open, server: Server) -> None:
    studio = open_studio()
    page = studio.page
    studio.open("a.charon")
    port = server.port
    server.kill()
    page.wait_for_selector(".server.off")
    studio.replace("one line", "written meanwhile")
    page.keyboard.press("Control+s")
    page.wait_for_selector(".notice:has-text('The server does not answer')")
    server.start(port)
    page.wait_for_selector(".server.on:has-text('connected')")
    studio.replace("real x;", "real x; private analog rea y;")
    page.wait_for_selector(".cm-lintRange-error")
    studio.replace("analog rea y", "analog real y")
    studio.wait_for_errors(0)
    assert studio.text() == PLAIN.replace("one line", "written meanwhile").replace(
        "real x;", "real x; private analog real y;"
    )
    # The browser says itself that requests failed while there was no server.
    studio.complaints[:] = [c for c in studio.complaints if "ERR_CONNECTION" not in c]
