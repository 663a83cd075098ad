"""Plans: actions with a reason. An engine may veto a plan, but it never adds an action."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

from strategies.state import TableState

_State = TypeVar("_State", bound=TableState)
_NO_OPTIONS: Mapping[str, str] = MappingProxyType({})


class Reason(StrEnum):
    """Why a plan was made. Each comment states the condition that held."""

    SCHEDULED = "scheduled"  # the trigger fired; the planner sets no condition of its own
    SMALL_FILES = "small_files"  # files below the small-file size (Amoro: and equality deletes) >= threshold
    DELETES = "deletes"  # delete files, or the share of deleted rows (Amoro: >), >= threshold
    SIZE = "size"  # bytes waiting to be merged >= threshold
    INTERVAL = "interval"  # time since the last compaction >= interval (Amoro: >)
    COST = "cost"  # expected saving > expected cost
    RETENTION = "retention"  # snapshots older than the retention exist
    MAINTENANCE = "maintenance"  # the scenario's schedule, the same for all strategies; not a compaction
    OTHER = "other"  # a custom rule; the plan's `detail` says which


class Capability(StrEnum):
    """What an engine can do, whatever its format; checked before a run starts.

    Each native command of a format is a capability too, under its name "<format>.<command>".
    """

    COMPACT = "compact"  # compact given partitions, with the engine choosing the files
    REWRITE = "rewrite"  # rewrite exactly the files that a plan names
    SORT = "sort"  # in a rewrite, order the rows of a group by value
    CONVERT = "convert"  # in a rewrite, convert deletes to position deletes and drop delete files
    DELAYED_COMMIT = "delayed_commit"  # commits of the stream may land between the schedule and the commit
    ROW_FILTER = "row_filter"  # restrict a command to files that may hold matching rows
    BRANCH = "branch"  # run a command on a branch other than main
    UPSERT = "upsert"  # commits that update and delete rows by equality deletes; no plan needs it
    MERGE = "merge"  # commits that do so with the format's own MERGE; no plan needs it
    VECTORS = "vectors"  # deleted rows as deletion vectors; no plan needs it


# Arguments of native commands that need a capability beyond the command itself.
_ARGUMENT_NEEDS = {"where": Capability.ROW_FILTER, "branch": Capability.BRANCH}


@dataclass(frozen=True, slots=True)
class Compact:
    """Compact these partitions (None: all) to the target size; the engine chooses the files."""

    partitions: tuple[str, ...] | None = None
    options: Mapping[str, str] = field(default_factory=lambda: _NO_OPTIONS)


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Data files of one partition that one task processes together, in this order; either list may be empty.

    The files of `paths` are replaced. Each file of `convert_paths` stays as it is, and all deletes that apply
    to it are converted to position deletes in one file-scoped delete file. With `sort_columns` the new files
    are sorted in ascending order, within each file and across files; the format's own rule for sorting
    decides how many there are.
    """

    paths: tuple[str, ...]
    partition: str = ""
    convert_paths: tuple[str, ...] = ()
    sort_columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Rewrite exactly these groups into files of at most `target_file_size_bytes`.

    `removed_deletes` are the keys of delete files that are dropped in the same commit. The engine vetoes the
    plan if a data file outside of it still needs one of them.
    """

    groups: tuple[FileGroup, ...]
    target_file_size_bytes: int
    removed_deletes: tuple[str, ...] = ()

    @property
    def converts(self) -> bool:
        """Whether it converts or drops deletes, beyond applying the deletes of the files it replaces."""
        return bool(self.removed_deletes) or any(group.convert_paths for group in self.groups)

    @property
    def keys(self) -> Iterator[str]:
        """Of all files rewritten or converted, and of the delete files dropped."""
        for group in self.groups:
            yield from group.paths
            yield from group.convert_paths
        yield from self.removed_deletes


@dataclass(frozen=True, slots=True)
class Native:
    """A command "<format>.<command>", with the format's own names of `arguments` and `options`.

    Its name is also the capability that an engine needs to run it.
    """

    command: str
    arguments: Mapping[str, str] = field(default_factory=lambda: _NO_OPTIONS)
    options: Mapping[str, str] = field(default_factory=lambda: _NO_OPTIONS)


Action = Compact | Rewrite | Native


def describe_action(action: Action) -> str:
    match action:
        case Compact(partitions=partitions, options=options):
            named = ("all partitions",) if partitions is None else partitions
            return f"compact({', '.join((*named, *_pairs(options)))})"
        case Rewrite():
            return _describe_rewrite(action)
        case Native(command=command, arguments=arguments, options=options):
            return f"{command}({', '.join(_pairs({**arguments, **options}))})"


def _pairs(options: Mapping[str, str]) -> Iterator[str]:
    return (f"{key}={value}" for key, value in options.items())


def _describe_rewrite(action: Rewrite) -> str:
    groups, parts = action.groups, list[str]()
    if groups:
        files = _counted(sum(len(g.paths) for g in groups), "file")
        parts.append(f"{files} in {_counted(len(groups), 'group')}")
    orders = dict.fromkeys(", ".join(g.sort_columns) for g in groups if g.sort_columns)
    parts += [f"sorted by {columns}" for columns in orders]
    converted = sum(len(g.convert_paths) for g in groups)
    if converted:
        parts.append(f"deletes of {_counted(converted, 'file')} converted")
    if action.removed_deletes:
        parts.append(f"{_counted(len(action.removed_deletes), 'delete file')} dropped")
    return f"rewrite({', '.join(parts)})"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


@dataclass(frozen=True, slots=True)
class Plan:
    """Actions in the order they run, the reason, and one line of detail for the records.

    `kind` is the planner's own term for such a plan, such as Amoro's "minor"; "" if it has none.
    """

    actions: tuple[Action, ...]
    reason: Reason
    detail: str = ""
    kind: str = ""


def capabilities_of(plan: Plan) -> frozenset[str]:
    """Members of `Capability` and names of native commands."""
    return frozenset[str]().union(*map(_needs, plan.actions))


def _needs(action: Action) -> frozenset[str]:
    match action:
        case Compact():
            return frozenset({Capability.COMPACT})
        case Rewrite(converts=converts, groups=groups):
            sorts = any(group.sort_columns for group in groups)
            beyond = {Capability.CONVERT: converts, Capability.SORT: sorts}
            return frozenset({Capability.REWRITE, *(need for need, is_needed in beyond.items() if is_needed)})
        case Native(command=command, arguments=arguments):
            narrowed = {_ARGUMENT_NEEDS[name] for name in arguments if name in _ARGUMENT_NEEDS}
            return frozenset({command, *narrowed})


class PlanError(Exception):
    """A planner broke its contract. That is a defect of the planner, not of the user's input."""


