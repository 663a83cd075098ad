"""The rows of the data files that a simulated rewrite makes."""

from strategies.preview import RewriteGroup


def rows_of_outputs(group: RewriteGroup, live_rows: int) -> tuple[int, ...]:
    """The rows that each task of a group writes: a share of the live rows, in proportion to what it reads."""
    all_rows = max(1, sum(task.rows for task in group.tasks))
    before, made = 0, []
    for task in group.tasks:
        made.append(live_rows * (before + task.rows) // all_rows - live_rows * before // all_rows)
        before += task.rows
    return tuple(made)
