"""The scenario of an imported table: its time grid, its table and policies to start from, with comments."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from pathlib import Path
from statistics import median

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bench.engines.existing import Importing
from bench.engines.keys import bytes_text, duration_ms_text, value_text
from bench.engines.simulated.selection import partition_values
from bench.importing.answers import Answers
from bench.importing.own_speed import OwnSpeed
from bench.importing.time_grid import TimeGrid, replay_grid
from bench.text import counted, human_bytes, human_duration, utc_text
from workloads.history import ticks_of
from workloads.history_file import TableHistory
from workloads.recorded import Content, RecordedCommit, RecordedFile
from workloads.undo import without_compactions

_PLAIN = re.compile(r"[\w .:/-]+")
_OWN_MAX = 200  # compactions whose times a scenario lists
_LARGE = 0.1  # of the target size


def with_notes(history: TableHistory) -> TableHistory:
    """The history with notes on what a replay makes of it."""
    notes = (*history.facts.notes, *_notes(history))
    return replace(history, facts=replace(history.facts, notes=notes))


def _notes(history: TableHistory) -> Iterator[str]:
    facts = history.facts
    largest = max((file for file in history.files if file.is_data), key=lambda file: file.rows, default=None)
    if largest is not None and largest.size_bytes < _LARGE * facts.target_file_size_bytes:
        yield (
            f"no file has more than {largest.rows:,} rows ({human_bytes(largest.size_bytes)}): larger merged "
            "files, and amplifications with them, grow as those of the standard orders table do"
        )
    if unmarked := _unmarked_count(history.stream):
        yield (
            f"{counted(unmarked, 'commit')} replaced files by fewer ones with as many rows, as compactions "
            "do, but are not marked as such: they are replayed as commits"
        )
    undone = zip(history.stream, without_compactions(history.commits), strict=True)
    more = [len(after.removed) - len(before.removed) for before, after in undone]
    if any(count > 0 for count in more):
        commits = counted(sum(count > 0 for count in more), "commit")
        yield (
            f"{commits} removed or rewrote files that compactions had written: without these, such commits "
            f"remove {counted(sum(more), 'more file')} of the stream, under every policy"
        )


def _unmarked_count(stream: Sequence[RecordedCommit]) -> int:
    """The commits, or pairs of one that only removes and one that only adds, that may be compactions."""
    count = 0
    for commit, following in zip_longest(stream, stream[1:]):
        added = commit.added or (following.added if following and not following.removed else ())
        removed_rows, added_rows = _rows_by_partition(commit.removed), _rows_by_partition(added)
        count += bool(removed_rows) and removed_rows == added_rows and len(added) < len(commit.removed)
    return count


def _rows_by_partition(files: Iterable[RecordedFile]) -> Counter[str]:
    rows = Counter[str]()
    for file in files:
        rows[file.partition] += file.rows if file.is_data else 0
    return rows


def scenario_text(
    history: TableHistory,
    imports: Importing,
    table: str,
    file: Path,
    history_file: Path,
    answers: Answers,
    speed: OwnSpeed | None = None,
) -> str:
    """A scenario file that replays the commits of `table` in `history_file`, which is next to `file`."""
    facts, stream = history.facts, history.stream
    grid = replay_grid(history)
    commits = counted(len(stream), "commit")
    span = human_duration((facts.until_ms - facts.from_ms) / 1000)
    contents = {recorded.content for recorded in history.files}
    planners = planners_for(history, imports)
    hit_share = facts.hit_share if answers.hit_share is None else answers.hit_share
    return rendered(
        "scenario.toml.j2",
        table=one_line(table), file=file.name, results=file.stem, history=history_file.name,
        commits=commits,
        from_utc=utc_text(facts.from_ms), until_utc=utc_text(facts.until_ms),
        span=span,
        notes=[*map(one_line, facts.notes)],
        description=value_text(f"The history of {one_line(table)}: {commits} in {span}."),
        duration=duration_ms_text(grid.duration_ms),
        commit_interval=duration_ms_text(grid.interval_ms),
        late=human_duration(grid.late_max_ms / 1000),
        probe_every=duration_ms_text(grid.probe_every_ms),
        format=facts.format,
        table_keys={name: value_text(value) for name, value in facts.table_keys.items()},
        target_file_size=bytes_text(answers.target_bytes or facts.target_file_size_bytes),
        has_equality_deletes=Content.EQUALITY in contents,
        hit_share=None if hit_share is None else round(hit_share, 4),
        partition_columns=one_line(", ".join(facts.partition_columns)),
        example_condition=example_condition(history),
        answers=answers,
        speed=speed,
        recorded_wall=speed and human_duration(speed.recorded_s),
        modelled_wall=speed and human_duration(speed.modelled_s),
        sweep=sweep_axis(planners, grid),
        own_interval=_own_interval(history),
        own_times=own_times(history, grid),
        stand_in=None,
        writer="",
        own_planner=next(iter(planners.values())),
        policies=list(policies(planners, grid)),
    )  # fmt: skip


def planners_for(history: TableHistory, imports: Importing) -> Mapping[str, str]:
    """The planners that the table's policies start from."""
    return imports.planners(history.facts, not all(recorded.is_data for recorded in history.files))


