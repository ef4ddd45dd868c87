"""What was found out about models, kept in the project by what it depends on.

A result is known by its question: the texts of the model with all that it imports, the claim,
the values of parameters, the options, and the version of the workbench. The same question has the
same answer, also after the server was ended; another text makes what was found about the former
one stale, and coming back to it makes it good again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import workbench
from workbench.api.saving import save
from workbench.api.texts import with_imports
from workbench.server.folder import EVIDENCE_FOLDER, RESULTS, Folder

MAX_RESULTS = 500
"""So many results are kept; the oldest are dropped with their evidence."""

EVIDENCE = (".certificate.json", ".trace.json")


@dataclass(frozen=True)
class Question:
    """What is asked of a model: `kind` is what is done, `digest` stands for the texts."""

    kind: str
    model: str
    digest: str
    claim: str = ""
    agent: str | None = None
    parameters: Mapping[str, float | str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    version: str = workbench.__version__

    @property
    def key(self) -> str:
        """What the question is known by; under which name the model stands does not matter."""
        parts = {name: value for name, value in asdict(self).items() if name != "model"}
        return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Result:
    """An answer, and when it was found (seconds of the clock)."""

    question: Question
    answer: Mapping[str, Any]
    found: float


def digest(folder: Folder, model: str, text: str | None = None) -> str:
    """The fingerprint of a model's text, the file's or the given one, and of all it imports."""
    first = folder.locate(model)
    hashed = sha256()
    for path in with_imports([first], {} if text is None else {first: text}):
        resolved = path.resolve()
        if not resolved.is_relative_to(folder.root):
            continue  # it will be refused
        name = str(resolved.relative_to(folder.root)) if path != first else ""
        if path == first and text is not None:
            data = text.encode("utf-8", errors="replace")
        else:
            data = resolved.read_bytes() if resolved.is_file() else b"\0"
        hashed.update(f"{name}\0{len(data)}\0".encode() + data)
    return hashed.hexdigest()[:32]


class Results:
    """The results of a project. `confirmed` are the keys of those whose evidence was found or
    looked at in this session: files may have been changed between sessions."""

    def __init__(self, folder: Folder):
        self._folder = folder
        self.confirmed: set[str] = set()
        self._results: dict[str, Result] = {}
        for place in self._home.glob("*.result.json"):
            found = _read(place)
            if found is not None:
                self._results[found.question.key] = found

    @property
    def _home(self) -> Path:
        return self._folder.own(RESULTS, "any").parent

    def evidence(self, question: Question) -> str:
        """Where the evidence of an answer is written, as a path in the project without ending."""
        return f"{EVIDENCE_FOLDER}/{question.key}"

    def find(self, question: Question) -> Result | None:
        """The answer to a question, if its evidence is still there."""
        found = self._results.get(question.key)
        if found is None:
            return None
        wanted = (found.answer.get(name) for name in ("certificate", "trace", "path"))
        return found if all(self._is_there(path) for path in wanted if path) else None

    def _is_there(self, path: str) -> bool:
        return (self._folder.root / path).is_file()

    def keep(self, result: Result) -> None:
        """Keep an answer."""
        key = result.question.key
        self._results[key] = result
        self.confirmed.add(key)
        data = {**asdict(result.question), "answer": result.answer, "found": result.found}
        save(self._home / f"{key}.result.json", json.dumps(data))
        oldest = sorted(self._results.values(), key=lambda one: one.found)
        for one in oldest[: max(0, len(oldest) - MAX_RESULTS)]:
            self.drop(one.question.key)

    def drop(self, key: str) -> None:
        """Forget an answer and its evidence."""
        self._results.pop(key, None)
        self.confirmed.discard(key)
        for ending in (".result.json", *EVIDENCE):
            (self._home / f"{key}{ending}").unlink(missing_ok=True)

    def all(self) -> list[Result]:
        """Every result, the oldest first."""
        return sorted(self._results.values(), key=lambda one: one.found)


def _read(place: Path) -> Result | None:
    """A kept result; None where it is damaged."""
    try:
        data = json.loads(place.read_text("utf-8"))
        answer, found = data.pop("answer"), float(data.pop("found"))
        return Result(Question(**data), answer, found)
    except (OSError, ValueError, KeyError, TypeError):
        return None
