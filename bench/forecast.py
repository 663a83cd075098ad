"""What our planner expects a plan to do to the table, to be held against what the engine then did."""

from collections.abc import Callable

from strategies.expand import expand
from strategies.plan import Plan
from strategies.state import TableState

# Bytes of the files that rows of a table make: (rows, files) -> bytes.
SizeModel = Callable[[int, int], int]


def forecast(plan: Plan, state: TableState, size_model: SizeModel) -> dict[str, float] | None:
    """The figures of a compaction record that follow from the state, by the record's own names.

    None where the state does not tell what the action would do, and for plans of several actions:
    the later ones meet a table that the earlier ones changed.
    """
    if len(plan.actions) > 1:
        return None
    try:
        expansion = expand(plan.actions[0], state)
    except ValueError:  # options the command will refuse too, or an ExpandError
        return None
    if expansion.delete_groups:  # how many delete files come out, and how large, only their rows tell
        return None
    groups = expansion.groups
    return {
        "files_in_count": sum(len(group.files) for group in groups),
        "files_out_count": sum(len(group.tasks) for group in groups),
        "read_bytes": sum(group.input_bytes for group in groups),
        "written_bytes": sum(size_model(task.rows, 1) for group in groups for task in group.tasks),
    }
