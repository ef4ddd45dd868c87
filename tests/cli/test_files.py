"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest

from workbench.cli.files import write_whole


def test_a_failed_write_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    path.write_text("old")

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(click.UsageError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_survive_and_links_are_followed(tmp_path: Path) -> None:
    path, link = tmp_path / "f", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_whole(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_ordinary_permissions(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_whole(tmp_path / "f", "x")
    finally:
        os.umask(mask)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o640


def test_a_device_is_written_directly() -> None:
    write_whole(Path(os.devnull), "text")
    assert not Path(os.devnull).is_file()


def test_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(click.UsageError, match="directory"):
        write_whole(tmp_path, "x")
