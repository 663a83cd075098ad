"""What an action would do to the files of a table, as plain values."""

from collections.abc import Callable
from dataclasses import dataclass

from strategies.plan import Action, Plan
from strategies.state import DataFile, DeleteFile, TableState


class PreviewError(ValueError):
    """The action depends on something a table state does not tell, such as a row filter."""


@dataclass(frozen=True, slots=True)
class ScanTaskGroup:
    """What one task of the rewriting engine reads; it writes one file.

    `input_bytes` are of data files alone. `rows` are physical, those of a split file in proportion.
    """

    input_bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class RewriteGroup:
    """Data files of one partition rewritten together, in planning order.

    `expected_output_files` is the planner's own figure; how many files come out is the number of
    `tasks`. `delete_files_count` and `delete_bytes` count each delete file once per data file it
    applies to. Files of an older partition spec share the partition "", whatever theirs.
    """

    partition: str
    files: tuple[DataFile, ...]
    input_bytes: int
    delete_files_count: int
    delete_bytes: int
    split_bytes: int
    max_output_file_bytes: int
    expected_output_files: int
    tasks: tuple[ScanTaskGroup, ...]


@dataclass(frozen=True, slots=True)
class DeleteGroup:
    """Position delete files of one partition rewritten together, in planning order.

    `partition` is that of the first; others may be of another spec with the same values.
    `expected_output_files` is the planner's own figure. How many come out depends on the rows: without
    `write.delete.granularity` Spark writes one for each data file they name.
    """

    partition: str
    files: tuple[DeleteFile, ...]
    input_bytes: int
    split_bytes: int
    max_output_file_bytes: int
    expected_output_files: int


@dataclass(frozen=True, slots=True)
class Preview:
    """The groups in the order they run, of data files or of delete files.

    `planned_groups_count` includes those a limit cut off. `dropped_bytes` are those of delete files that an
    explicit rewrite names to be dropped in the same commit.
    """

    groups: tuple[RewriteGroup, ...]
    planned_groups_count: int
    delete_groups: tuple[DeleteGroup, ...] = ()
    dropped_bytes: int = 0

    @property
    def files_removed_count(self) -> int:
        """Data files that would be replaced."""
        return sum(len(group.files) for group in self.groups)

    @property
    def files_added_count(self) -> int:
        """Data files that would take their place."""
        return sum(len(group.tasks) for group in self.groups)

    @property
    def replaced_bytes(self) -> int:
        """Bytes of the data files that would be replaced."""
        return sum(group.input_bytes for group in self.groups)


@dataclass(frozen=True, slots=True)
class NoPreview:
    """An action whose effect cannot be worked out, and why: the state does not tell, or it is at fault."""

    reason: str


@dataclass(frozen=True, slots=True)
class PlanPreview:
    """What each action of a plan would do to the table at `version`, in the order of the plan.

    Made once, when the plan is scheduled. The veto, the forecast, a simulation and what counts as pending all
    rest on it. Of several actions the later ones meet a table that the earlier ones have changed.
    """

    version: str | None
    actions: tuple[Preview | NoPreview, ...]

    @property
    def keys(self) -> frozenset[str]:
        """Every file that the actions would replace, as far as that is known."""
        known = [each for each in self.actions if isinstance(each, Preview)]
        data = (file.key for each in known for group in each.groups for file in group.files)
        deletes = (file.key for each in known for group in each.delete_groups for file in group.files)
        return frozenset((*data, *deletes))


PreviewAction = Callable[[Action, TableState], Preview]  # a format's own rules; raises ValueError


def try_preview(action: Action, state: TableState, preview_action: PreviewAction) -> Preview | NoPreview:
    """What an action would do by a format's rules, or why that is not known."""
    try:
        return preview_action(action, state)
    except ValueError as error:
        return NoPreview(str(error))


def preview_plan(plan: Plan, state: TableState, preview_action: PreviewAction) -> PlanPreview:
    """The preview of every action of a plan for one state."""
    return PlanPreview(
        state.version, tuple(try_preview(action, state, preview_action) for action in plan.actions)
    )
