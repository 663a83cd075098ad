"""The options of OPTIMIZE: what a command is run with is what it was previewed with."""

import pytest

from strategies.delta.optimize_options import BATCH_SIZE, MAX_THREADS, complete_texts, optimize_options
from strategies.state import GIB


def test_options_that_are_not_set_are_written_out():
    assert complete_texts({}, 100) == {
        "minFileSize": "100",
        "maxFileSize": "100",
        "maxDeletedRowsRatio": "0.05",
        "clustering.mergeStrategy.minCubeSize.threshold": str(100 * GIB),
        "clustering.mergeStrategy.minCubeSize.targetCubeSize": str(150 * GIB),
    }


@pytest.mark.parametrize("texts", [{}, {"minFileSize": "7", "maxDeletedRowsRatio": "1"}, {BATCH_SIZE: "9"}])
def test_what_is_written_out_means_the_same(texts):
    options = optimize_options(texts, 100)
    assert optimize_options(complete_texts(texts, 100), 1) == options


def test_unknown_names_and_bad_texts_are_refused():
    for read in (complete_texts, optimize_options):
        with pytest.raises(ValueError, match="did you mean 'minFileSize'"):
            read({"minFilesize": "1"}, 100)
    with pytest.raises(ValueError, match="maxThreads"):
        optimize_options({MAX_THREADS: "0"}, 100)
