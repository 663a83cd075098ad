import re
import subprocess
import sys

import pytest
import typer
from refused import printed_codes
from result_builder import build_results

from bench.cli import main as cli
from bench.cli.main import main
from bench.errors import EngineError, MissingRuntimeError, ScenarioError
from bench.secrets import hide


@pytest.fixture
def failing(monkeypatch):
    """Makes `compactbench fail` raise an error."""

    def install(error):
        def fail():
            raise error

        monkeypatch.setattr(sys.modules[__name__], "fail", fail, raising=False)
        monkeypatch.setitem(cli.COMMANDS, "fail", f"{__name__}:fail")

    return install


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ScenarioError("bad", code="test"), 2),
        (MissingRuntimeError("no Java", code="test"), 3),
        (EngineError("broke", code="test"), 1),
    ],
)
def test_errors_become_one_line_and_their_exit_code(failing, capsys, error, code):
    failing(error)
    assert main(["fail"]) == code
    captured = capsys.readouterr()
    assert captured.err == f"error: {error} [test]\n"
    assert captured.out == ""


def test_error_texts_are_no_markup(failing, capsys):
    failing(ScenarioError("strategies[every-10min][/] [bold]x", code="test"))
    assert main(["fail"]) == 2
    assert capsys.readouterr().err == "error: strategies[every-10min][/] [bold]x [test]\n"


@pytest.mark.parametrize(
    ("problem", "path", "shown"),
    [
        ("no such folder", "my-token", "my-token: no such folder"),
        ("must be text", "catalog.token", "catalog.token: must be text"),
        ("has password=hunter2", "my-token", "my-token: has password=(hidden)"),
        ("no such file", "https://me:hunter2@host", "https://(hidden)@host: no such file"),
    ],
)
@pytest.mark.parametrize("place", ["", "my.toml", "--set token=hunter2"])
def test_a_path_is_not_taken_for_the_key_of_a_secret(failing, capsys, problem, path, shown, place):
    error = ScenarioError(problem, code="test", path=path)
    failing(error.within(place, hide) if place else error)
    assert main(["fail"]) == 2
    place_shown = f"{place}: ".replace("hunter2", "(hidden)") if place else ""
    assert capsys.readouterr().err == f"error: {place_shown}{shown} [test]\n"


def test_an_unexpected_error_is_reported_as_a_bug(failing, capsys, monkeypatch):
    monkeypatch.delenv("COMPACTBENCH_DEBUG", raising=False)
    failing(KeyError("x"))
    assert main(["fail"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: KeyError: 'x'. ")
    assert "COMPACTBENCH_DEBUG=1" in line


def test_debug_shows_the_traceback_without_secrets(failing, capsys, monkeypatch):
    monkeypatch.setenv("COMPACTBENCH_DEBUG", "1")
    failing(KeyError("https://me:hunter2@host"))
    assert main(["fail"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback ")
    assert shown.rstrip().endswith("KeyError: 'https://(hidden)@host'")


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (["doctor", "token=hunter2 hunter3"], "(token=(hidden))"),
        (["--catalog-property=s3.secret-access-key=hunter2"], "no such option"),
        (["token=hunter2"], "'token=(hidden)'"),
    ],
)
def test_usage_errors_repeat_no_secret(capsys, argv, shown):
    assert main(argv) == 2
    text = capsys.readouterr().err
    assert "hunter" not in text
    assert shown in text


def test_secrets_are_concealed_until_the_command_ends(failing, capsys):
    failing(ScenarioError("no qwerty", code="test"))
    assert main(["--credential=qwerty", "fail"]) == main(["fail"]) == 2
    warning, usage, error = capsys.readouterr().err.splitlines()
    assert warning.startswith("warning: the command line contains a secret")
    assert "qwerty" not in warning + usage
    assert error == "error: no qwerty [test]"


def test_an_interrupt_exits_130_without_a_traceback(failing, capsys):
    failing(KeyboardInterrupt())
    assert main(["fail"]) == 130
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "text"),
    [(["lst"], "no such command 'lst'"), (["list", "planets"], "planets"), (["validate", "--no"], "--no")],
)
def test_usage_errors_exit_2(capsys, argv, text):
    assert main(argv) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")  # typer's errors too
    assert text in line


def test_a_command_may_exit_with_its_own_code(failing):
    failing(typer.Exit(1))
    assert main(["fail"]) == 1


