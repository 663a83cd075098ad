"""Which commits to a simulated Hudi table lose to its table services.

By default a commit does that changes file groups of a pending clustering: at once if it updates rows of them,
and at its end if the clustering was planned while it was written. It also loses to a log compaction of its
file groups that ends before it does. Where the writer is preferred, the clustering loses instead
(`Services.execute`).

Source: SparkRejectUpdateStrategy, SimpleConcurrentFileWritesConflictResolutionStrategy
(getCandidateInstantsV8AndAbove, resolveConflict) and PreferWriterConflictResolutionStrategy of Hudi 1.2.0.
"""

from collections.abc import Mapping, Set

from bench.engines.hudi.ledger import HudiLedger
from bench.engines.hudi.model.commits import Writer
from bench.engines.hudi.model.services import Scheduled
from bench.engines.hudi.table_keys import prefers_writer
from bench.engines.simulated.model import LostCommit
from bench.results.values import Change, CommitWork
from strategies.hudi.commands import Command
from strategies.hudi.files import FileGroupId
from workloads.commit import CommitSpec

_AT_ONCE = "HoodieClusteringUpdateException: a clustering of its file groups is pending"
_AT_THE_END = "Cannot resolve conflicts for overlapping writes"


class Conflicts:
    def __init__(self, ledger: HudiLedger, writer: Writer, properties: Mapping[str, str]) -> None:
        self._ledger, self._writer = ledger, writer
        self._lets_clustering_win = not prefers_writer(properties)
        self._packed: Set[FileGroupId] = frozenset()  # the groups that get new rows of the commit begun

    def begin(self, spec: CommitSpec) -> LostCommit | None:
        self._packed = self._writer.packed_groups(spec)
        groups = self._clustered
        if not groups or groups.isdisjoint(self._writer.changed_groups(spec)):
            return None
        return LostCommit(_AT_ONCE, Change(), self._work(spec))

    def lost(self, spec: CommitSpec, staged: Scheduled) -> LostCommit | None:
        if staged.command is Command.LOG_COMPACTION or (
            staged.command is Command.CLUSTERING and self._lets_clustering_win
        ):
            return self._at_the_end(spec, frozenset(merged.group for merged in staged.slices))
        return None

    def overtaken(self, spec: CommitSpec) -> LostCommit | None:
        return self._at_the_end(spec, self._clustered)

    @property
    def _clustered(self) -> Set[FileGroupId]:
        """The groups of pending clusterings that win."""
        pending = self._ledger.pending_groups if self._lets_clustering_win else {}
        return pending.get(Command.CLUSTERING, frozenset())

    def _at_the_end(self, spec: CommitSpec, groups: Set[FileGroupId]) -> LostCommit | None:
        if not groups:
            return None
        changed = self._writer.changed_groups(spec) | self._packed
        if groups.isdisjoint(changed):
            return None
        return LostCommit(_AT_THE_END, self._writer.expected_change(spec, changed), self._work(spec))

    def _work(self, spec: CommitSpec) -> CommitWork:
        return CommitWork(len(spec.partitions), looked_up_files_count=self._writer.looked_up_count(spec))
