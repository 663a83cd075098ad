"""Tables for the comparison with Hudi's planners: random writes and table services, some of them pending."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hudi_folders import PROPERTIES, HudiFolder, minute
from hypothesis import strategies as st

from strategies.hudi.clustering_plan import (
    GROUP_BYTES,
    GROUPS_MAX,
    SINGLE_GROUPS,
    SMALL_FILE_LIMIT,
    TARGET_BYTES,
)
from strategies.hudi.commands import Command
from strategies.hudi.incremental import INCREMENTAL
from strategies.hudi.log_compaction_plan import BLOCKS_MIN

SERVICES = (Command.LOG_COMPACTION, Command.CLUSTERING, Command.COMPACTION)
_ACTIONS = {
    Command.COMPACTION: "compaction", Command.LOG_COMPACTION: "logcompaction",
    Command.CLUSTERING: "clustering",
}  # fmt: skip
_GROUPS_COUNT = 6
_LAST_MINUTE = 58


@dataclass(frozen=True)
class Step:
    """A write (`service` is None) or a table service of file groups; if pending, it does not complete."""

    service: Command | None
    groups: frozenset[int]
    is_pending: bool = False


@dataclass(frozen=True)
class ServiceCase:
    """The steps of a table, and the service to plan; 0 partitions make an unpartitioned table."""

    partitions_count: int
    steps: tuple[Step, ...]
    service: Command
    options: Mapping[str, str]

    def build(self, path: Path) -> HudiFolder:
        return _Builder(path, self.partitions_count).built(self.steps)

    @property
    def planned_at(self) -> str:
        return minute(_LAST_MINUTE)


@dataclass
class _Group:
    partition: str
    has_base: bool = False
    logs_count: int = 0
    pending: set[Command] = field(default_factory=set)


class _Builder:
    """Writes steps, without file groups for which Hudi would not have planned the service."""

    def __init__(self, path, partitions_count):
        properties = {**PROPERTIES, "hoodie.timeline.layout.version": "2"}
        if not partitions_count:
            del properties["hoodie.table.partition.fields"]
        self._folder = HudiFolder(path, properties)
        self._partitions = [f"p{number}" for number in range(partitions_count)] or [""]
        self._groups = {}
        self._at, self._numbers = 0, 0

    def built(self, steps):
        for step in steps:
            names = [self._name(number) for number in sorted(step.groups)]
            self._write(names, step.is_pending) if step.service is None else self._serve(step, names)
            self._at += 2
        assert self._at < _LAST_MINUTE
        return self._folder

    def _name(self, number):
        partition = self._partitions[number % len(self._partitions)]
        name = f"f{number}"
        self._groups.setdefault(name, _Group(partition))
        return name

    def _write(self, names, is_pending):
        paths = []
        for name in names:
            group = self._groups[name]
            is_new = not group.has_base and not group.logs_count
            if group.partition is None or (is_new and is_pending):  # clustered, or nothing to read it with
                continue
            begins_with_base = is_new and name != "f0"
            paths.append(self._base(name) if begins_with_base else self._log(name, is_pending))
        if is_pending:
            for state in ("requested", "inflight"):
                (self._folder.timeline / f"{minute(self._at)}.deltacommit.{state}").touch()
        elif paths:
            self._folder.commit(self._at, *paths)

    def _serve(self, step, names):
        free = [name for name in names if self._may_plan(step.service, self._groups[name])]
        if not free:
            return
        planned = [(self._groups[name].partition, name) for name in free]
        self._folder.plan(self._at, *planned, service=_ACTIONS[step.service])
        if step.is_pending:
            for name in free:
                self._groups[name].pending.add(step.service)
        elif step.service is Command.LOG_COMPACTION:
            paths = [self._log(name) for name in free]
            self._folder.commit(self._at, *paths, operation="LOG_COMPACT")
        elif step.service is Command.COMPACTION:
            for name in free:
                self._groups[name].logs_count = 0
            paths = [self._base(name) for name in free]
            self._folder.commit(self._at, *paths, action="commit", operation="COMPACT")
        else:
            self._cluster(free, planned)

    def _may_plan(self, service, group):
        if group.partition is None:
            return False
        if service is Command.CLUSTERING:
            return not group.pending and (group.has_base or group.logs_count > 0)
        busy = group.pending - ({Command.LOG_COMPACTION} if service is Command.COMPACTION else set())
        return not busy and group.logs_count > 0

    def _cluster(self, names, planned):
        replaced = {}
        for partition, name in planned:
            replaced.setdefault(partition, []).append(name)
        made = []
        for partition in replaced:
            name = f"c{self._at}{partition}"
            self._groups[name] = _Group(partition)
            made.append(self._base(name))
        for name in names:
            self._groups[name].partition = None
        operation = {"action": "replacecommit", "operation": "CLUSTER", "replaced": replaced}
        self._folder.commit(self._at, *made, **operation)

    def _base(self, name):
        """All base files have different sizes."""
        self._groups[name].has_base = True
        self._numbers += 1
        size_bytes = 20 + (37 * self._numbers) % 101
        return self._folder.base(self._at, name, self._groups[name].partition, size_bytes)

    def _log(self, name, is_pending=False):
        self._groups[name].logs_count += not is_pending
        return self._folder.log(self._at, name, self._groups[name].partition, size_bytes=0)


@st.composite
def service_cases(draw, service):
    """Tables of 2 to 16 steps after a first write."""
    groups = st.frozensets(st.integers(0, _GROUPS_COUNT - 1), min_size=1)
    writes = st.builds(Step, st.none(), groups, st.sampled_from([False] * 9 + [True]))
    often = () if service is Command.CLUSTERING else (Command.LOG_COMPACTION,) * 2
    before = st.sampled_from((*often, *SERVICES))
    services = st.builds(Step, before, groups, st.sampled_from([False, False, True]))
    steps = draw(st.lists(st.one_of(writes, writes, services), min_size=2, max_size=16))
    return ServiceCase(
        draw(st.integers(0, 3)), (Step(None, draw(groups)), *steps), service, draw(_options(service))
    )


@st.composite
def _options(draw, service):
    if service is Command.LOG_COMPACTION:
        return {BLOCKS_MIN: str(draw(st.integers(1, 4)))}
    options = {INCREMENTAL: draw(st.sampled_from(("true", "false")))}
    if service is Command.CLUSTERING:
        options |= {
            SMALL_FILE_LIMIT: str(draw(st.integers(50, 150))),
            TARGET_BYTES: str(draw(st.integers(30, 200))),
            GROUP_BYTES: str(draw(st.integers(30, 200))),
            GROUPS_MAX: str(draw(st.integers(1, 3))),
            SINGLE_GROUPS: draw(st.sampled_from(("true", "false"))),
        }
    return options
