"""The timeline of a simulated Hudi table: its instants, and the bytes of their files."""

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
    """What an instant has written to the timeline."""

    number: int
    size_bytes: int
    files_count: int


@dataclass(frozen=True, slots=True)
class _Completed:
    """A completed write action, and its bytes."""

    action: Action
    size_bytes: int


class Timeline:
    """Instants are numbered in the order of their requests. The ledger has the latest ones."""

    def __init__(self, sizes: Sizes, ledger: HudiLedger) -> None:
        self._sizes, self._ledger = sizes, ledger
        self._next = 1
        self._completed: dict[int, _Completed] = {}  # write actions by their numbers, in order of completion
        self._instants: dict[int, Instant] = {}
        self._last_compaction = 0  # the number of the one that completed last
        self.storage_bytes = 0

    def create(self) -> None:
        """Write the properties of the table."""
        self.storage_bytes += self._sizes.table_bytes

    @property
    def active_count(self) -> int:
        """The completed instants that are not archived."""
        return len(self._completed)

    def request(
        self,
        action: Action,
        at_ms: int,
        missing_partitions: tuple[str, ...] | None = None,
        *,
        is_log_compaction: bool = False,
    ) -> int:
        """Request an instant; its number. Its plan, if it has one, counts when it completes."""
        number = self._next
        self._next += 1
        self._keep(
            number,
            Instant(
                action,
                at_ms,
                None,
                missing_partitions=missing_partitions,
                is_log_compaction=is_log_compaction,
            ),
        )
        return number

    def complete(
        self, number: int, at_ms: int, files_count: int, partitions: Iterable[str], slices_count: int = 0
    ) -> Entry:
        """Complete an instant that has written so many files, by a plan for so many file slices."""
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

    def has_compaction_after(self, number: int) -> bool:
        """Whether a compaction, completed or not, was requested after an instant of a MERGE_ON_READ table."""
        return any(
            later > number and instant.action is Action.COMMIT for later, instant in self._instants.items()
        )

    def service(self) -> Entry:
        """An instant of cleaning, which names no file that readers open."""
        number = self._next
        self._next += 1
        self.storage_bytes += self._sizes.instant_bytes
        return Entry(number, self._sizes.instant_bytes, FILES_PER_INSTANT)

    def earliest_of(self, retained_count: int) -> int | None:
        """The first of the last completed write actions; None if there are not more than these."""
        numbers = sorted(self._completed)
        return numbers[-retained_count] if len(numbers) > retained_count else None

    def archive(self, min_count: int, max_count: int) -> int:
        """Once there are more than `max_count` completed instants, leave `min_count`; how many it moves.

        Instants from the last compaction on stay, or without one the last five: what decides on the next
        compaction (CompactionUtils.getEarliestInstantToRetainForCompaction of Hudi 1.2.0).
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
        """Show an instant to planners; of those before the last compaction only the latest."""
        self._instants[number] = instant
        if len(self._instants) > HISTORY_LIMIT:
            oldest = next(each for each, shown in self._instants.items() if not shown.is_pending)
            if oldest < self._last_compaction:
                del self._instants[oldest]
        self._publish()

    def _publish(self) -> None:
        self._ledger.timeline = tuple(self._instants.values())
