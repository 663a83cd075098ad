"""Incremental scheduling: a table service looks only at partitions written since it last ran.

Source: BaseTableServicePlanActionExecutor of Hudi 1.2.0.
"""

from strategies.hudi.files import Action, HudiState, last_completed

INCREMENTAL = "hoodie.table.services.incremental.enabled"


def all_partitions(state: HudiState) -> list[str]:
    """The partitions of the table, in the order of their paths."""
    return list(dict.fromkeys(group.partition for group in state.file_slices))


def incremental_partitions(state: HudiState, service: Action) -> list[str]:
    """The partitions that a service gets to see: those of its `service` action, all before the first one.

    Afterwards they are those written since the last one was requested, and those that its plan noted. What
    has been left out and not noted is not among them until it is written again.
    """
    last = last_completed(state.timeline, service)
    if last is None:
        return all_partitions(state)
    # Compactions are no writes, but on a COPY_ON_WRITE table, which has no delta commits, commits are.
    is_merge_on_read = any(each.action is Action.DELTA_COMMIT for each in state.timeline)
    others = (each for each in state.timeline if each is not last)
    writes = (each for each in others if not (is_merge_on_read and each.action is Action.COMMIT))
    later = [each for each in writes if each.completed_after(last.requested_at_ms)]
    written = (partition for each in later for partition in sorted(each.partitions))
    return list(dict.fromkeys((*written, *(last.missing_partitions or ()))))
