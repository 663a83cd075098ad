"""What the warm-up of a run has achieved."""

from bench.results.folders import RunResult
from bench.results.records import WarmUpRecord


def cold_planners(run: RunResult) -> tuple[str, ...]:
    """The planners, with their options in words, that acted in no round of the warm-up.

    Their first compaction in the run pays for what others have had compiled before. A run whose records hold
    no warm-up, such as a simulated one, has none.
    """
    acted: dict[str, bool] = {}
    for record in run.of(WarmUpRecord):
        if record.planner:
            acted[record.options] = acted.get(record.options, False) or record.acted
    return tuple(planner for planner, has_acted in acted.items() if not has_acted)
