"""Order dates of a commit: most lie within its interval, some are late."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DateWindow:
    """Order dates of one commit, in seconds since the stream began.

    Dates are uniform in [`from_s`, `to_s`). A share `late_share` (0..1) of the rows is earlier by an amount
    uniform in [0, `late_by_s`). With `ordered_rows` the dates of so many rows, numbered from 0, are in the
    order of the rows, each at random in a part of the window of its own. Raises ValueError if the window is
    shorter than 1 ms, the resolution of `order_date`.
    """

    from_s: float
    to_s: float
    late_share: float = 0.0
    late_by_s: float = 0.0
    ordered_rows: int = 0

    def __post_init__(self) -> None:
        if not self.to_s - self.from_s > 0.0009:
            raise ValueError(f"from_s={self.from_s} must be at least 1 ms before to_s={self.to_s}")

    @property
    def earliest_s(self) -> float:
        """A lower bound of all dates."""
        return self.from_s - (self.late_by_s if self.late_share > 0 else 0.0)

    def share_before(self, at_s: float) -> float:
        """The expected share (0..1) of rows ordered before `at_s`."""
        on_time_share = self._on_time_area(at_s, 1)
        if self.late_share == 0 or self.late_by_s == 0:
            return on_time_share
        # A late date is X - U, X uniform in the window and U in [0, late_by_s): its distribution
        # is the mean of X's over [at_s, at_s + late_by_s).
        area = self._on_time_area(at_s + self.late_by_s, 2) - self._on_time_area(at_s, 2)
        return (1 - self.late_share) * on_time_share + self.late_share * area / self.late_by_s

    def _on_time_area(self, at_s: float, order: int) -> float:
        """The window's distribution function (`order` 1), or its integral from -infinity (2)."""
        length_s = self.to_s - self.from_s
        inside_s = min(max(at_s - self.from_s, 0.0), length_s)
        if order == 1:
            return inside_s / length_s
        return inside_s**2 / (2 * length_s) + max(at_s - self.to_s, 0.0)
