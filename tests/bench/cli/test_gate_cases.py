"""The table of `docs/gate.md`: each line is built and compared."""

import json
import re
import shutil
from pathlib import Path

import pytest
from result_builder import build_results

from bench.results.records import EVENTS, MANIFEST, REPLACED

TABLE = Path(__file__).parents[3] / "docs" / "gate.md"
BOTH = {"never": None, "every-2min": 2}
LATER = {"suite_id": "later", "started_utc": "2026-01-06T09:00:00Z"}
COST, LATENCY = "compaction_cpu_s>1.2x", "query_mean_s>1.2x"
OLD_FACTORS, NEW_FACTORS = (0.97, 1.0, 1.03, 0.98, 1.02), (1.02, 0.97, 1.0, 1.03, 0.99)  # of each repetition
TICKS = 10

pytestmark = pytest.mark.usefixtures("wide")


def edit(folder, change):
    """Replace the records of a run by what `change` makes of them."""
    path = folder / EVENTS
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in change(lines)))


def scale(folder, kind, field, factor):
    """Multiply a field of the cost of all steps of a kind."""

    def scaled(lines):
        for line in lines:
            if line["kind"] == kind:
                line["cost"][field] *= factor
        return lines

    edit(folder, scaled)


def results(folder, factors, repetitions=3, strategies=BOTH, fate=None, **changes):
    """A side; each repetition is slower or faster by a factor."""
    build_results(folder, strategies, repetitions, TICKS, fate, **changes)
    for run in (folder / "append-small").iterdir():
        repetition = json.loads((run / MANIFEST).read_text())["repetition"]
        scale(run, "query", "wall_s", factors[repetition - 1])
        scale(run, "compaction", "cpu_s", factors[repetition - 1])
    return folder


class Sides:
    """OLD and NEW of a case."""

    def __init__(self, folder):
        self.old, self.new, self.limits = folder / "old", folder / "new", (COST, LATENCY)

    def build(self, repetitions=3, old_repetitions=3, **changes):
        results(self.old, OLD_FACTORS, old_repetitions)
        results(self.new, NEW_FACTORS, repetitions, **LATER | changes)

    def all_runs(self, fate):
        return {(label, repetition): fate for label in BOTH for repetition in (1, 2, 3)}

    def run(self, position):
        return self.new / "append-small" / f"run-iceberg-{position:03d}"

    def made_again(self, position):
        """The run at a position once more, at the next free position."""
        shutil.copytree(self.run(position), self.run(6))
        path = self.run(6) / MANIFEST
        manifest = json.loads(path.read_text()) | {"position": 6, "run_id": "run-006"}
        path.write_text(json.dumps(manifest))

    @property
    def second(self):
        """The first run of `every-2min`."""
        return self.run(1)


def same(sides):
    sides.build()


def same_of_five(sides):
    sides.build(5, 5)


def tight(sides):
    sides.build()
    sides.limits = ("compaction_cpu_s>1.05x", "query_mean_s>1.05x")


def copied(sides):
    results(sides.old, OLD_FACTORS)
    shutil.copytree(sides.old, sides.new)


def dearer(sides):
    sides.build()
    for run in (sides.new / "append-small").iterdir():
        scale(run, "compaction", "cpu_s", 1.2)


def dearer_than_allowed(sides):
    dearer(sides)
    sides.limits = ("compaction_cpu_s>1.05x",)


def slower(sides):
    sides.build()
    for run in (sides.new / "append-small").iterdir():
        scale(run, "query", "wall_s", 2.0)


def lost_rows(sides):
    sides.build(fate=sides.all_runs("differs"))


def unchecked(sides):
    sides.build(fate=sides.all_runs("unchecked"))


def half_of_the_rows(sides):
    unchecked(sides)

    def halved(lines):
        for line in lines:
            if line["kind"] == "observe" and line["tick"] == TICKS:
                line["table"]["rows"] //= 2
        return lines

    for run in (sides.new / "append-small").iterdir():
        edit(run, halved)


def vetoed(sides):
    sides.build(fate=sides.all_runs("vetoed"))


def idle(sides):
    sides.build(strategies={"never": None, "every-2min": TICKS + 1})
    sides.limits = (COST,)


def disturbed(sides):
    sides.build(fate=sides.all_runs("disturbed"))


