"""Texts while they are being written: what an editor wants to know of one.

>>> from workbench import Document
>>> document = Document("tank.charon", "mode Full() { inv { level = 1 } }")
>>> [(d.code, d.fix.text) for d in document.diagnostics]
[('single-equals', '==')]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from workbench.api.asked import one_text
from workbench.models.language.editor.project import Project, imports, project
from workbench.models.language.editor.text import Text, read_text

if TYPE_CHECKING:
    from workbench.api.model import Model
    from workbench.models.language import syntax
    from workbench.models.language.editor.colours import Colour
    from workbench.models.language.editor.completion import Suggestion
    from workbench.models.language.editor.fixes import Fix
    from workbench.models.language.editor.hover import Hover as Hover
    from workbench.models.language.editor.hover import Signature
    from workbench.models.language.editor.lenses import Asked
    from workbench.models.language.editor.lenses import Claim as Claim
    from workbench.models.language.editor.outline import Fold
    from workbench.models.language.editor.outline import OutlineItem as OutlineItem
    from workbench.models.language.editor.places import Place
    from workbench.models.language.editor.renaming import Reference
    from workbench.models.source import Diagnostic, Edit, Span

Others: TypeAlias = "Callable[[str], Document | None]"
"""How the document of another file is found by its name; None where there is none."""


class Document:
    """The text of one file, whole or broken, and what it imports. It never changes: `edited` gives
    the document with another text, and costs what the edit touches.

    Places are a line and a column, counted from 1, as in `Span`; regions and edits name the file
    that they are in. `others` finds the files that are imported; without it nothing is.
    """

    def __init__(self, name: str, text: str, others: Others | None = None):
        self.others = others
        self._text = read_text(one_text("name", name), one_text("text", text))

    @classmethod
    def _of(cls, text: Text, others: Others | None) -> Document:
        made = cls.__new__(cls)
        made.others, made._text = others, text
        return made

    def edited(self, text: str) -> Document:
        """The document with another text."""
        return Document._of(self._text.edited(text), self.others)

    def refreshed(self) -> Document:
        """The same text, to be looked at together with what it imports by now."""
        return Document._of(self._text, self.others)

    # What it is

    @property
    def name(self) -> str:
        """The name of the file."""
        return self._text.name

    @property
    def text(self) -> str:
        """The text."""
        return self._text.text

    @property
    def lines(self) -> list[str]:
        """Its lines, without their ends; what ends a line is a line feed."""
        return self._text.lines

    @property
    def source(self) -> syntax.SourceFile:
        """The syntax tree of what can be understood."""
        return self._text.source

    @property
    def imports(self) -> Mapping[str, Span]:
        """The files that it imports itself, by name, and where it says so."""
        return dict(imports(self._text))

    @cached_property
    def project(self) -> Project:
        """The text together with all that it imports, as they are when it is first asked."""
        return project(self._text, self._other)

    def _other(self, name: str) -> Text | None:
        found = self.others(name) if self.others is not None else None
        return found._text if found is not None else None

    @property
    def files(self) -> Mapping[str, str]:
        """The texts of the file and of all that it imports, by name."""
        return {text.name: text.text for text in self.project.texts}

    # What is wrong

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the syntax; quick. `check` looks at the meaning, too."""
        return self._text.diagnostics

    def check(self) -> tuple[Diagnostic, ...]:
        """Every error and warning of the model that the text describes, in all its files; takes as
        long as `workbench check`."""
        from workbench.models.language.checked import diagnose

        return diagnose(self.text, Path(self.name), {Path(n): t for n, t in self.files.items()})

    def fixes(self, findings: Iterable[Diagnostic]) -> tuple[Fix, ...]:
        """What can be done at once about findings of `diagnostics` or `check`."""
        from workbench.models.language.editor.fixes import fixes

        return tuple(fixes(self.text, findings))

    # What can be written

    def completions(self, place: Place) -> tuple[Suggestion, ...]:
        """What can be written at a place: words, signs, templates of blocks, and names."""
        from workbench.models.language.editor.completion import completions

        return completions(self.project, place)

    def expected(self, place: Place) -> tuple[Suggestion, ...]:
        """All that can come at a place, also behind the word that ends there, as a list beside the
        text shows it."""
        from workbench.models.language.editor.completion import expected

        return expected(self.project, place)

    def signature(self, place: Place) -> Signature | None:
        """The agent, mode or function whose arguments are being written at a place."""
        from workbench.models.language.editor.hover import signature

        return signature(self.project, place)

    # What a name is

    def hover(self, place: Place) -> Hover | None:
        """What is known of the name at a place."""
        from workbench.models.language.editor.hover import hover

        return hover(self.project, place)

    def definition(self, place: Place) -> tuple[Span, ...]:
        """Where the name at a place is introduced."""
        from workbench.models.language.editor.renaming import definition

        return definition(self.project, place)

    def references(self, place: Place, importers: Iterable[Document] = ()) -> tuple[Reference, ...]:
        """Everywhere that the name at a place is mentioned, also in those documents of
        `importers` that import the file which introduces it."""
        from workbench.models.language.editor.renaming import references

        return references(self.project, place, [d.project for d in importers])

    def renamable(self, place: Place) -> tuple[Span, str] | None:
        """The name at a place, if it could be given another one."""
        from workbench.models.language.editor.renaming import renamable

        return renamable(self.project, place)

    def renamed(
        self, place: Place, name: str, importers: Iterable[Document] = ()
    ) -> tuple[Edit, ...]:
        """The edits that give the name at a place another one, in all files; variables that are
        one because they share their name stay one. Raises ValueError where that cannot be."""
        from workbench.models.language.editor.renaming import renamed

        return renamed(self.project, place, name, [d.project for d in importers])

    # What it looks like

    def outline(self) -> tuple[OutlineItem, ...]:
        """Its definitions and their parts."""
        from workbench.models.language.editor.outline import outline

        return outline(self._text)

    def folds(self) -> tuple[Fold, ...]:
        """The lines that can be folded away."""
        from workbench.models.language.editor.outline import folds

        return folds(self._text)

    def colours(self, first_line: int = 1, last_line: int | None = None) -> list[Colour]:
        """What sort of thing each name is."""
        from workbench.models.language.editor.colours import colours

        return colours(self.project, first_line, last_line)

    def formatted(self) -> str:
        """The text in the one layout; raises ModelError for one with syntax errors."""
        from workbench.models.language.format import format_source

        return format_source(self.text, self.name)

    # What it can be asked about

    def asked(self) -> Asked:
        """The agents and claims of the text, which can be simulated and decided."""
        from workbench.models.language.editor.lenses import asked

        return asked(self._text)

    def model(self, agent: str | None = None) -> Model:
        """The model that the text describes, or one of its agents; raises ModelError."""
        from workbench.api.loading import opened
        from workbench.models.load import load_text

        texts = {Path(name): text for name, text in self.files.items()}
        return opened(
            lambda chosen, values: load_text(
                self.text, self.name, agent=chosen, parameters=values, texts=texts
            ),
            agent,
            None,
            {},
        )

    def __repr__(self) -> str:
        return f"<Document {self.name}: {self.text.count(chr(10)) + 1} lines>"
