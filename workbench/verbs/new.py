"""`workbench new`: a commented project to start from."""

from __future__ import annotations

import re
from pathlib import Path

import click

from workbench.cli.arguments import output_options
from workbench.cli.console import Console
from workbench.cli.files import write_whole
from workbench.cli.project import FILE_NAME

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,60}", re.ASCII)

_MODEL = """\
// A room with a heater: a controller that switches while physics runs on.
// `workbench show {name}.charon` draws it; docs/language.md explains the language.

// Numbers that a user may change: -P outside=10, or parameters in workbench.toml.
const real outside = 5;

// While the heater is on, the room warms; it must be off at 22 degrees.
mode Heating() {{
  write analog real temp;
  diff {{ d(temp) == 6 - (temp - outside)/5; }}
  inv {{ temp <= 22 }}
}}

// While it is off, the room cools; it must be on at 18 degrees.
mode Cooling() {{
  write analog real temp;
  diff {{ d(temp) == -(temp - outside)/5; }}
  inv {{ temp >= 18 }}
}}

// A transition may be taken where its guard holds, and must be before the invariant ends.
mode Control() {{
  write analog real temp;
  mode on = Heating();
  mode off = Cooling();
  trans from init to on;
  trans #enough from on to off when temp >= 21;
  trans #cold from off to on when temp <= 19;
}}

// The system: its variables, where they start, and what is claimed of every reachable state.
agent Room() {{
  private analog real temp;
  init {{ temp in [18, 20]; }}
  mode top = Control();
  assert "comfortable" {{ temp >= 18 && temp <= 22 }}
}}
"""

_PROJECT = """\
# `workbench verify` decides the models below and prints a table; it succeeds if every property
# comes out as expected. `workbench report` writes a page for each, `workbench check` only reads
# them. --watch does it again whenever a file changes.

[verify]                      # options of `workbench verify`, for all models
time-limit = 60               # seconds for each property

[report]                      # options of `workbench report`
output = "reports"
runs = 24

[[model]]
path = "{name}.charon"

[[model]]                     # the same room in a colder place: the heater still copes
path = "{name}.charon"
parameters = {{ outside = -5 }}

[[model]]                     # a model of the library, to see how a violation looks
path = "thermostat_timer_cold"
expect = "falsified"          # verified, if left out; or by name: {{ "warm enough" = "falsified" }}
# properties = ["warm enough"]
# method = "simulation"
# horizon = 20
"""

_IGNORED = "reports/\n"


@click.command("new")
@click.argument("name")
@output_options
@click.pass_obj
def command(console: Console, name: str) -> None:
    """Make a commented project to start from.

    The folder NAME gets a model and a project file, workbench.toml; there `workbench verify`
    decides all that the file names.

    \b
    Example:
      workbench new thermostat
    """
    folder = Path(name)
    if not _NAME.fullmatch(folder.name):
        raise click.UsageError(
            f"{name[:80]!r} is not a name of letters, digits, _ and -, beginning with a letter"
        )
    if folder.exists():
        raise click.UsageError(f"{str(folder)!r} is there already; choose another name")
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.UsageError(f"cannot make the folder {str(folder)!r}: {reason}") from error
    files = {
        folder / f"{folder.name}.charon": _MODEL,
        folder / FILE_NAME: _PROJECT,
        folder / ".gitignore": _IGNORED,
    }
    for path, text in files.items():
        write_whole(path, text.format(name=folder.name))
    if console.as_json:
        console.data(folder=str(folder), files=[str(path) for path in files])
    else:
        console.result(f"made {folder}; next: cd {folder} && workbench verify")