def state_as(kind: type[_State], state: TableState) -> _State:
    """The state in its format's own class; PlanError if it belongs to a table of another format."""
    if not isinstance(state, kind):
        raise PlanError(
            f"expected {kind.__name__}, got {type(state).__name__}: the planner is for another table format"
        )
    return state


def check_plan(state: TableState, plan: Plan) -> None:
    """Check the contract that every plan must keep.

    Raises PlanError if the plan has no action, if a rewrite names no file or drops a delete that is not a
    live delete file, or if a group is empty, mixes partitions, or names a file that is not live, belongs to a
    pending plan, or is named twice.
    """
    if not plan.actions:
        raise PlanError("a plan needs at least one action; return None to do nothing")
    for action in plan.actions:
        if isinstance(action, Compact) and action.partitions is not None:
            unknown = [name for name in action.partitions if name not in state.partitions]
            if unknown or not action.partitions:
                raise PlanError(f"partitions {unknown or action.partitions} are not in the table")
    rewrites = [action for action in plan.actions if isinstance(action, Rewrite)]
    if rewrites:
        _check_rewrites(state, rewrites)


def _check_rewrites(state: TableState, rewrites: Sequence[Rewrite]) -> None:
    live = {file.key: file.partition for file in state.data_files}
    drops_deletes = any(action.removed_deletes for action in rewrites)
    deletes = {delete.key for delete in state.delete_files} if drops_deletes else set[str]()
    busy, seen = state.busy, set[str]()
    for action in rewrites:
        if action.target_file_size_bytes <= 0:
            raise PlanError(f"target_file_size_bytes={action.target_file_size_bytes} must be > 0")
        if not action.groups and not action.removed_deletes:
            raise PlanError("a rewrite needs a group or a delete to drop; return None to do nothing")
        for group in action.groups:
            _check_group(group, live, busy, seen)
        for key in action.removed_deletes:
            if key not in deletes:
                raise PlanError(f"{key} is not a live delete file")
            _check_free(key, busy, seen)


def _check_group(group: FileGroup, live: Mapping[str, str], busy: frozenset[str], seen: set[str]) -> None:
    if not group.paths and not group.convert_paths:
        raise PlanError("a file group must not be empty: name files to rewrite or to convert")
    if group.sort_columns and not group.paths:
        raise PlanError(f"sort_columns={group.sort_columns}: the group rewrites no file, so it cannot sort")
    for path in (*group.paths, *group.convert_paths):
        if path not in live:
            raise PlanError(f"{path} is not a live data file")
        if live[path] != group.partition:
            raise PlanError(f"{path} is in partition {live[path]!r}, not {group.partition!r}")
        _check_free(path, busy, seen)


def _check_free(key: str, busy: frozenset[str], seen: set[str]) -> None:
    if key in busy:
        raise PlanError(f"{key} is already being rewritten by a pending plan")
    if key in seen:
        raise PlanError(f"{key} is named twice")
    seen.add(key)
