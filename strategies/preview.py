"""Previews: what an action would do to the files of a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from strategies.plan import Action, Plan
from strategies.series import size_of
from strategies.state import DataFile, DeleteFile, TableState


class PreviewError(ValueError):
    """The action depends on something that a table state does not contain, such as a row filter."""


@dataclass(frozen=True, slots=True)
class ScanTaskGroup:
    """What one task of a rewrite reads; it writes one file.

    `input_bytes` counts data files only. `rows` are physical rows, for a piece of a split file in proportion
    to its bytes.
    """

    input_bytes: int
    rows: int


def equal_shares(input_bytes: int, rows: int, tasks_count: int) -> tuple[ScanTaskGroup, ...]:
    """Tasks of equal size to within one byte and row, as after a shuffle; totals are kept."""
    return tuple(
        ScanTaskGroup(even_share(input_bytes, index, tasks_count), even_share(rows, index, tasks_count))
        for index in range(tasks_count)
    )


def even_share(total: int, index: int, count: int) -> int:
    """Part `index` (from 0) of `total` split into `count` whole numbers, which differ by at most 1."""
    return total * (index + 1) // count - total * index // count


@dataclass(frozen=True, slots=True)
class RewriteGroup:
    """Data files of one partition that are rewritten together, in planning order.

    `expected_output_files` is the planner's own estimate; each of `tasks` writes one file.
    `delete_files_count`, `delete_bytes` and `delete_rows` (keys or positions) count each delete file once per
    data file it applies to. Files of an older partition spec are grouped under the partition "". Without
    `has_exact_rows`, the rows of `tasks` are an upper bound: how many of them are live depends on their keys.
    """

    partition: str
    files: Sequence[DataFile]
    delete_files_count: int
    delete_bytes: int
    max_output_file_bytes: int
    expected_output_files: int
    tasks: tuple[ScanTaskGroup, ...]
    has_exact_rows: bool = True
    delete_rows: int = 0

    @property
    def input_bytes(self) -> int:
        return size_of(self.files)


@dataclass(frozen=True, slots=True)
class DeleteGroup:
    """Position delete files of one partition that are rewritten together, in planning order.

    `partition` is that of the first file; others may be of another spec with the same values.
    """

    partition: str
    files: tuple[DeleteFile, ...]

    @property
    def input_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class Converted:
    """Data files whose deletes are converted, and the delete files that apply to each of them."""

    files_count: int = 0
    rows: int = 0
    delete_files_count: int = 0
    delete_rows: int = 0
    delete_bytes: int = 0

    def __add__(self, other: "Converted") -> "Converted":
        return Converted(
            self.files_count + other.files_count,
            self.rows + other.rows,
            self.delete_files_count + other.delete_files_count,
            self.delete_rows + other.delete_rows,
            self.delete_bytes + other.delete_bytes,
        )


@dataclass(frozen=True, slots=True)
class Preview:
    """The groups of data files or delete files, in the order they run.

    `dropped_bytes` is the size of the delete files that an explicit rewrite drops in the same commit.
    `is_sorted` covers sorting, Z-ordering and clustering. `excluded_groups_count` are further groups, beyond
    a limit.
    """

    groups: tuple[RewriteGroup, ...]
    delete_groups: tuple[DeleteGroup, ...] = ()
    dropped_bytes: int = 0
    is_sorted: bool = False
    converted: Converted = Converted()
    excluded_groups_count: int = 0

    @property
    def files_removed_count(self) -> int:
        return sum(len(group.files) for group in self.groups)

    @property
    def files_added_count(self) -> int:
        return sum(len(group.tasks) for group in self.groups)

    @property
    def read_data_bytes(self) -> int:
        return sum(group.input_bytes for group in self.groups)

    @property
    def replaced_bytes(self) -> int:
        """Of data and delete files that are replaced or dropped, as in a table's changes."""
        return self.read_data_bytes + self.dropped_bytes + sum(g.input_bytes for g in self.delete_groups)


@dataclass(frozen=True, slots=True)
class NoPreview:
    """The table state does not determine the effect of an action, or the action is invalid."""

    reason: str


@dataclass(frozen=True, slots=True)
class PlanPreview:
    """What each action of a plan would do to the table at `version`, in the order of the plan.

    It is computed once, when the plan is scheduled, and used by the veto, the forecast, the simulation and
    the list of pending files. The preview of an action ignores what the actions before it do to the table.
    """

    version: str | None
    actions: tuple[Preview | NoPreview, ...]

    @property
    def keys(self) -> frozenset[str]:
        """Of all files that the actions would replace, as far as they are known."""
        previews = [preview for preview in self.actions if isinstance(preview, Preview)]
        data = (file.key for preview in previews for group in preview.groups for file in group.files)
        deletes = (
            file.key for preview in previews for group in preview.delete_groups for file in group.files
        )
        return frozenset((*data, *deletes))


PreviewAction = Callable[[Action, TableState], Preview]  # by the rules of a format; raises ValueError


def try_preview(action: Action, state: TableState, preview_action: PreviewAction) -> Preview | NoPreview:
    try:
        return preview_action(action, state)
    except ValueError as error:
        return NoPreview(str(error))


def preview_plan(plan: Plan, state: TableState, preview_action: PreviewAction) -> PlanPreview:
    previews = (try_preview(action, state, preview_action) for action in plan.actions)
    return PlanPreview(state.version, tuple(previews))
