import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
import typer
from result_builder import build_results

from bench.cli import main as cli
from bench.cli.main import main
from bench.cli.output import is_width
from bench.errors import EngineError, MissingRuntimeError, ScenarioError
from bench.secrets import hide


@pytest.fixture
def failing(monkeypatch):
    """Makes `compactbench fail` raise an error."""

    def install(error):
        def fail():
            raise error

        monkeypatch.setitem(sys.modules, "bench.cli.commands.fail", SimpleNamespace(fail=fail))
        monkeypatch.setitem(cli.COMMANDS, "fail", "")

    return install


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ScenarioError("strategies[every-10min][/] [bold]x", code="test"), 2),  # no markup
        (MissingRuntimeError("no Java", code="test"), 3),
        (EngineError("broke", code="test"), 1),
        (ScenarioError("\x1b[2J", code="test"), 2),  # which would clear the terminal
    ],
)
def test_errors_become_one_line_and_their_exit_code(failing, compactbench, error, code):
    failing(error)
    printed = compactbench("fail", code=code)
    text = str(error).replace("\x1b", r"\u001b")
    assert (printed.out, printed.err) == ("", f"error: {text} [test]\n")


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
def test_a_path_is_not_taken_for_the_key_of_a_secret(failing, compactbench, problem, path, shown, place):
    error = ScenarioError(problem, code="test", path=path)
    failing(error.within(place, hide) if place else error)
    place_shown = f"{place}: ".replace("hunter2", "(hidden)") if place else ""
    assert compactbench("fail", code=2).err == f"error: {place_shown}{shown} [test]\n"


def test_an_unexpected_error_is_reported_as_a_bug(failing, compactbench, monkeypatch):
    monkeypatch.delenv("COMPACTBENCH_DEBUG", raising=False)
    failing(KeyError("x"))
    (line,) = compactbench("fail", code=1).err.splitlines()
    assert line.startswith("error: KeyError: 'x'. ")
    assert "COMPACTBENCH_DEBUG=1" in line


def test_debug_shows_the_traceback_without_secrets(failing, compactbench, monkeypatch):
    monkeypatch.setenv("COMPACTBENCH_DEBUG", "1")
    failing(KeyError("https://me:hunter2@host"))
    printed = compactbench("fail", code=1).err
    assert printed.startswith("Traceback ")
    assert printed.rstrip().endswith("KeyError: 'https://(hidden)@host'")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["doctor", "token=hunter2 hunter3"], "(token=(hidden))"),
        (["--catalog-property=s3.secret-access-key=hunter2"], "no such option"),
        (["token=hunter2"], "'token=(hidden)'"),
        (["lst"], "no such command 'lst'"),
        (["list", "planets"], "planets"),
        (["validate", "--no"], "--no"),
        (["list", "--fast"], "compactbench list --help explains"),
    ],
)
def test_usage_errors_exit_2_and_repeat_no_secret(compactbench, words, text):
    *warnings, error = compactbench(*words, code=2).err.splitlines()
    assert all(line.startswith("warning: ") for line in warnings)
    assert error.startswith("error: ")  # typer's errors too
    assert text in error
    assert "hunter" not in "".join([*warnings, error])


def test_secrets_are_concealed_until_the_command_ends(failing, capsys):
    failing(ScenarioError("no qwerty", code="test"))
    assert main(["--credential=qwerty", "fail"]) == main(["fail"]) == 2
    warning, usage, error = capsys.readouterr().err.splitlines()
    assert warning.startswith("warning: the command line contains a secret")
    assert "qwerty" not in warning + usage
    assert error == "error: no qwerty [test]"


def test_an_interrupt_exits_130_without_a_traceback(failing, compactbench):
    failing(KeyboardInterrupt())
    assert "Traceback" not in compactbench("fail", code=130).err


def test_a_command_may_exit_with_its_own_code(failing, compactbench):
    failing(typer.Exit(1))
    compactbench("fail", code=1)


def test_version_and_help(compactbench):
    assert compactbench("--version").out.startswith("compactbench ")
    printed = compactbench("--help").out
    assert "compactbench run quickstart --simulate" in printed
    assert all(name in printed for name in cli.COMMANDS)
    assert "Usage: compactbench list" in compactbench("list", "--help").out
    assert "--simulate" in compactbench("run", "--out", "", "--help").out  # despite an invalid option


EXAMPLE = re.compile(r"`(compactbench [^`]+|duckdb [^`]+)`")


@pytest.mark.parametrize("command", ["", *cli.COMMANDS])
def test_examples_of_the_help_are_whole_at_80_columns(compactbench, monkeypatch, command):
    """A folded command cannot be pasted."""
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 80)
    lines = compactbench(*command.split(), "--help").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("bool" in line.lower() for line in lines)  # flags show no type
    callbacks = {one.name: one.callback for one in cli.command_line([command]).registered_commands}
    text = callbacks[command].__doc__ if command else cli.compactbench.__doc__
    examples = EXAMPLE.findall(text)
    assert examples
    for example in examples:
        assert any(" ".join(example.split()) in line for line in lines), example


