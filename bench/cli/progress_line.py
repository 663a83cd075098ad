"""One line of progress, fitted to the width of a terminal."""

from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

BAR_WIDTH = 24
SHORT_BAR_WIDTH = 8
LABEL_WIDTH_MIN = 14
STATUS_WIDTH_MIN = 12  # below this a status says nothing
_GAP = "  "


@dataclass(frozen=True, slots=True)
class Activity:
    """Something in progress: `done` of `total` things, `share` (0 to 1) of the work.

    `short_label` takes the place of `label` where that does not fit. `status` says what is being done now,
    `time` how long it has taken and will take.
    """

    label: str
    short_label: str
    done: int
    total: int
    unit: str  # plural
    share: float
    time: str = ""
    status: str = ""

    @property
    def count(self) -> str:
        """How many of how many, and of what; empty until the total is known."""
        return f"{self.done:,}/{self.total:,} {self.unit}" if self.total else ""


@dataclass(frozen=True, slots=True)
class FittedLine:
    """The parts of a line around its bar, of which `filled` of `bar_width` characters are full."""

    before: str
    filled: int
    bar_width: int
    after: str

    @property
    def width(self) -> int:
        """In characters of a terminal."""
        return cell_len(self.before) + self.bar_width + cell_len(self.after)


def fitted(activity: Activity, width: int) -> FittedLine:
    """The line in at most `width` characters, if that is at least 40.

    Where it is too long, the label is shortened first, then the time is left out, then the bar is shortened,
    and at last the status is cut. The count is always there.
    """
    label, short = activity.label, activity.short_label
    cut = _cut(short, LABEL_WIDTH_MIN)
    attempts = (
        (label, activity.time, BAR_WIDTH),
        (short, activity.time, BAR_WIDTH),
        (cut, activity.time, BAR_WIDTH),
        (cut, "", BAR_WIDTH),
        (cut, "", SHORT_BAR_WIDTH),
    )
    for name, time, bar_width in attempts:
        line = _line(activity, name, time, bar_width, activity.status)
        if line.width <= width:
            return line
    room = width - _line(activity, cut, "", SHORT_BAR_WIDTH, "").width - len(_GAP)
    if room >= STATUS_WIDTH_MIN:
        return _line(activity, cut, "", SHORT_BAR_WIDTH, _cut(activity.status, room))
    bare = _line(activity, cut, "", SHORT_BAR_WIDTH, "")
    return bare if bare.width <= width else _line(activity, cut, "", 0, "")


def _line(activity: Activity, label: str, time: str, bar_width: int, status: str) -> FittedLine:
    after = "".join(_GAP + part for part in (time, status) if part)
    before = _GAP.join(filter(None, (label, activity.count))) + (_GAP if bar_width else "")
    return FittedLine(before, round(bar_width * min(1.0, max(0.0, activity.share))), bar_width, after)


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else f"{set_cell_size(text, width - 1).rstrip()}…"
