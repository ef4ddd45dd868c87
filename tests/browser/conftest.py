"""Reports to open in a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.report_models import report_settings
from workbench.models.model import Model
from workbench.reports.analysis import analyse
from workbench.reports.data.report import report_data
from workbench.reports.pages.report import diagram, render


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Writes the report of a model once; returns its file."""
    folder = tmp_path_factory.mktemp("reports")
    made: dict[str, Path] = {}

    def write(key: str, model: Callable[[], Model], **options: Any) -> Path:
        if key not in made:
            loaded = model()
            settings = report_settings(**{"runs": 12, "time_limit": 600.0} | options)
            found = analyse(loaded, key, loaded.automaton.properties, settings, command="workbench")
            texts = {name: checked.text for name, checked in found.certificates.items()}
            made[key] = folder / f"{key}.html"
            made[key].write_text(
                render(
                    report_data(found), diagram(found), texts, found.documents, found.recordings
                ),
                "utf-8",
            )
        return made[key]

    return write