def replaced(sides):
    not_again(sides)
    sides.made_again(1)
    (sides.run(6) / REPLACED).unlink()


def not_again(sides):
    sides.build()
    (sides.second / REPLACED).write_text("other processes used 1.7 cores")


def gone(sides):
    sides.build()
    sides.made_again(1)
    shutil.rmtree(sides.second)


def fewer(sides):
    sides.build(2)


def no_strategy(sides):
    sides.build(strategies={"never": None})


def failed(sides):
    sides.build(fate={("every-2min", 1): "failed"})


def interrupted(sides):
    sides.build(fate={("every-2min", 1): "cut off"})


def change_second(change):
    def build(sides):
        sides.build()
        edit(sides.second, change)

    return build


def commit_at(lines):
    """The place of a commit in the middle of a run."""
    return next(i for i, line in enumerate(lines) if line["kind"] == "commit" and line["tick"] == TICKS // 2)


def half_of_the_compactions(lines):
    return [line for line in lines if line["kind"] != "compaction" or line["tick"] <= TICKS // 2]


def no_manifest(sides):
    sides.build()
    (sides.second / MANIFEST).unlink()


def other_machine(sides):
    sides.build(machine={"cpu": "Another CPU", "cores": 2, "ram_bytes": 8 * 2**30})


def other_spark(sides):
    sides.build(versions={"python": "3.11.9", "java": "17.0.12", "spark": "3.5.9", "format": "1.9.2"})


CASES = {
    "was made by the same build": same,
    "was made by the same build, five repetitions on each side": same_of_five,
    "was made by the same build, with limits of 1.05x": tight,
    "is a copy of OLD": copied,
    "has the same counts and bytes, and compactions take 1.2 times the CPU": dearer,
    "has compactions of 1.2 times the CPU, with a limit of 1.05x on the CPU alone": dearer_than_allowed,
    "has queries that take twice the time": slower,
    "lost rows, by the content check": lost_rows,
    "was made with `--verify off`": unchecked,
    "was made with `--verify off`, and half of the rows are gone": half_of_the_rows,
    "has compactions all of which failed": vetoed,
    "has no compaction at all, with a limit on the cost alone": idle,
    "was made while other processes used the machine": disturbed,
    "has a run that was made again because of such processes": replaced,
    "has a run that is marked as replaced, and was not made again": not_again,
    "lacks a run, in whose place another one was made later": gone,
    "has two repetitions instead of three": fewer,
    "lacks a strategy": no_strategy,
    "has a run that failed": failed,
    "has a run that was interrupted": interrupted,
    "has a run whose records end halfway through the stream": change_second(
        lambda lines: [line for line in lines[:-2] if line["tick"] <= TICKS // 2] + lines[-2:]
    ),
    "has a run in which a commit is recorded twice": change_second(
        lambda lines: [*lines[: (at := commit_at(lines))], lines[at], *lines[at:]]
    ),
    "has a run in which a commit is missing": change_second(
        lambda lines: [*lines[: (at := commit_at(lines))], *lines[at + 1 :]]
    ),
    "has a run in which a commit and the next record are swapped": change_second(
        lambda lines: [*lines[: (at := commit_at(lines))], lines[at + 1], lines[at], *lines[at + 2 :]]
    ),
    "has a run in which half of the compactions are missing": change_second(half_of_the_compactions),
    "has a run without its manifest": no_manifest,
    "was made on another machine": other_machine,
    "was made with another version of Spark": other_spark,
}


def lines_of_the_table():
    return re.findall(r"^\| (?!NEW)([^|]+?) \| (\d) \| (.+) \|$", TABLE.read_text(), flags=re.MULTILINE)


def test_the_table_has_every_case():
    assert [case for case, _, _ in lines_of_the_table()] == [*CASES]


@pytest.mark.parametrize(("case", "code", "said"), lines_of_the_table())
def test_the_gate_answers_as_its_table_says(compactbench, tmp_path, case, code, said):
    sides = Sides(tmp_path)
    CASES[case](sides)
    limits = [word for limit in sides.limits for word in ("--fail-if", limit)]
    printed = compactbench("compare", sides.old, sides.new, *limits, code=int(code))
    assert said in " ".join(f"{printed.out} {printed.err}".split())
