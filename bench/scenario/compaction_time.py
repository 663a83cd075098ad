"""How long compactions take in commit intervals: with a real clock that decides how many of them lose."""

from collections.abc import Sequence

from bench.engines.contract import CommitLayout
from bench.engines.estimates import merge_wall_s
from bench.engines.registry import FORMATS
from bench.scenario.roles import COMPACTOR, cores_of
from bench.scenario.scenario import Scenario
from workloads.commit import CommitSpec


def compaction_per_interval(
    scenario: Scenario, commits: Sequence[CommitSpec], layouts: Sequence[CommitLayout]
) -> tuple[float, float] | None:
    """The time to merge the files of one commit, and all files of the stream, each over the commit interval.

    By the simulator's coefficients, without deletes. None without a real clock, and where the layout of the
    stream is not known.
    """
    engines = FORMATS[scenario.table.format].engines
    estimates, table_amounts = engines.estimates(), engines.simulated.table_amounts(scenario.table.properties)
    files = [layout.data_files_count for layout in layouts]
    in_stream = [place for place, commit in enumerate(commits) if not commit.is_initial]
    if not (scenario.has_real_clock and in_stream) or None in files:
        return None
    rows, known_files = [commit.rows for commit in commits], [count for count in files if count is not None]
    interval_s = scenario.commit_interval_ms / 1000 / scenario.speed
    cores, core_speed = cores_of(scenario, COMPACTOR), scenario.resources.core_speed or 1.0

    def share(rows_count: int, files_count: int) -> float:
        target_bytes = scenario.table.target_file_size_bytes
        merged_s = merge_wall_s(
            estimates, scenario.workload.schema, rows_count, files_count, target_bytes, cores, table_amounts
        )
        return merged_s / core_speed / interval_s

    last = in_stream[-1]
    return share(rows[last], known_files[last]), share(sum(rows), sum(known_files))
