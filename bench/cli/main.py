"""`compactbench`: the sub-commands, and how errors become messages and exit codes."""

import errno
import io
import logging
import os
import sys
import traceback
from collections.abc import Callable, Container, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from bench.cli.output import (
    ERR,
    EXIT_BROKEN_PIPE,
    EXIT_INTERRUPTED,
    concealing,
    print_error,
    print_warning,
    printable,
)
from bench.errors import CompactbenchError, MissingRuntimeError, ScenarioError
from bench.scenario.values import is_utf8
from bench.secrets import Secrets

DEBUG_VARIABLE = "COMPACTBENCH_DEBUG"
COMPLETION_VARIABLE = "_COMPACTBENCH_COMPLETE"  # typer's: a shell asks how the word being typed may go on
EXIT_BUG = 1
_SHOWN_BY_PS = (
    "the command line contains a secret, which `ps` shows to every user of this machine: write env:NAME "
    "instead, with the name of an environment variable"
)
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REFUSED_PATHS = (errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES)

# In the order of `--help`, each with the first paragraph of its help, so that only the module of the called
# command has to be imported: the one of its name in `bench.cli.commands`, which has a function of that name.
COMMANDS: dict[str, str] = {
    "run": "Replay a scenario's stream into a table under each of its strategies; measure cost and effect.",
    "show": "Show the figures: one row per scenario, workload, mode and strategy, with means over its runs.",
    "compare": "Compare strategies with a baseline, or new results with old ones.",
    "report": "Write a report: one self-contained HTML page, the same text in Markdown, charts and tables.",
    "import": "Make a scenario of one of your tables: its commits, to be simulated under any compaction "
    "policy.",
    "init": "Write your first scenario: a few questions, each with an answer to accept.",
    "export": "Export results as tidy tables: runs, metrics, commits, queries, compactions, decisions "
    "and more.",
    "validate": "Check scenarios without running them, and list what each would run.",
    "validate-model": "Simulate the scenarios of real runs again, and show how far the simulation is off.",
    "calibrate": "Fit the cost model of a format to this machine, or to results that you already have.",
    "sweep": "Simulate every combination of some settings, and show the best trade-offs of cost and latency.",
    "recommend": "Say which strategy to run: the cheapest one that keeps your limits, and how sure that is.",
    "hindsight": "Show how much more each strategy costs than the best schedule, found in hindsight.",
    "tune": "Choose the settings of strategies by simulation, on some seeds, and score them on others.",
    "plan": "Preview what a strategy would do to one of your tables now: files, bytes, result and rough "
    "cost.",
    "list": "List what a scenario can refer to by name, or explain one entry with its options.",
    "schema": "Print the JSON schema of scenarios: editors complete, explain and check the keys of a "
    "file with it.",
    "doctor": "Check Python, Java, jars, memory and disk, and measure how noisy this machine is right now.",
    "clean": "Remove tables that interrupted runs left behind or `--keep-tables` kept. Results are never "
    "removed.",
}
_OTHER_NAMES = {"import": "import_table", "list": "list_what"}  # of commands that Python uses the name of


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"compactbench {version('compactbench')}")
        raise typer.Exit


def compactbench(
    version_requested: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Replay one stream of table commits under different compaction strategies, and compare cost and benefit.

    Start with a simulation, in seconds and without Java; then run the same on real tables, in minutes:

    * `compactbench run quickstart --simulate --out results/simulated`

    * `compactbench run quickstart`

    * `compactbench show`

    * `compactbench report`

    A scenario of your own: `compactbench import` reads the history of a table, and `compactbench init` asks
    about a stream; `compactbench list scenarios` has more. `compactbench COMMAND --help` explains a command.
    `--install-completion` installs completion for your shell.

    Exit codes: 0 success, 1 a run failed or a limit of `compare --fail-if` is broken, 2 an error you can
    correct, 3 this machine lacks something, 4 a limit of `compare --fail-if` is inconclusive.
    """


class _Command(TyperCommand):
    """A command whose help shows no types of flags and arguments.

    It refuses an empty value, which usually comes from an unset shell variable and would mean the current
    folder, and an option that is not UTF-8, which result files cannot store.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        raw_values, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        rest = super().parse_args(ctx, args)
        for param in () if ctx.resilient_parsing else self.get_params(ctx):
            raw = raw_values.get(param.name)
            texts = [
                text for text in (raw if isinstance(raw, list | tuple) else [raw]) if isinstance(text, str)
            ]
            if not all(text.strip() for text in texts):
                raise typer.BadParameter(
                    "it is empty; give it a value, or leave it out", ctx=ctx, param=param
                )
            if param.param_type_name == "option" and not all(map(is_utf8, texts)):
                raise typer.BadParameter("it is not UTF-8", ctx=ctx, param=param)
        return rest

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))


