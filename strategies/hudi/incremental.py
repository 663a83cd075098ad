"""Incremental scheduling: a table service looks only at partitions written since it last ran.

Source: BaseTableServicePlanActionExecutor of Hudi 1.2.0.
"""

from strategies.hudi.files import Action, HudiState, last_completed

INCREMENTAL = "hoodie.table.services.incremental.enabled"


def all_partitions(state: HudiState) -> list[str]:
    """The partitions of the table, in the order of their paths."""
    return list(dict.fromkeys(group.partition for group in state.file_slices))


def incremental_partitions(state: HudiState, service: Action) -> list[str]:
    """The partitions that a service looks at: all of them until its action has completed once.

    Afterwards the partitions written since the last one was requested, and those that its plan noted. A
    partition that was left out and not noted is missing until it is written again.
    """
    last = last_completed(state.timeline, service)
    if last is None:
        return all_partitions(state)
    # Compactions are no writes, but on a COPY_ON_WRITE table, which has no delta commits, commits are.
    is_merge_on_read = any(instant.action is Action.DELTA_COMMIT for instant in state.timeline)
    others = (instant for instant in state.timeline if instant is not last)
    writes = (instant for instant in others if not (is_merge_on_read and instant.action is Action.COMMIT))
    later = [write for write in writes if write.completed_after(last.requested_at_ms)]
    written = (partition for write in later for partition in sorted(write.partitions))
    return list(dict.fromkeys((*written, *(last.missing_partitions or ()))))
