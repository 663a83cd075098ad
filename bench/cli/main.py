"""`compactbench`: the sub-commands, and the one place where errors become texts and exit codes."""

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bench.cli.output import ERR, concealing, print_error, without_secrets
from bench.errors import CompactbenchError
from bench.secrets import Secrets

DEBUG_VARIABLE = "COMPACTBENCH_DEBUG"
EXIT_DEFECT = 1
EXIT_BROKEN_PIPE = 141  # what a shell reports of a program that SIGPIPE ended

# In the order `--help` prints them: a function with typer's annotations in a file of its own. Only the
# file of the command that was called is imported, which saves the others' libraries.
COMMANDS: dict[str, str] = {
    "run": "bench.cli.commands.run:run",
    "show": "bench.cli.commands.show:show",
    "compare": "bench.cli.commands.compare:compare",
    "report": "bench.cli.commands.report:report",
    "export": "bench.cli.commands.export:export",
    "validate": "bench.cli.commands.validate:validate",
    "plan": "bench.cli.commands.plan:plan",
    "list": "bench.cli.commands.list:list_what",
    "doctor": "bench.cli.commands.doctor:doctor",
    "clean": "bench.cli.commands.clean:clean",
}


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"compactbench {version('compactbench')}")
        raise typer.Exit


def compactbench(
    version_asked: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Replay one stream of table commits under different compaction policies: what each costs and buys.

    Begin with what is there, and check a scenario before it runs:

    * `compactbench list scenarios`

    * `compactbench validate quickstart`

    Exit codes: 0 done, 1 a run failed or a condition of `compare` is broken, 2 something you can correct,
    3 the machine lacks something.
    """


class _Group(TyperGroup):
    """Sees to it that errors of usage, which repeat words of the command line, repeat no secret."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _usage_errors_without_secrets():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        with _usage_errors_without_secrets():
            return super().invoke(ctx)


@contextmanager
def _usage_errors_without_secrets() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        # Typer prints them, and has had classes of its own for them since it no longer needs click.
        if isinstance(message := getattr(error, "message", None), str):
            error.message = without_secrets(message)  # type: ignore[attr-defined]
        raise


def command_line(argv: Sequence[str]) -> typer.Typer:
    """The application with the command that `argv` calls, or with all where it calls none."""
    app = typer.Typer(
        name="compactbench",
        cls=_Group,
        no_args_is_help=True,
        pretty_exceptions_enable=False,  # `main` prints them
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(compactbench)
    for name in argv[:1] if argv[:1] and argv[0] in COMMANDS else COMMANDS:
        module, _, function = COMMANDS[name].partition(":")
        app.command(name)(getattr(import_module(module), function))
    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        with concealing(Secrets.of_arguments(words)):
            code = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away, as in `| head`. Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    return code


def _run(words: list[str]) -> int:
    try:
        command_line(words)(args=words, prog_name="compactbench")
    except SystemExit as done:  # typer ends every command with it
        return done.code if isinstance(done.code, int) else 0
    except CompactbenchError as error:
        print_error(str(error))
        return error.exit_code
    except BrokenPipeError:
        raise
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE) == "1":
            ERR.print(without_secrets(traceback.format_exc()), markup=False, highlight=False, soft_wrap=True)
            return EXIT_DEFECT
        print_error(
            f"{type(error).__name__}: {error}. This is a defect in compactbench; "
            f"{DEBUG_VARIABLE}=1 shows where it happened"
        )
        return EXIT_DEFECT
    return 0
