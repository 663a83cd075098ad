"""Tables for the Amoro planner in round numbers: target 128 bytes, fragments to 16, undersized to 96.

These are Amoro's defaults with a byte for each MiB, and a file's opening costs 4.
"""

from collections.abc import Mapping
from itertools import count
from typing import Any

from strategies.amoro.options import Settings, read_settings
from strategies.amoro.planner import Amoro
from strategies.iceberg.files import DeleteKind, IcebergDataFile, IcebergDeleteFile, IcebergState
from strategies.options import OptionValue
from strategies.plan import Plan, Rewrite
from strategies.state import CompactionSeen

NOW_MS = 7_200_000
_SMALL: Mapping[str, OptionValue] = {
    "self-optimizing.target-size": 128,
    "self-optimizing.max-task-size-bytes": 128,
    "self-optimizing.minor.trigger.interval": -1,  # a new table's minor clock is due at once
    "read.split.open-file-cost": 4,
}
_NUMBERS = count()


def options(given: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """Options in bytes; `given` win, without Amoro's prefix."""
    own = {key if key.startswith("read.") else f"self-optimizing.{key}": given[key] for key in given}
    return {**_SMALL, **own}


def settings(**given: OptionValue) -> Settings:
    """Settings by their keys, `_` for `-` and `__` for a dot."""
    return read_settings(options({_key(name): value for name, value in given.items()}))


def amoro(threads: int = 1, budget: int = 512, partitions: int = 100, **given: OptionValue) -> Amoro:
    """A planner; options as for `settings`."""
    own = options({_key(name): value for name, value in given.items()})
    return Amoro(own, threads, budget, partitions)


def _key(name: str) -> str:
    return name.replace("__", ".").replace("_", "-")


def data(
    path: str, size: int, partition: str = "", rows: int = 100, at: int = 1, spec: int = 0
) -> IcebergDataFile:
    """A data file of sequence number `at`."""
    return IcebergDataFile(path, size, rows, partition, at, spec)


def files(*sizes: int, partition: str = "", prefix: str = "f") -> list[IcebergDataFile]:
    """Data files f00, f01, ... of these sizes."""
    return [data(f"{partition}{prefix}{n:02}", size, partition) for n, size in enumerate(sizes)]


def equality(path: str, partition: str = "", rows: int = 5, at: int = 2, size: int = 3) -> IcebergDeleteFile:
    """An equality delete file; without a partition it applies to all of them."""
    return IcebergDeleteFile(path, size, rows, partition, at, kind=DeleteKind.EQUALITY)


def position(
    path: str, of: str | None = None, partition: str = "", rows: int = 5, at: int = 2, size: int = 3
) -> IcebergDeleteFile:
    """A position delete file, of one data file or of its whole partition."""
    return IcebergDeleteFile(path, size, rows, partition, at, 0, of, kind=DeleteKind.POSITION)


def table(
    *found: Any, at_ms: int = NOW_MS, ran: tuple[CompactionSeen, ...] = (), **more: Any
) -> IcebergState:
    """A state of data and delete files, lists of them flattened."""
    flat = [file for item in found for file in (item if isinstance(item, list) else [item])]
    return IcebergState(
        at_ms, 128,
        data_files=tuple(f for f in flat if isinstance(f, IcebergDataFile)),
        delete_files=tuple(f for f in flat if isinstance(f, IcebergDeleteFile)),
        compactions=ran,
        **more,
    )  # fmt: skip


def ran(kind: str, at_ms: int, status: str = "ok", ended_at_ms: int | None = None) -> CompactionSeen:
    """A process planned at `at_ms`."""
    ended_at_ms = at_ms if ended_at_ms is None else ended_at_ms
    return CompactionSeen(ended_at_ms, status, "other", 2, 1, 2, 2, 1.0, 1.0, kind, at_ms)


def tasks(plan: Plan | None) -> list[tuple[list[str], list[str]]] | None:
    """The plan's tasks: files rewritten, files converted."""
    if plan is None:
        return None
    return [(list(group.paths), list(group.convert_paths)) for group in rewrite_of(plan).groups]


def rewrite_of(plan: Plan) -> Rewrite:
    """The plan's one action."""
    (action,) = plan.actions
    assert isinstance(action, Rewrite)
    return action


def applied(state: IcebergState, plan: Plan, target: int = 128, at_ms: int | None = None) -> IcebergState:
    """The table of a plan without deletes carried out: each task into full targets and a rest.

    Below the target a task writes one file whatever the estimate.
    """
    gone = {path for group in rewrite_of(plan).groups for path in group.paths}
    sizes = {file.path: file.size_bytes for file in state.data_files}
    made = []
    for group in rewrite_of(plan).groups:
        whole, rest = divmod(sum(sizes[path] for path in group.paths), target)
        for size in [target] * whole + [rest] * (rest > 0):
            made.append(data(f"{group.partition}made{next(_NUMBERS):06}", size, group.partition))
    kept = [file for file in state.data_files if file.path not in gone]
    now_ms = state.observed_at_ms if at_ms is None else at_ms
    seen = (*state.compactions, ran(plan.kind, state.observed_at_ms))
    return table(kept, made, at_ms=now_ms, ran=seen)
