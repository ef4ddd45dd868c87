"""What can be done to a diagram, as values: the closed set of visual edits.

`path` is the level an edit is made on, a way of names as in `Diagram.path`; for the edits of what
a mode or agent says, it leads to that mode or agent. Nodes and edges go by their identities
(`mode:cruise`, `optimal->previous#close`), the ends of a transition by what is written in one:
`cruise`, `untrusted.fail`, `init`. Texts are in the language.

A definition that several parts are examples of is edited once, for all of them.
"""

from __future__ import annotations

from typing import TypeAlias

from workbench.models.record import record

Path: TypeAlias = tuple[str, ...]


@record
class AddAgent:
    """A new agent: in the file (no path) its definition; in an agent a part, of `definition`
    (with `arguments`, `1, 2`), which is made where there is none of that name."""

    path: Path
    name: str
    definition: str = ""
    arguments: str = ""


@record
class AddMode:
    """A new mode: in the file its definition; in an agent its top mode, in a mode a submode, of
    `definition`, which is made where there is none of that name."""

    path: Path
    name: str
    definition: str = ""
    arguments: str = ""


@record
class AddVariable:
    """A new variable; `initial` is `= 1` or `in [0, 1]`."""

    path: Path
    name: str
    access: str = "private"
    type: str = "real"
    kind: str = ""
    initial: str = ""


@record
class AddEntry:
    """A new entry point of a mode."""

    path: Path
    name: str


@record
class AddExit:
    """A new exit point of a mode."""

    path: Path
    name: str


@record
class Connect:
    """A new transition."""

    path: Path
    source: str
    target: str
    label: str = ""
    guard: str = ""
    reset: str = ""
    urgent: bool = False


@record
class Reconnect:
    """Another source or target for a transition; what is empty stays."""

    path: Path
    edge: str
    source: str = ""
    target: str = ""


@record
class Disconnect:
    """An edge less: a transition, or the renaming by which a part shares a variable."""

    path: Path
    edge: str


@record
class Share:
    """The variable `own` of a part is the variable `variable` around it. Where the part's
    definition has none of that name, `access` (`read`, `write`) declares it there."""

    path: Path
    part: str
    own: str
    variable: str
    access: str = ""


@record
class Rename:
    """Another name for a node, everywhere."""

    path: Path
    node: str
    name: str


@record
class Delete:
    """A node less; with a submode go the transitions to and from it. `definition` deletes what it
    is one of as well, unless that is used elsewhere."""

    path: Path
    node: str
    definition: bool = False


@record
class SetLabel:
    """The name of a transition, or none."""

    path: Path
    edge: str
    label: str


@record
class SetGuard:
    """The guard of a transition, or none."""

    path: Path
    edge: str
    text: str


@record
class SetReset:
    """What a transition assigns: statements with semicolons between them, or none."""

    path: Path
    edge: str
    text: str


@record
class SetUrgent:
    """Whether a transition must be taken at once."""

    path: Path
    edge: str
    urgent: bool


@record
class SetArguments:
    """The values of a part's parameters: `1/8, 3/4`."""

    path: Path
    node: str
    text: str


@record
class SetInvariant:
    """All conditions of a mode's `inv`, with semicolons between them."""

    path: Path
    text: str


@record
class SetFlow:
    """All lines of a mode's `diff`: `d(x) == v; d(v) in [-1, 1]`."""

    path: Path
    text: str


@record
class SetEquation:
    """All lines of a mode's `alge`: `y == 2*x`."""

    path: Path
    text: str


@record
class SetInit:
    """All lines of an agent's `init`: `x = 1; y in [0, 2]; where x + y <= 2`."""

    path: Path
    text: str


VisualEdit: TypeAlias = (
    AddAgent
    | AddMode
    | AddVariable
    | AddEntry
    | AddExit
    | Connect
    | Reconnect
    | Disconnect
    | Share
    | Rename
    | Delete
    | SetLabel
    | SetGuard
    | SetReset
    | SetUrgent
    | SetArguments
    | SetInvariant
    | SetFlow
    | SetEquation
    | SetInit
)

KINDS: dict[str, type[VisualEdit]] = {
    kind.__name__: kind
    for kind in (
        AddAgent,
        AddMode,
        AddVariable,
        AddEntry,
        AddExit,
        Connect,
        Reconnect,
        Disconnect,
        Share,
        Rename,
        Delete,
        SetLabel,
        SetGuard,
        SetReset,
        SetUrgent,
        SetArguments,
        SetInvariant,
        SetFlow,
        SetEquation,
        SetInit,
    )
}
"""The visual edits by name."""
