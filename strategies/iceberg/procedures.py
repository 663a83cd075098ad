"""Planners that run Iceberg's maintenance commands: the planner decides when, the command decides what."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

from strategies.iceberg.commands import Command
from strategies.iceberg.rewrite_options import MAX_SIZE, MIN_SIZE, TARGET_SIZE, check_option_texts
from strategies.options import OptionValue, check_known, option_texts
from strategies.plan import Native, Plan, Reason, capabilities_of
from strategies.planner import Planner, PlannerTraits
from strategies.state import TableState

# Options of RewriteDataFilesSparkAction and its planners at 1.11.0, with their defaults in words.
# `max-file-group-input-files` is left out on purpose: the planner has it, but the action's validOptions() do
# not, so the action rejects it.
_SIZE_OPTIONS = {
    "target-file-size-bytes": "the table's write.target-file-size-bytes",
    "min-file-size-bytes": "75 % of the target",
    "max-file-size-bytes": "180 % of the target",
    "min-input-files": "5",
    "rewrite-all": "false",
    "max-file-group-size-bytes": "100 GiB",
}
_GROUP_OPTIONS = {
    "rewrite-job-order": "none; otherwise bytes-asc, bytes-desc, files-asc or files-desc",
    "partial-progress.enabled": "false",
    "partial-progress.max-commits": "10",
    "max-concurrent-file-group-rewrites": "5",
}
_DATA_OPTIONS = {
    **_SIZE_OPTIONS,
    **_GROUP_OPTIONS,
    "delete-file-threshold": "no limit",
    "delete-ratio-threshold": "0.3",
    "max-files-to-rewrite": "no limit",
    "output-spec-id": "the current partition spec",
    "partial-progress.max-failed-commits": "partial-progress.max-commits",
    "use-starting-sequence-number": "true",
    "remove-dangling-deletes": (
        "false; drops delete files that apply to no live data file; without effect in unpartitioned tables"
    ),
}
_SHUFFLE_OPTIONS = {"shuffle-partitions-per-file": "1; sort only", "compression-factor": "1.0; sort only"}
_ZORDER_OPTIONS = {
    "max-output-size": "2147483647; z-order only",
    "var-length-contribution": "8; z-order only",
}
_PART = re.compile(r"`((?:[^`]|``)+)`|(\w+)")  # a part of a name, with or without backquotes
_NAME = re.compile(  # a column; with `call`, a function such as zorder( or bucket(
    rf"(?P<name>(?:{_PART.pattern})(?:\s*\.\s*(?:{_PART.pattern}))*)(?P<call>\s*\()?"
)
_ORDER_WORDS = frozenset({"asc", "desc", "nulls", "first", "last"})


@dataclass(frozen=True, slots=True)
class RewriteDataFiles(Planner):
    """Run `rewrite_data_files`, which merges small files, splits large ones and can sort their rows.

    `strategy` is binpack or sort; a `sort_order` of "zorder(a, b)" z-orders. `where` restricts the command to
    files that may hold matching rows, and with `branch` it rewrites that branch instead of main. `options`
    have Iceberg's names and defaults; those ending in "-bytes" also accept sizes such as "128MiB".
    """

    strategy: str = "binpack"
    sort_order: str | None = None
    where: str | None = None
    branch: str | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    known_options: ClassVar[Mapping[str, str]] = {**_DATA_OPTIONS, **_SHUFFLE_OPTIONS, **_ZORDER_OPTIONS}

    def __post_init__(self) -> None:
        if self.strategy not in ("binpack", "sort"):
            raise ValueError(f"strategy={self.strategy!r} must be binpack or sort")
        if self.sort_order and self.strategy != "sort":
            raise ValueError(
                f'sort_order={self.sort_order!r} requires strategy = "sort", not {self.strategy!r}'
            )
        allowed = _DATA_OPTIONS | (_SHUFFLE_OPTIONS if self.strategy == "sort" else {})
        if (self.sort_order or "").lower().lstrip().startswith("zorder"):
            allowed = allowed | _ZORDER_OPTIONS
        check_known(self.options, allowed)
        _check_options(self.options)

    def traits(self) -> PlannerTraits:
        needs = capabilities_of(self._plan())  # `where` and `branch` need capabilities of their own
        return PlannerTraits(needs=needs, columns=self._columns(), reads_state=False)

    def _columns(self) -> tuple[str, ...]:
        """The columns that `sort_order` names, as it spells them; fields of structs by their full names.

        The command is case-sensitive too (SortOrder.Builder, SparkZOrderFileRewriteRunner.zValue).
        """
        names = (match["name"] for match in _NAME.finditer(self.sort_order or "") if not match["call"])
        return tuple(_unquoted(name) for name in names if not _is_word(name))

    def decide(self, state: TableState) -> Plan | None:
        return self._plan()

    def _plan(self) -> Plan:
        values = {name: getattr(self, name) for name in ("strategy", "sort_order", "where", "branch")}
        arguments = {name: value for name, value in values.items() if value is not None}
        return _scheduled(Native(Command.REWRITE_DATA_FILES, arguments, option_texts(self.options)))


@dataclass(frozen=True, slots=True)
class RewritePositionDeleteFiles(Planner):
    """Run `rewrite_position_delete_files`, which merges position delete files and drops dangling deletes.

    A delete is dangling if its data file is no longer live.

    `where` restricts the command to files that may hold matching rows. `options` have Iceberg's names and
    defaults; those ending in "-bytes" also accept sizes such as "128MiB".
    """

    where: str | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    known_options: ClassVar[Mapping[str, str]] = {**_SIZE_OPTIONS, **_GROUP_OPTIONS}

    def __post_init__(self) -> None:
        check_known(self.options, self.known_options)
        _check_options(self.options)

    def traits(self) -> PlannerTraits:
        return PlannerTraits(needs=frozenset({Command.REWRITE_POSITION_DELETE_FILES}), reads_state=False)

    def decide(self, state: TableState) -> Plan | None:
        arguments = {"where": self.where} if self.where is not None else {}
        command = Command.REWRITE_POSITION_DELETE_FILES
        return _scheduled(Native(command, arguments, option_texts(self.options)))


@dataclass(frozen=True, slots=True)
class RewriteManifests(Planner):
    """Run `rewrite_manifests`, which clusters manifest entries by partition and rewrites no data file."""

    def traits(self) -> PlannerTraits:
        return PlannerTraits(needs=frozenset({Command.REWRITE_MANIFESTS}), reads_state=False)

    def decide(self, state: TableState) -> Plan | None:
        return _scheduled(Native(Command.REWRITE_MANIFESTS, {"use_caching": "false"}))


@dataclass(frozen=True, slots=True)
class ExpireSnapshots(Planner):
    """Run `expire_snapshots`, which drops snapshots older than `retain_ms` of scenario time, and their files.

    The newest `retain_last` snapshots are always retained. Iceberg's default maximum age is 5 days
    (history.expire.max-snapshot-age-ms), longer than most scenarios.
    """

    retain_ms: int = 5 * 86_400_000
    retain_last: int = 1

    def __post_init__(self) -> None:
        if not self.retain_ms >= 0:
            raise ValueError(f"retain_ms={self.retain_ms} must be >= 0")
        if self.retain_last < 1:
            raise ValueError(f"retain_last={self.retain_last} must be >= 1: the current snapshot is kept")

    def traits(self) -> PlannerTraits:
        return PlannerTraits(needs=frozenset({Command.EXPIRE_SNAPSHOTS}), reads_state=False)

    def decide(self, state: TableState) -> Plan | None:
        keep_from_ms = state.observed_at_ms - self.retain_ms
        if keep_from_ms <= 0:
            return None
        arguments = {"older_than_at_ms": str(keep_from_ms), "retain_last": str(self.retain_last)}
        return Plan((Native(Command.EXPIRE_SNAPSHOTS, arguments),), Reason.RETENTION)


def _is_word(name: str) -> bool:
    """Whether a name in a sort order is a keyword, or the number of buckets or characters of a transform."""
    return name.lower() in _ORDER_WORDS or name.isdecimal()


def _unquoted(name: str) -> str:
    """The name without backquotes (a doubled one stands for itself) and without blanks around dots."""
    parts = _PART.findall(name)
    return ".".join(quoted.replace("``", "`") or plain for quoted, plain in parts)


def _scheduled(action: Native) -> Plan:
    return Plan((action,), Reason.SCHEDULED)


def _check_options(options: Mapping[str, OptionValue]) -> None:
    """Raise ValueError on options that Iceberg would reject: unparsable text and values out of range.

    Of the sizes min < target < max, the ones that are set are compared (SizeBasedFileRewritePlanner.init).
    """
    texts = option_texts(options)
    check_option_texts(texts)
    sizes = [(size.name, size.read_if_given(texts)) for size in (MIN_SIZE, TARGET_SIZE, MAX_SIZE)]
    order = [(name, size_bytes) for name, size_bytes in sizes if size_bytes is not None]
    for (low_name, low_bytes), (high_name, high_bytes) in pairwise(order):
        if low_bytes >= high_bytes:
            raise ValueError(
                f"{low_name}={low_bytes} must be below {high_name}={high_bytes}: otherwise the next run "
                "rewrites every file that this one wrote"
            )
