"""Whether a plan would bring deleted rows back: what an executor checks before it drops a delete file.

A planner may be mistaken about that, Amoro's is (a delete file shared with files outside the plan, reference
2.7); the plan is then not carried out.
"""

from strategies.delete_index import index_deletes
from strategies.plan import Rewrite
from strategies.state import TableState, key_of


def revived_by(action: Rewrite, state: TableState) -> str | None:
    """Which dropped delete file a data file still needs, in words; None where dropping them is safe.

    A data file that the plan rewrites or converts needs none of its deletes any more, any other does.
    """
    removed = frozenset(action.removed_deletes)
    if not removed:
        return None
    taken = frozenset(path for group in action.groups for path in (*group.paths, *group.convert_paths))
    dropped = [delta for delta in state.delta_files if key_of(delta) in removed]
    index = index_deletes(dropped)
    needing = (file for file in state.data_files if file.path not in taken)
    reached = next((file for file in needing if index.applying_to(file).files_count), None)
    if reached is None:
        return None
    delete = next(key_of(d) for d in dropped if index_deletes([d]).applying_to(reached).files_count)
    return f"{delete} still applies to {reached.path}, which the plan leaves as it is"
