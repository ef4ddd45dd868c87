"""A language server for each file of tests, spoken to by a client of pytest-lsp."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

for folder in (Path(__file__).resolve().parent, Path(__file__).resolve().parents[1] / "support"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from session import Editor  # noqa: E402

COMMAND = [sys.executable, "-m", "workbench", "lsp"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("folder")


@pytest_lsp.fixture(config=ClientServerConfig(server_command=COMMAND), scope="module")
async def client(lsp_client: LanguageClient, folder: Path) -> AsyncIterator[None]:
    await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities("visual-studio-code"),
            workspace_folders=[types.WorkspaceFolder(folder.as_uri(), "folder")],
        )
    )
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def editor(client: LanguageClient, folder: Path) -> Editor:
    return Editor(client, folder)
