"""What a user adds to what is known of a stream."""

from dataclasses import dataclass

DEFAULT_CORES, CORES_MAX = 2, 10_000


@dataclass(frozen=True, slots=True)
class Answers:
    """`hit_share` (0..1) is that of `HistoryFacts`; prices and queries are per hour. None is not known.

    `reads_partition` is whether readers ask for one partition rather than for the whole table, and `limit_s`
    the longest mean query that they accept.
    """

    cores: int = DEFAULT_CORES
    core_hour: float | None = None
    queries_per_hour: float | None = None
    hit_share: float | None = None
    target_bytes: int | None = None
    reads_partition: bool = False
    limit_s: float | None = None

    @property
    def subject_to(self) -> str:
        """The option of `recommend` that says what the user wants of a policy, if that is known."""
        return "" if self.limit_s is None else f" --subject-to 'query_mean_s<={self.limit_s:g}s'"
