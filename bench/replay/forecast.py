"""The expected effect of a plan, recorded together with its actual effect."""

from bench.engines.contract import Ticket
from bench.engines.format import SizeModel
from strategies.plan import Rewrite
from strategies.preview import NoPreview


def forecast(ticket: Ticket, size_model: SizeModel) -> dict[str, float] | None:
    """The expected values of a compaction's `change`, by field, from the preview of its plan.

    None if there is no preview, if delete files are rewritten (how many are written depends on their rows),
    and for plans of several actions, because earlier actions change the table for later ones. Byte counts are
    left out if deletes are converted or log files merged: the bytes written then depend on the keys.
    """
    if len(ticket.plan.actions) > 1:
        return None
    action, preview = ticket.plan.actions[0], ticket.preview.actions[0]
    if isinstance(preview, NoPreview) or preview.delete_groups:
        return None
    expected: dict[str, float] = {
        "files_removed_count": preview.files_removed_count,
        "files_added_count": preview.files_added_count,
    }
    if isinstance(action, Rewrite) and any(group.convert_paths for group in action.groups):
        return expected
    expected["replaced_bytes"] = preview.replaced_bytes
    if all(group.has_exact_rows for group in preview.groups):
        tasks = (task for group in preview.groups for task in group.tasks)
        expected["added_bytes"] = sum(size_model(task.rows, 1) for task in tasks)
    return expected