def rendered(template: str, **values: object) -> str:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True, autoescape=False,  # noqa: S701  TOML, not HTML
    )  # fmt: skip
    return environment.get_template(template).render(**values)


def example_condition(history: TableHistory) -> str:
    """On a partition that is there for most of the stream; empty if it would need quoting of its own."""
    columns = history.facts.partition_columns
    partitions = [recorded.partition for recorded in history.files if recorded.partition]
    early = partitions[len(partitions) // 4] if partitions else ""
    values = partition_values(early, len(columns)) if columns and partitions else None
    last = values[-1] if values else None
    is_plain = last is not None and columns[-1].isidentifier() and _PLAIN.fullmatch(last)
    return f"{columns[-1]} = '{last}'" if is_plain else ""


def one_line(text: str) -> str:
    """Text of the table on one line of a comment."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def sweep_axis(planners: Iterable[str], grid: TimeGrid) -> str:
    """An axis of the first planner that suits the grid, from often to a few times in the whole history."""
    first, *_ = planners
    low = grid.policy_intervals_ms[0]
    high = max(2 * low, grid.policy_intervals_ms[-1])
    return f"strategies.{first}.every={duration_ms_text(low)}..{duration_ms_text(high)}*12"


def own_times(history: TableHistory, grid: TimeGrid) -> list[str]:
    """When the table's own compactions ran, in scenario time: at the tick of the commit before each of them.

    Empty if there are too many to list.
    """
    ticks = ticks_of((commit.at_ms for commit in history.stream), history.facts.from_ms, grid.interval_ms)
    times_ms, tick = dict[int, None](), 0
    for commit in history.commits:
        if not commit.is_compaction:
            tick = next(ticks)
        elif tick > 0:
            times_ms[tick * grid.interval_ms] = None
    return [duration_ms_text(at_ms) for at_ms in times_ms] if len(times_ms) <= _OWN_MAX else []


def _own_interval(history: TableHistory) -> str:
    """How far the table's own compactions were apart, in words; empty if there were fewer than two."""
    times_ms = [commit.at_ms for commit in history.commits if commit.is_compaction]
    gaps_ms = [later - earlier for earlier, later in pairwise(times_ms)]
    return human_duration(median(gaps_ms) / 1000) if gaps_ms else ""


def policies(planners: Mapping[str, str], grid: TimeGrid) -> Iterator[tuple[str, str, str]]:
    """Label, interval and planner of each strategy: the first planner at three intervals, others at one."""
    first, *_ = planners
    intervals = grid.policy_intervals_ms
    middle = intervals[len(intervals) // 2]
    for name, planner in planners.items():
        yield name, duration_ms_text(middle), planner
    if intervals[0] < middle:
        yield f"{first}-often", duration_ms_text(intervals[0]), planners[first]
    if intervals[-1] > middle:
        yield f"{first}-seldom", duration_ms_text(intervals[-1]), planners[first]
