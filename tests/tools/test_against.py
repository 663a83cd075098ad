from tools import against

PROGRAM = '#!/bin/sh\necho "$0" "$@" >> calls\n'


def test_both_sides_make_each_repetition_and_take_turns_to_begin(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for side in ("a", "b"):
        program = tmp_path / side / ".venv" / "bin" / "compactbench"
        program.parent.mkdir(parents=True)
        program.write_text(PROGRAM)
        program.chmod(0o755)
    monkeypatch.setattr("sys.argv", ["against", "a", "b", "out", "2", "demo.toml", "--simulate"])
    against.main()
    expected = [
        f"{side}/.venv/bin/compactbench run demo.toml --simulate"
        f" --out out/{results} --resume --repetitions {n}"
        for side, results, n in (("a", "old", 1), ("b", "new", 1), ("b", "new", 2), ("a", "old", 2))
    ]
    assert (tmp_path / "calls").read_text().splitlines() == expected
