"""Imports: several files make one model, and none comes from outside the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.models.language import project
from workbench.models.language.project import read_project
from workbench.models.load import load
from workbench.models.source import ModelError

MODE = "mode Go() { write analog real x; diff { d(x) == 1; } }\n"
MAIN = "agent Main() { write analog real x = 0; mode top = Go(); }\n"


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.charon"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "main.charon"


def refused(path: Path) -> ModelError:
    with pytest.raises(ModelError) as caught:
        load(path)
    return caught.value


def test_definitions_come_from_imported_files(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        main='import "parts/go.charon";\n' + MAIN,
        parts__go='import "k.charon";' + MODE,
        parts__k="const real k = 1;",
    )
    model = load(path)
    assert model.automaton.variables[0].name == "x"
    assert {Path(name).name for name in model.sources} == {"main.charon", "go.charon", "k.charon"}


@pytest.mark.parametrize(
    ("a", "b", "way"),
    [
        ('import "main.charon";', "", "main.charon -> a.charon -> main.charon"),
        ('import "b.charon";', 'import "main.charon";', "main.charon -> a.charon -> b.charon"),
        ('import "b.charon";', 'import "a.charon";', "a.charon -> b.charon -> a.charon"),
        ('import "a.charon";', "", "a.charon"),
    ],
)
def test_a_circle_of_imports_is_refused(tmp_path: Path, a: str, b: str, way: str) -> None:
    path = write(tmp_path, main='import "a.charon";' + MAIN, a=a + MODE, b=b)
    with pytest.raises(ModelError) as refused:
        load(path)
    (found,) = refused.value.diagnostics
    assert found.code == "cyclic-import" and found.span is not None
    assert all(name in found.message for name in way.replace("`", "").split(" -> "))


def test_a_file_imported_by_two_others_is_read_once(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        main='import "a.charon"; import "b.charon";' + MAIN,
        a='import "b.charon";' + MODE,
        b="",
    )
    assert len(read_project(path).files) == 3
    load(path)


def test_only_the_first_files_system_counts(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        main='import "other.charon"; system Main();' + MAIN,
        other="system Other();"
        + MODE
        + "agent Other() { private analog real x; mode top = Go(); }",
    )
    assert load(path).agent.definition == "Main"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "written",
    [
        "../outside.charon",
        "/etc/passwd",
        "sub/../../outside.charon",
        "C:\\outside.charon",
        "\\\\server\\outside.charon",
        "sub\\..\\..\\outside.charon",
    ],
)
def test_nothing_outside_the_folder_is_read(
    tmp_path: Path, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "inside"
    (inside / "sub").mkdir(parents=True)
    (tmp_path / "outside.charon").write_text(MODE)
    path = write(inside, main=f'import "{written}";' + MAIN)
    read: list[Path] = []
    original = project.read_text

    def watched(path: Path, name: str, most: int = project.MAX_BYTES) -> str:
        read.append(path)
        return original(path, name, most)

    monkeypatch.setattr(project, "read_text", watched)
    assert [d.code for d in refused(path).diagnostics] == ["import-outside"]
    assert read == [path]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "outside.charon").write_text(MODE)
    (inside / "link.charon").symlink_to(tmp_path / "outside.charon")
    path = write(inside, main='import "link.charon";' + MAIN)
    assert [d.code for d in refused(path).diagnostics] == ["import-outside"]


def test_a_link_inside_the_folder_is_followed_once(tmp_path: Path) -> None:
    path = write(tmp_path, main='import "go.charon"; import "again.charon";' + MAIN, go=MODE)
    (tmp_path / "again.charon").symlink_to(tmp_path / "go.charon")
    load(path)


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("missing.charon", "file-not-found"),
        ("go.txt", "bad-import"),
        ("", "bad-import"),
        (".", "bad-import"),
        ("sub", "bad-import"),
    ],
)
def test_imports_that_are_no_model_files(tmp_path: Path, written: str, code: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "go.txt").write_text(MODE)
    path = write(tmp_path, main=f'import "{written}";' + MODE + MAIN)
    (found,) = refused(path).diagnostics
    assert found.code == code
    assert found.span is not None


def test_a_missing_import_suggests_a_neighbour(tmp_path: Path) -> None:
    path = write(tmp_path, main='import "goo.charon";' + MAIN, go=MODE)
    assert "go.charon" in (refused(path).diagnostics[0].hint or "")


def test_mistakes_in_several_files_are_reported_together(tmp_path: Path) -> None:
    path = write(tmp_path, main='import "go.charon"; agent Main( { }', go="mode Go() { diff { ")
    error = refused(path)
    assert {Path(d.span.file).name for d in error.diagnostics if d.span} == {
        "main.charon",
        "go.charon",
    }
    assert "|" in error.render()  # the source line is shown


def test_duplicate_definitions_name_the_other_file(tmp_path: Path) -> None:
    path = write(tmp_path, main='import "go.charon";' + MODE + MAIN, go=MODE)
    (found,) = refused(path).diagnostics
    assert found.code == "duplicate-name"
    assert "main.charon:1" in found.message


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    count = project.MAX_FILES + 20
    files = {f"f{k}": f'import "f{k + 1}.charon";' for k in range(count)}
    path = write(tmp_path, main='import "f0.charon";' + MODE + MAIN, **files, **{f"f{count}": ""})
    assert "too-many-files" in [d.code for d in refused(path).diagnostics]


def test_too_large_a_project_is_refused(tmp_path: Path) -> None:
    half = "// " + "x" * (project.MAX_BYTES // 2) + "\n"
    path = write(tmp_path, main='import "a.charon";' + half + MODE + MAIN, a=half)
    assert "file-too-large" in [d.code for d in refused(path).diagnostics]
