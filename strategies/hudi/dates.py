"""Dates of partition paths, as Hudi's day-based strategies read them.

They use SimpleDateFormat("yyyy/MM/dd"), which is lenient: 2017/13/01 is the first of January 2018, and
whatever follows the date is ignored. Source: DayBasedCompactionStrategy of Hudi 1.2.0.
"""

import re
from datetime import date

_NUMBER = r"[ \t]*(-?\d+)"
_DATE = re.compile(f"{_NUMBER}/{_NUMBER}/{_NUMBER}")
_FIRST_KEY = re.compile(r".*?=")
_FURTHER_KEY = re.compile(r"/.*?=")
_UNIX_DAY = date(1970, 1, 1).toordinal()
_CYCLE_YEARS = 400  # after which the Gregorian calendar repeats itself
_CYCLE_DAYS = 146_097


def day_of(partition: str) -> int:
    """The days from 1970-01-01 to the date of a partition path, negative before it.

    The keys of a hive-style path are dropped: `year=2019/month=11/day=24` is 2019/11/24. Raises ValueError
    for a path that does not start with such a date, as Hudi fails on it.
    """
    values = _FURTHER_KEY.sub("/", _FIRST_KEY.sub("", partition, count=1)) if "=" in partition else partition
    match = _DATE.match(values)
    if match is None:
        raise ValueError(
            f"partition {partition!r} has no date that Hudi's day-based strategies can read, which is "
            "yyyy/MM/dd at its beginning: choose one that does not go by date, such as LogFileSizeBased"
        )
    year, month, day = map(int, match.groups())
    years, month = divmod(month - 1, 12)
    cycles, year = divmod(year + years, _CYCLE_YEARS)
    first = date(year + _CYCLE_YEARS, month + 1, 1).toordinal() - _UNIX_DAY
    return first + (cycles - 1) * _CYCLE_DAYS + day - 1
