"""Which commits to a simulated Hudi table lose to its table services.

Whoever commits does, unless `prefers_writer` holds: a commit that changes file groups of a pending clustering
is refused at once if it updates rows of them, and loses at its end if the clustering was planned meanwhile.
It also loses to a log compaction of these groups that ends before it does.

Source: SparkRejectUpdateStrategy, SimpleConcurrentFileWritesConflictResolutionStrategy
(getCandidateInstantsV8AndAbove, resolveConflict) and PreferWriterConflictResolutionStrategy of Hudi 1.2.0.
"""

from collections.abc import Set

from bench.engines.hudi.ledger import HudiLedger
from bench.engines.hudi.model.commits import Writer
from bench.engines.hudi.model.services import Scheduled
from bench.engines.simulated.model import LostCommit
from bench.results.values import Change, CommitWork
from strategies.hudi.commands import Command
from strategies.hudi.files import FileGroupId
from workloads.commit import CommitSpec

_AT_ONCE = "HoodieClusteringUpdateException: a clustering of its file groups is pending"
_AT_THE_END = "Cannot resolve conflicts for overlapping writes"
_WINNERS = frozenset({Command.CLUSTERING, Command.LOG_COMPACTION})


class Conflicts:
    def __init__(self, ledger: HudiLedger, writer: Writer) -> None:
        self._ledger, self._writer = ledger, writer

    def lost(self, spec: CommitSpec, command: Command, staged: Scheduled) -> LostCommit | None:
        """What a commit will have lost if a service ends before it does."""
        if command not in _WINNERS:
            return None
        return self._at_the_end(spec, frozenset(merged.group for merged in staged.slices))

    def refused(self, spec: CommitSpec, *, is_written: bool) -> LostCommit | None:
        """What a commit loses that begins or, once it is written, ends while a clustering is pending."""
        pending = self._ledger.pending_groups.get(Command.CLUSTERING, frozenset())
        if is_written:
            return self._at_the_end(spec, pending)
        if not pending or pending.isdisjoint(self._writer.changed_groups(spec)):
            return None
        return LostCommit(_AT_ONCE, Change(), self._work(spec))

    def _at_the_end(self, spec: CommitSpec, groups: Set[FileGroupId]) -> LostCommit | None:
        changed = self._writer.changed_groups(spec) if groups else frozenset()
        if groups.isdisjoint(changed):
            return None
        return LostCommit(_AT_THE_END, self._writer.expected_change(spec, changed), self._work(spec))

    def _work(self, spec: CommitSpec) -> CommitWork:
        return CommitWork(len(spec.partitions), looked_up_files_count=self._writer.looked_up_count(spec))
