"""What our planner expects a plan to do to the table, recorded beside what the engine actually did."""

from bench.engines.contract import Ticket
from bench.engines.format import SizeModel
from strategies.plan import Rewrite
from strategies.preview import NoPreview


def forecast(ticket: Ticket, size_model: SizeModel) -> dict[str, float] | None:
    """The figures of a compaction record that follow from the plan's preview, under the record's names.

    None if the preview is not known, and for plans of several actions, because later actions meet a table
    that earlier ones have changed. Byte counts are left out if deletes are converted: the number of rows they
    delete, and so what is written, depends on the keys. So does what a merge with log files writes.
    """
    if len(ticket.plan.actions) > 1:
        return None
    action, preview = ticket.plan.actions[0], ticket.preview.actions[0]
    if isinstance(preview, NoPreview):
        return None
    if preview.delete_groups:  # how many delete files come out depends on their rows
        return None
    counts: dict[str, float] = {
        "files_removed_count": preview.files_removed_count,
        "files_added_count": preview.files_added_count,
    }
    if isinstance(action, Rewrite) and any(group.convert_paths for group in action.groups):
        return counts
    if not all(group.has_exact_rows for group in preview.groups):
        return {**counts, "replaced_bytes": preview.replaced_bytes}
    tasks = (task for group in preview.groups for task in group.tasks)
    return {
        **counts,
        "replaced_bytes": preview.replaced_bytes,
        "added_bytes": sum(size_model(task.rows, 1) for task in tasks),
    }