@pytest.mark.parametrize("command", ["show", "report", "export"])
def test_commands_read_the_default_results_folder(compactbench, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    printed = compactbench(command, code=2)
    assert printed.codes == ["no-such-folder"]
    assert printed.err.startswith("error: results: ")
    if command != "report":  # which would take seconds
        build_results(tmp_path / "results", {"never": None}, 1, 2)
        compactbench(command)


@pytest.mark.parametrize(
    ("argv", "loaded"),
    [
        *((words, ["list"]) for words in (["list", "metrics"], ["list", "--help"], ["--", "list"])),
        *((words, []) for words in ([], ["--help"], ["lst", "list"])),
    ],
)
def test_only_the_command_that_is_called_is_loaded(argv, loaded):
    commands = cli.command_line(argv).registered_commands
    assert [command.name for command in commands] == list(cli.COMMANDS)
    assert [one.name for one in commands if one.callback.__module__ != cli.__name__] == loaded


def test_the_help_has_the_first_paragraph_of_each_command():
    for command in cli.whole_command_line().registered_commands:
        assert command.callback.__doc__.partition("\n\n")[0] == cli.COMMANDS[command.name]


def test_the_help_waits_for_no_large_library():
    code = (
        "import sys; from bench.cli.main import main; main(['--help']); "
        "sys.exit(' '.join({'numpy', 'pyarrow', 'scipy', 'matplotlib'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("words", [["validate", "quickstart"], ["list", "metrics", "--format", "json"]])
def test_a_reader_that_goes_away_is_no_error(words):
    command = [sys.executable, "-m", "bench.cli", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait() == 141
    assert errors == b""


@pytest.mark.parametrize(
    ("words", "code"),
    [("list metrics >&-", 0), ("list metrics 2>&- >/dev/null", 0), ("list planets >&- 2>&-", 2)],
)
def test_a_closed_stream_is_no_error(words, code):
    command = ["bash", "-c", f'"{sys.executable}" -m bench.cli {words}']
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


def test_an_invalid_width_is_ignored():
    assert [columns for columns in ("0", "-1", "3", "wide", "", "20", "80") if is_width(columns)] == [
        "20",
        "80",
    ]
    command = ["env", "COLUMNS=3", sys.executable, "-m", "bench.cli", "list", "metrics"]
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
    compactbench, tmp_path, monkeypatch, words, empty
):
    monkeypatch.chdir(tmp_path)
    error = compactbench(*words, empty, code=2).err
    option = words[-1] if words[-1].startswith("-") else "RESULTS"
    assert re.search(rf"invalid value for '.*{option}.*': it is empty", error)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["show", "{}"],
        ["compare", "{}"],
        ["clean", "{}"],
        ["validate", "quickstart", "{}/scenario.toml"],
        ["plan", "--strategy", "never", "{}"],
        ["run", "quickstart", "--simulate", "--out", "{}"],
    ],
)
def test_a_path_too_long_for_the_system_is_one_clear_error(compactbench, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    long = "x" * 300
    printed = compactbench(*(word.format(long) for word in words), code=2)
    assert printed.out == ""
    assert re.fullmatch(rf"error: \S*{long}\S*: .*File name too long.*\n", printed.err)


@pytest.mark.parametrize(
    "words",
    [["show"], ["compare"], ["show", "--decisions"], ["show", "--compactions"],
     *(["show", "--format", f] for f in ("json", "csv")),
     *(["compare", "--format", f] for f in ("json", "csv", "markdown"))],
)  # fmt: skip
def test_no_text_in_somebody_elses_results_controls_the_terminal(tmp_path, compactbench, words):
    label, scenario = "\x1b[2J\x9b1mevery", "\x1b]0;mine\x07"
    strategies, fate = {"never": None, label: 2}, {(label, 3): "failed"}
    folder = build_results(tmp_path, strategies, 3, 6, fate, scenario=scenario, description=scenario)
    for file in folder.rglob("events.jsonl"):
        file.write_text(
            file.read_text().replace("boom", "\\u001b[2Jboom").replace("rewrite all", "\\u009b2J")
        )
    printed = compactbench(*words, folder)
    text = printed.out + printed.err
    assert r"\u001b[2J" in text or "\N{REPLACEMENT CHARACTER}[2J" in text
    assert not {"\x1b", "\x9b", "\x07"} & set(text)


def test_a_working_folder_that_is_gone_is_no_bug(tmp_path, monkeypatch, compactbench):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    printed = compactbench("run", "quickstart", "--simulate", code=2)
    assert printed.err.startswith("error: the working folder has been removed: ")
