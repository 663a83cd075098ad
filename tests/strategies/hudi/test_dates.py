from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.hudi.dates import day_of

UNIX_DAY = date(1970, 1, 1)


@given(st.dates(date(1583, 1, 1)))
def test_a_date_is_its_day(day):
    assert day_of(f"{day.year:04}/{day.month:02}/{day.day:02}") == (day - UNIX_DAY).days


@pytest.mark.parametrize(
    ("partition", "same"),
    [
        ("2017/13/01", "2018/01/01"),
        ("2017/00/01", "2016/12/01"),
        ("2017/01/00", "2016/12/31"),
        ("2017/02/29", "2017/03/01"),
        ("2017/1/5", "2017/01/05"),
        ("2017/01/01/23", "2017/01/01/05"),
        ("year=2019/month=11/day=24", "2019/11/24"),
        ("dt=2017/01/03", "2017/01/03"),
    ],
)
def test_dates_are_read_as_leniently_as_java_reads_them(partition, same):
    assert day_of(partition) == day_of(same)


@pytest.mark.parametrize("partition", ["", "2017-01-01", "dt=2017-01-01", "us/2017/01/01", "2017/01"])
def test_a_path_without_a_date_is_refused(partition):
    with pytest.raises(ValueError, match="has no date"):
        day_of(partition)


def test_the_calendar_goes_on_beyond_the_year_9999():
    assert day_of("10000/01/01") == day_of("9999/12/31") + 1
