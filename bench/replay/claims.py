"""What several compactors of one table are about to replace: no two of them take the same files.

A rewrite that names its files claims these. Any other command chooses its files when it runs, so it claims
the partitions that it is restricted to, or else the whole table; one on metadata alone claims nothing.
"""

import fcntl
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from bench.results.records import RoleId
from strategies.plan import Action, Compact, FileGroup, Native, Plan, Rewrite
from strategies.state import DataFile, DeleteFile, PendingPlan, TableState


@dataclass(frozen=True, slots=True)
class Claim:
    """Files by their keys, all files of partitions, or the whole table.

    `places` are the partitions that the data files of `files` are in.
    """

    files: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    partitions: frozenset[str] = frozenset()
    is_of_table: bool = False

    def __bool__(self) -> bool:
        return bool(self.files or self.partitions or self.is_of_table)

    def __or__(self, other: "Claim") -> "Claim":
        return Claim(
            self.files | other.files,
            self.places | other.places,
            self.partitions | other.partitions,
            self.is_of_table or other.is_of_table,
        )

    def overlaps(self, other: "Claim") -> bool:
        if not (self and other):
            return False
        return bool(
            self.is_of_table
            or other.is_of_table
            or self.files & other.files
            or self.partitions & (other.partitions | other.places)
            or self.places & other.partitions
        )

    def keys_in(self, state: TableState) -> frozenset[str]:
        """The keys of all files of a table that it covers."""
        if not (self.partitions or self.is_of_table):
            return self.files
        files: tuple[DataFile | DeleteFile, ...] = (*state.data_files, *state.delete_files)
        covered = (file.key for file in files if self.is_of_table or file.partition in self.partitions)
        return self.files.union(covered)


def claim_of(actions: Iterable[Action], metadata_commands: Collection[str]) -> Claim:
    """What actions may replace; `metadata_commands` are those that write no data or delete file."""
    claim = Claim()
    for action in actions:
        claim |= _claim_of(action, metadata_commands)
    return claim


def _claim_of(action: Action, metadata_commands: Collection[str]) -> Claim:
    match action:
        case Rewrite(groups=groups):
            return Claim(frozenset(action.keys), frozenset(group.partition for group in groups))
        case Compact(partitions=partitions) if partitions is not None and "" not in partitions:
            return Claim(partitions=frozenset(partitions))
        case Native(command=command) if command in metadata_commands:
            return Claim()
    return Claim(is_of_table=True)


def free_part(plan: Plan, taken: Claim, metadata_commands: Collection[str]) -> Plan | None:
    """The plan without what others have claimed; None if it would then replace nothing.

    A group of files is left out as a whole: what remains of it may not be worth a rewrite.
    """
    if not claim_of(plan.actions, metadata_commands).overlaps(taken):
        return plan
    parts = (_free_part(action, taken, metadata_commands) for action in plan.actions)
    actions = tuple(action for action in parts if action is not None)
    return replace(plan, actions=actions) if claim_of(actions, metadata_commands) else None


def _free_part(action: Action, taken: Claim, metadata_commands: Collection[str]) -> Action | None:
    match action:
        case Rewrite():
            return _free_groups(action, taken)
        case Compact(partitions=partitions) if partitions is not None:
            free = tuple(name for name in partitions if not _claim_of(Compact((name,)), ()).overlaps(taken))
            return replace(action, partitions=free) if free else None
    return None if _claim_of(action, metadata_commands).overlaps(taken) else action


def _free_groups(rewrite: Rewrite, taken: Claim) -> Rewrite | None:
    """It drops delete files only if all of it is free: a group that is left out may still need them."""
    groups = tuple(group for group in rewrite.groups if not _claim_of_group(group).overlaps(taken))
    deletes = Claim(frozenset(rewrite.removed_deletes))
    is_whole = len(groups) == len(rewrite.groups) and not deletes.overlaps(taken)
    left = rewrite if is_whole else replace(rewrite, groups=groups, removed_deletes=())
    return left if left.groups or left.removed_deletes else None


def _claim_of_group(group: FileGroup) -> Claim:
    return Claim(frozenset((*group.paths, *group.convert_paths)), frozenset({group.partition}))


@dataclass(frozen=True, slots=True)
class Pending:
    """The claim of a plan that a role has begun to execute, at a moment of scenario time."""

    role: RoleId
    at_ms: int
    reason: str
    claim: Claim

    def seen_in(self, state: TableState) -> PendingPlan:
        """As planners see it."""
        return PendingPlan(self.at_ms, self.at_ms, self.reason, self.claim.keys_in(state), self.role)


_PENDING: TypeAdapter[Pending] = TypeAdapter(Pending)


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of the compactors of a run, one each, in a folder that they share.

    A claim ends with `release`. That of a process that dies stays, since its run has failed then.
    """

    folder: Path
    role: RoleId
    metadata_commands: Collection[str]

    def take(self, plan: Plan, at_ms: int) -> Plan | None:
        """Claim what of a plan is free, and return that part; None if nothing of it is."""
        with self._alone():
            taken = Claim()
            for pending in self._others():
                taken |= pending.claim
            free = free_part(plan, taken, self.metadata_commands)
            if free is not None:
                claim = claim_of(free.actions, self.metadata_commands)
                pending = Pending(self.role, at_ms, free.reason, claim)
                self._file(self.role).write_bytes(_PENDING.dump_json(pending))
            return free

    def release(self) -> None:
        with self._alone():
            self._file(self.role).unlink(missing_ok=True)

    def others(self) -> tuple[Pending, ...]:
        """The pending plans of the other compactors."""
        with self._alone():
            return tuple(self._others())

    def _others(self) -> Iterator[Pending]:
        own = self._file(self.role)
        for file in sorted(self.folder.glob("claim-*")):
            if file != own:
                yield _PENDING.validate_json(file.read_bytes())

    def _file(self, role: RoleId) -> Path:
        return self.folder / f"claim-{role}"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While the block runs, no other process, and no other thread, reads or changes claims."""
        with (self.folder / "claims.lock").open("wb") as lock:  # closing it, or dying, gives it back
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
