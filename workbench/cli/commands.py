"""The verbs of the command `workbench`: the table of them, and the group that finds one.

Nothing heavy is imported here: `workbench --help` must answer at once.
"""

from __future__ import annotations

from importlib import import_module

import click

from workbench.cli.console import Console

VERBS: dict[str, tuple[str, str]] = {
    "new": ("workbench.verbs.new", "Make a commented project to start from."),
    "models": ("workbench.verbs.models", "List the models that come with the workbench."),
    "check": ("workbench.verbs.check", "Parse, type-check and examine models."),
    "show": ("workbench.verbs.show", "Show agents, modes and variables; --svg draws them."),
    "simulate": (
        "workbench.verbs.simulate",
        "Run a model: every event is found, none is overshot.",
    ),
    "verify": ("workbench.verbs.verify", "Prove or refute the properties of models."),
    "recheck": (
        "workbench.verbs.recheck",
        "Check a certificate against a model, in exact arithmetic.",
    ),
    "export-proof": (
        "workbench.verbs.export_proof",
        "Write a certificate as a proof that Coq checks.",
    ),
    "exact": (
        "workbench.verbs.exact",
        "Print an exact formula for the states that reach a target.",
    ),
    "falsify": ("workbench.verbs.falsify", "Search for a run that violates a property."),
    "refine": ("workbench.verbs.refine", "Show that a detailed system refines a simple one."),
    "abstract": ("workbench.verbs.abstract", "Make a simpler system that a model refines."),
    "report": (
        "workbench.verbs.report",
        "Verify, simulate, cross-check; write HTML reports.",
    ),
    "serve": ("workbench.verbs.serve", "Open a project folder in the browser."),
    "lsp": ("workbench.verbs.lsp", "Serve an editor over the Language Server Protocol."),
    "fmt": ("workbench.verbs.fmt", "Format model files, keeping comments."),
    "import": ("workbench.verbs.import_model", "Turn a SpaceEx model into .charon or JSON."),
    "export": ("workbench.verbs.export_model", "Write a model as SpaceEx XML or JSON."),
    "completion": (
        "workbench.verbs.completion",
        "Print a script that lets a shell complete commands.",
    ),
}
"""Every verb with the module that defines it as `command`, and what it does."""

PROGRAM, VARIABLE = "workbench", "_WORKBENCH_COMPLETE"
"""What shells complete, and the variable by which they ask for it."""


class LazyGroup(click.Group):
    """A group of commands whose modules are imported only when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order of a day's work."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a verb, imported now."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(VERBS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs in `--help`, from the table alone."""
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, summary) for verb, (_, summary) in VERBS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; suggest the nearest one for a misspelt word."""
        verb = args[0]
        if verb not in VERBS and not verb.startswith("-"):
            ctx.fail(_unknown_verb(verb))
        console = ctx.find_object(Console)
        if console is not None:
            console.verb = verb
        return super().resolve_command(ctx, args)


def _unknown_verb(verb: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(verb[:40], VERBS, n=1, cutoff=0.5)
    advice = f"did you mean {near[0]!r}?" if near else f"the verbs are {', '.join(VERBS)}."
    return f"there is no verb {verb[:40]!r}; {advice}"


def _print_version(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from workbench import __version__

        click.echo(f"workbench {__version__}")
        context.exit()


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    subcommand_metavar="VERB [ARGS]...",
    epilog="A MODEL is a file (.charon, or .xml with its .cfg beside it) or the name of a "
    "library model; MODEL:AGENT picks one agent of it. `workbench VERB --help` says more.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version and exit.",
)
def group() -> None:
    """Model hybrid systems in CHARON; simulate, verify, falsify, refine and report on them."""