def _without_types(params: list[Any]) -> list[Any]:
    for param in params:
        if param.param_type_name == "argument":
            param.display_type_rich = lambda ctx: None
        elif getattr(param, "is_flag", False):
            param.metavar = ""
    return params


def command_line(argv: Sequence[str]) -> typer.Typer:
    """The application. Only the command that `argv` calls is whole; of the others it has name and summary."""
    called = next((word for word in argv if not word.startswith("-")), None)
    return _application(whole={called})


def whole_command_line() -> typer.Typer:
    """The application with all commands, for reference pages."""
    return _application(whole=COMMANDS)


def _application(whole: Container[str | None]) -> typer.Typer:
    app = typer.Typer(
        name="compactbench",
        cls=_Group,
        no_args_is_help=True,
        pretty_exceptions_enable=False,  # `main` prints them
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(compactbench)
    for name, summary in COMMANDS.items():
        if name in whole:
            app.command(name, cls=_Command)(_function(name))
        else:
            app.command(name, cls=_Command, help=summary)(_not_loaded)
    return app


def _function(command: str) -> Callable[..., None]:
    name = _OTHER_NAMES.get(command, command.replace("-", "_"))
    function: Callable[..., None] = getattr(import_module(f"bench.cli.commands.{name}"), name)
    return function


def _not_loaded() -> None:
    """Stands for a command that is not called."""


def _words_to_complete() -> list[str]:
    """The words after the program's name on the line that a shell completes; none if no shell asks."""
    if COMPLETION_VARIABLE not in os.environ:
        return []
    return (os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")).split()[1:]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line, by default that of the process, and return its exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    sys.stdout = sys.stdout or _nowhere()  # closed by `>&-`
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # the locale may lack characters
    if not _is_debugging():
        # Without a handler Python prints warnings of libraries, and PyIceberg's may contain secrets.
        logging.basicConfig(handlers=[logging.NullHandler()])
    secrets = Secrets.of_arguments(words)
    try:
        with concealing(secrets):
            if secrets.literals:
                print_warning(_SHOWN_BY_PS)
            code = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe, as `| head` does. Python would fail again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    return code


def _is_debugging() -> bool:
    return os.environ.get(DEBUG_VARIABLE) == "1"


def _nowhere() -> TextIO:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _run(words: list[str]) -> int:
    stdout = sys.stdout
    try:
        app = command_line(_words_to_complete() or words)
        code = app(args=words, prog_name="compactbench", standalone_mode=False)
    except SystemExit as done:
        if sys.stdout is not stdout:  # typer replaces it when its reader has gone, and exits with 1
            raise BrokenPipeError from done
        return done.code if isinstance(done.code, int) else 0
    except CompactbenchError as error:
        print_error(error)
        return error.exit_code
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        print_warning("stopped")
        return EXIT_INTERRUPTED
    except Exception as error:
        if COMPLETION_VARIABLE in os.environ and not _is_debugging():
            return EXIT_BUG  # a message would break up the line that is being typed
        return _usage_error(error) or _system_error(error) or _bug(error)
    return code if isinstance(code, int) else 0


def _usage_error(error: Exception) -> int | None:
    """Print an error of the command line and return its exit code; None for any other error.

    Recognised by its attributes: typer's error classes differ between versions, with and without click.
    """
    exit_code, format_message = (getattr(error, name, None) for name in ("exit_code", "format_message"))
    if not isinstance(exit_code, int) or format_message is None:
        return None
    if type(error).__name__ == "NoArgsIsHelpError":  # the help has been printed
        return exit_code
    context = getattr(error, "ctx", None)
    message = " ".join(format_message().split()).rstrip(".")
    hint = f"; {context.command_path} --help explains the command" if context else ""
    print_error(f"{message[:1].lower()}{message[1:]}{hint}")
    return exit_code


def _system_error(error: Exception) -> int | None:
    """Print that the system refuses a path, or that the disk is full; None for any other error."""
    if not isinstance(error, OSError):
        return None
    if isinstance(error, FileNotFoundError) and error.filename is None:  # of os.getcwd
        print_error("the working folder has been removed: change to another one")
        return ScenarioError.exit_code
    if error.errno in _REFUSED_PATHS and error.filename is not None:
        print_error(f"{error.filename}: cannot be used ({error.strerror}); name another path")
        return ScenarioError.exit_code
    if error.errno in _NO_SPACE:
        where = f"{error.filename}: " if error.filename else ""
        print_error(
            f"{where}{error.strerror}; free some space and repeat the command (a run with --resume: what was "
            "recorded before is kept)"
        )
        return MissingRuntimeError.exit_code
    return None


def _bug(error: Exception) -> int:
    if _is_debugging():
        ERR.print(printable(traceback.format_exc()), markup=False, highlight=False, soft_wrap=True)
        return EXIT_BUG
    print_error(
        f"{type(error).__name__}: {error}. This is a bug in compactbench; "
        f"set {DEBUG_VARIABLE}=1 to print the traceback"
    )
    return EXIT_BUG
