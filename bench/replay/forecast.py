"""What our planner expects a plan to do to the table, to be held against what the engine then did."""

from bench.engines.format import SizeModel
from strategies.iceberg.preview import preview_action
from strategies.plan import Action, Plan, Rewrite
from strategies.state import TableState, key_of


def forecast(plan: Plan, state: TableState, size_model: SizeModel) -> dict[str, float] | None:
    """The figures of a compaction record that follow from the state, by the record's own names.

    None where the state does not tell what the action would do, and for plans of several actions:
    the later ones meet a table that the earlier ones changed. Bytes are left out where deletes are
    converted: how many rows they find, and so what is written, only the keys tell.
    """
    if len(plan.actions) > 1:
        return None
    action = plan.actions[0]
    try:
        preview = preview_action(action, state)
    except ValueError:  # options the command will refuse too, or an PreviewError
        return None
    if preview.delete_groups:  # how many delete files come out, and how large, only their rows tell
        return None
    counts: dict[str, float] = {
        "files_removed_count": preview.files_removed_count,
        "files_added_count": preview.files_added_count,
    }
    if isinstance(action, Rewrite) and any(group.convert_paths for group in action.groups):
        return counts
    tasks = (task for group in preview.groups for task in group.tasks)
    return {
        **counts,
        "replaced_bytes": preview.replaced_bytes + _dropped_bytes(action, state),
        "added_bytes": sum(size_model(task.rows, 1) for task in tasks),
    }


def _dropped_bytes(action: Action, state: TableState) -> int:
    """The delete files a rewrite drops in the same commit."""
    dropped = frozenset(action.removed_deletes if isinstance(action, Rewrite) else ())
    return sum(delete.size_bytes for delete in state.delete_files if key_of(delete) in dropped)