def test_version_and_help(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("compactbench ")
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "compactbench run quickstart --simulate" in shown
    for name in cli.COMMANDS:
        assert name in shown


EXAMPLE = re.compile(r"`(compactbench [^`]+|duckdb [^`]+)`")


@pytest.mark.parametrize("command", ["", *cli.COMMANDS])
def test_examples_of_the_help_are_whole_at_80_columns(capsys, monkeypatch, command):
    """A folded command cannot be pasted."""
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 80)
    assert main([*command.split(), "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("bool" in line.lower() for line in lines)  # flags show no type
    app = cli.command_line([command] if command else [])
    text = app.registered_commands[0].callback.__doc__ if command else cli.compactbench.__doc__
    examples = EXAMPLE.findall(text)
    assert examples
    for example in examples:
        assert any(" ".join(example.split()) in line for line in lines), example


@pytest.mark.parametrize("command", ["show", "report", "export", "clean"])
def test_commands_read_the_default_results_folder(capsys, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    code = main([command])
    printed = capsys.readouterr()
    if command == "clean":
        assert (code, printed.err) == (0, "")
    else:
        assert (code, printed_codes(printed.err)) == (2, ["no-such-folder"])
        assert printed.err.startswith("error: results: ")
    build_results(tmp_path / "results", {"never": None}, 1, 2)
    assert main([command]) == 0


@pytest.mark.parametrize("argv", [["list", "metrics"], ["list", "--help"]])
def test_only_the_command_that_is_called_is_loaded(argv):
    assert [c.name for c in cli.command_line(argv).registered_commands] == ["list"]


@pytest.mark.parametrize("argv", [[], ["--help"], ["lst"]])
def test_all_commands_are_loaded_if_none_is_called(argv):
    assert [c.name for c in cli.command_line(argv).registered_commands] == list(cli.COMMANDS)


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (["list", "--fast"], "compactbench list --help explains"),
        (["list", "--help"], "Usage: compactbench list"),
    ],
)
def test_the_one_command_that_is_loaded_keeps_its_name(capsys, argv, text):
    main(argv)
    captured = capsys.readouterr()
    assert text in captured.out + captured.err


def test_a_reader_that_goes_away_is_no_error():
    command = [sys.executable, "-m", "bench.cli", "list", "metrics", "--format", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait() in (1, cli.EXIT_BROKEN_PIPE)
    assert errors == b""


def test_a_closed_stdout_is_no_error():
    command = ["bash", "-c", f'"{sys.executable}" -m bench.cli list metrics >&-']
    done = subprocess.run(command, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("columns", ["0", "-1", "3", "wide"])
def test_an_invalid_width_is_ignored(columns):
    command = ["env", f"COLUMNS={columns}", sys.executable, "-m", "bench.cli", "list", "metrics"]
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
    assert 80 < max(map(len, printed.splitlines())) <= 120


PLAN_OPTIONS = ("--scenario", "--branch", "--catalog", "--table-format")


@pytest.mark.parametrize(
    "words",
    [
        ["run", "quickstart", "--simulate", "--out"],
        ["clean"],
        ["export", ".", "-o"],
        ["compare", ".", "--baseline"],
        ["report", ".", "--only"],
        *(["plan", "db.t", "--strategy", "never", option] for option in PLAN_OPTIONS),
    ],
)
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_value_is_neither_the_current_folder_nor_left_out(
    capsys, tmp_path, monkeypatch, words, empty
):
    monkeypatch.chdir(tmp_path)
    assert main([*words, empty]) == 2
    option = words[-1] if words[-1].startswith("-") else "RESULTS"
    assert re.search(rf"invalid value for '.*{option}.*': it is empty", capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["show"],
        ["compare"],
        ["clean"],
        ["validate", "quickstart", "{}/scenario.toml"],
        ["plan", "--strategy", "never"],
        ["run", "quickstart", "--simulate", "--out"],
    ],
)
def test_a_path_too_long_for_the_system_is_one_clear_error(capsys, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    long = "x" * 300
    filled = [word.format(long) for word in words]
    assert main(filled if filled != words else [*words, long]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(rf"error: \S*{long}\S*: .*File name too long.*\n", err)


def test_help_is_printed_despite_invalid_options(capsys):
    assert main(["run", "--out", "", "--help"]) == 0
    assert "--simulate" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [["show"], ["compare"], *(["show", "--format", f] for f in ("json", "csv")),
     *(["compare", "--format", f] for f in ("json", "csv", "markdown"))],
)  # fmt: skip
def test_a_label_in_somebody_elses_results_does_not_control_the_terminal(tmp_path, capsys, arguments):
    strategies = {"never": None, "\x1b[2J\x9b1mevery": 2}
    assert main([*arguments, str(build_results(tmp_path, strategies, 3, 20))]) == 0
    shown = "".join(capsys.readouterr())
    assert r"\u001b[2J" in shown or "\N{REPLACEMENT CHARACTER}[2J" in shown
    assert not {"\x1b", "\x9b"} & set(shown)


def test_an_error_does_not_control_the_terminal(failing, capsys):
    failing(ScenarioError("\x1b[2J", code="test"))
    assert main(["fail"]) == 2
    assert capsys.readouterr().err == "error: \\u001b[2J [test]\n"


def test_a_working_folder_that_is_gone_is_no_bug(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert main(["run", "quickstart", "--simulate"]) == 2
    assert capsys.readouterr().err.startswith("error: the working folder has been removed: ")
