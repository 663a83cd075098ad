from contextlib import ExitStack, closing

import pytest
from merge_on_read import Lake


@pytest.fixture
def make_lake(tmp_path):
    """Makes a table below a folder of its own, with the arguments of `Lake`."""
    with ExitStack() as stack:

        def make(folder="lake", **table):
            place = tmp_path / folder
            place.mkdir()
            return stack.enter_context(closing(Lake(place, **table)))

        yield make


@pytest.fixture
def lake(make_lake):
    """A table partitioned by city, without rows."""
    return make_lake()
