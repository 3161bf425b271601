"""The command line: every page's job as a command. `--json` prints one object and nothing else, whatever happens."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from stethoscope.cli.printed import begin, json_asked, print_failure
from stethoscope.errors import BadSetting

_COMMANDS = {
    "serve": "commands.serve",
    "describe": "commands.describe",
    "predict": "outputs",
    "activations": "outputs",
    "sweep": "peak_memory",
    "endurance": "peak_memory",
    "placement": "placement",
    "curves": "curves",
    "data": "data_study",
    "versions": "data_changes",
    "convert": "convert",
    "compare": "side_by_side",
    "latency": "side_by_side",
    "drift": "data_changes",
    "explain": "explain",
    "consistency": "commands.consistency",
    "check": "commands.check",
    "plan": "commands.plan",
    "doctor": "commands.doctor",
}
"""The module of each: only that of the command that is asked for is imported."""
_WITHOUT_CODE = {"serve", "curves", "versions", "explain", "doctor"}
"""Commands that run no model."""


class Commands(TyperGroup):
    """The commands, each imported when it is asked for; with `--json`, what cannot be understood is an answer too."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Every command, in the order of the help."""
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name; None for none."""
        if cmd_name not in _COMMANDS:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = _command(cmd_name)
        return self.commands[cmd_name]

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        """Runs a command line; see `TyperGroup.main`."""
        words = list(sys.argv[1:] if args is None else args)
        begin(as_json="--json" in words)
        try:
            if not json_asked.get() or options.get("standalone_mode") is False:
                return super().main(words, *rest, **options)
            return self._as_json(words, *rest, **options)
        finally:
            json_asked.set(False)

    def _as_json(self, words: list[str], *rest: Any, **options: Any) -> NoReturn:
        try:
            ended = super().main(words, *rest, **options | {"standalone_mode": False})
        except typer.TyperException as error:
            said = error.format_message()
            print_failure(BadSetting(said))
            sys.stderr.write(f"{said}\n")
            sys.exit(error.exit_code)
        sys.exit(ended if isinstance(ended, int) else 0)


def _command(name: str) -> TyperCommand:
    from stethoscope.cli.own_code import takes_code

    module = importlib.import_module(f"stethoscope.cli.{_COMMANDS[name]}")
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    run = getattr(module, name)
    kind = getattr(module, "COMMAND", TyperCommand)
    alone.command(name, cls=kind)(run if name in _WITHOUT_CODE else takes_code(run))
    made: TyperCommand = typer.main.get_command(alone)  # type: ignore[assignment]
    return made


app = typer.Typer(
    name="stethoscope",
    cls=Commands,
    help="Find out what is wrong with a TensorFlow model, why, and what fixes it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        sys.stdout.write(f"stethoscope {version('stethoscope')}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


def main() -> NoReturn:
    """Entry point of the `stethoscope` command."""
    app()
    raise SystemExit(0)


if __name__ == "__main__":
    main()
