"""What a simulation expected of a policy, beside what the table's compactions have done since (`import`)."""

from collections.abc import Iterator
from pathlib import Path

from bench.cli.arguments import readable_runs
from bench.cli.output import print_remark, print_table
from bench.cli.tables import Column
from bench.errors import ScenarioError
from bench.importing.time_grid import replay_grid
from bench.results.arithmetic import ratio
from bench.results.money import DAY_MS
from bench.results.rows import Row
from bench.text import named_once
from reports.data.group import RunGroup, run_groups
from reports.text import format_value
from workloads.history_file import TableHistory

_A_DAY = ("commit_added_bytes", "compactions", "compaction_added_bytes")
_AT_THE_END = ("files_end", "delete_files_end")


def check_predicted(results: Path | None, strategy: str | None) -> None:
    """Raises ScenarioError if one of the two options is given without the other."""
    if (results is None) != (strategy is None):
        given, other = ("--strategy", "--predicted") if results is None else ("--predicted", "--strategy")
        raise ScenarioError(f"needs {other}, too", code="missing", path=given)


def print_predicted(results: Path, strategy: str, history: TableHistory) -> None:
    """Figures of a simulated strategy and of the history. Raises ScenarioError if there is not one such."""
    with readable_runs([results]) as runs:
        group, row = _simulated(results, strategy, run_groups(runs))
    days = group.manifest.duration_ms / DAY_MS
    expected = {metric: value / days for metric in _A_DAY if (value := row.values[metric]) is not None}
    expected |= {metric: value for metric in _AT_THE_END if (value := row.values[metric]) is not None}
    came = dict(_came(history))
    print_table(
        ["figure", Column("predicted"), Column("came"), Column("ratio")],
        [
            (
                f"{metric} a day" if metric in _A_DAY else metric,
                format_value(metric, expected.get(metric)),
                format_value(metric, came.get(metric)),
                format_value("ratio", _ratio(came.get(metric), expected.get(metric))),
            )
            for metric in (*_A_DAY, *_AT_THE_END)
        ],
    )
    print_remark(
        f"predicted for {strategy} by the simulation in {results}; if commit_added_bytes differs, so does "
        "the stream, and compactions with it"
    )


def _ratio(came: float | None, expected: float | None) -> float | None:
    return None if came is None or expected is None else ratio(came, expected)


def _simulated(results: Path, strategy: str, groups: tuple[RunGroup, ...]) -> tuple[RunGroup, Row]:
    simulated = [group for group in groups if group.is_simulated]
    found = [(group, row) for group in simulated for row in group.rows if row.strategy == strategy]
    if not found:
        known = named_once(row.strategy for group in simulated for row in group.rows)
        problem = f"has no simulated strategy {strategy}; it has {known or 'none'}"
        raise ScenarioError(problem, code="unknown-name", path=f"--predicted {results}")
    if len(found) > 1:
        problem = f"has {len(found)} simulated scenarios with {strategy}: name the folder of one of them"
        raise ScenarioError(problem, code="ambiguous", path=f"--predicted {results}")
    return found[0]


def _came(history: TableHistory) -> Iterator[tuple[str, float]]:
    """By the time in which a simulation replays the history, as predictions are."""
    stream, own = history.stream, history.own_compactions(history.facts.until_ms)
    days = replay_grid(history).duration_ms / DAY_MS
    added_bytes = sum(file.size_bytes for commit in stream for file in commit.added)
    live = history.live_after().values()
    amounts = (added_bytes, own.count if own else 0, own.added_bytes if own else 0)
    yield from ((metric, amount / days) for metric, amount in zip(_A_DAY, amounts, strict=True))
    yield "files_end", sum(file.is_data for file in live)
    yield "delete_files_end", sum(not file.is_data for file in live)
