"""The timeline of a simulated Hudi table."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, replace

from bench.engines.hudi.ledger import HudiLedger
from bench.engines.hudi.model.coefficients import Timeline as Sizes
from bench.engines.ledger import HISTORY_LIMIT
from strategies.hudi.files import Action, Instant
from strategies.hudi.triggers import DEFAULT_COMMITS

FILES_PER_INSTANT = 3  # requested, inflight and completed


@dataclass(frozen=True, slots=True)
class Entry:
    number: int
    size_bytes: int
    files_count: int


@dataclass(frozen=True, slots=True)
class _Completed:
    action: Action
    size_bytes: int


class Timeline:
    """Instants are numbered in the order of requests. The ledger has the latest ones."""

    def __init__(self, sizes: Sizes, ledger: HudiLedger) -> None:
        self._sizes, self._ledger = sizes, ledger
        self._next = 1
        self._completed: dict[int, _Completed] = {}  # write actions by their numbers, in order of completion
        self._instants: dict[int, Instant] = {}
        self._last_compaction = 0  # the last to complete
        self.storage_bytes = 0

    def create(self) -> None:
        self.storage_bytes += self._sizes.table_bytes

    @property
    def active_count(self) -> int:
        """Completed instants that are not archived."""
        return len(self._completed)

    def request(
        self,
        action: Action,
        at_ms: int,
        missing_partitions: tuple[str, ...] | None = None,
        *,
        is_log_compaction: bool = False,
    ) -> int:
        """Returns the number of the instant. The bytes of its plan count when it completes."""
        number = self._next
        self._next += 1
        requested = Instant(
            action, at_ms, None, missing_partitions=missing_partitions, is_log_compaction=is_log_compaction
        )
        self._keep(number, requested)
        return number

    def complete(
        self, number: int, at_ms: int, files_count: int, partitions: Iterable[str], slices_count: int = 0
    ) -> Entry:
        """Complete an instant that wrote `files_count` files, by a plan for `slices_count` file slices."""
        done = replace(self._instants[number], completed_at_ms=at_ms, partitions=frozenset(partitions))
        self._keep(number, done)
        if done.action is Action.COMMIT:
            self._last_compaction = number
        sizes = self._sizes
        size_bytes = (
            sizes.instant_bytes
            + sizes.bytes_per_file * files_count
            + sizes.plan_bytes_per_slice * slices_count
        )
        self.storage_bytes += size_bytes
        self._completed[number] = _Completed(done.action, size_bytes)
        return Entry(number, size_bytes, FILES_PER_INSTANT)

    def drop(self, number: int) -> None:
        """Roll back a pending instant with its plan."""
        del self._instants[number]
        self._publish()

    def has_compaction_after(self, number: int) -> bool:
        """Whether a compaction of a MERGE_ON_READ table, completed or not, was requested after an instant."""
        return any(
            later > number and instant.action is Action.COMMIT for later, instant in self._instants.items()
        )

    def service(self) -> Entry:
        """The instant of a maintenance action, which makes no version that readers see."""
        number = self._next
        self._next += 1
        self.storage_bytes += self._sizes.instant_bytes
        return Entry(number, self._sizes.instant_bytes, FILES_PER_INSTANT)

    def earliest_of(self, retained_count: int) -> int | None:
        """The first of the last `retained_count` completed writes; None if there are no more than these."""
        if len(self._completed) <= retained_count:
            return None
        return heapq.nlargest(retained_count, self._completed)[-1]

    def archive(self, min_count: int, max_count: int) -> int:
        """If there are more than `max_count` completed instants, keep `min_count`; returns the number moved.

        Instants since the last compaction stay, or without one the last five, because triggers read them
        (CompactionUtils.getEarliestInstantToRetainForCompaction of Hudi 1.2.0).
        """
        if len(self._completed) <= max_count:
            return 0
        numbers = sorted(self._completed)
        compactions = [number for number in numbers if self._completed[number].action is Action.COMMIT]
        needed_from = compactions[-1] if compactions else numbers[-DEFAULT_COMMITS:][0]
        oldest = numbers[: len(numbers) - min_count]
        moved = [number for number in oldest if number < needed_from]
        for number in moved:
            size_bytes = self._completed.pop(number).size_bytes
            self.storage_bytes -= size_bytes - round(size_bytes * self._sizes.archived_ratio)
            self._instants.pop(number, None)
        self._publish()
        return len(moved)

    def _keep(self, number: int, instant: Instant) -> None:
        """Planners see all instants since the last compaction, and of older ones the latest."""
        self._instants[number] = instant
        if len(self._instants) > HISTORY_LIMIT:
            oldest = next(old for old, shown in self._instants.items() if not shown.is_pending)
            if oldest < self._last_compaction:
                del self._instants[oldest]
        self._publish()

    def _publish(self) -> None:
        self._ledger.timeline = tuple(self._instants.values())
