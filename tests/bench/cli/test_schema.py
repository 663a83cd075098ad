import os

from bench.scenario.file import shipped

COPY = shipped()["example"].with_name("scenario.schema.json")


def test_the_shipped_copy_is_what_the_command_prints(compactbench):
    printed = compactbench("schema").out
    if os.environ.get("COMPACTBENCH_GOLDEN") == "rewrite":
        COPY.write_text(printed, encoding="utf-8")
    assert printed == COPY.read_text(encoding="utf-8"), "run `make golden` and review the diff"
