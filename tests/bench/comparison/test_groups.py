from pathlib import Path

import pytest
from records import compaction, end, run, truth

from bench.comparison.groups import Selection, Side, compare_old_and_new
from bench.results.pooling import Strictness


@pytest.mark.parametrize(
    ("status", "wall_s", "note"),
    [
        ("vetoed", 0.0, "a: no compaction in the new results, so its compaction cost is 0"),
        ("failed", 2.0, "a: no compaction in the new results"),  # which took its time
    ],
)
def test_a_strategy_that_does_not_compact_any_more_may_have_a_cost(status, wall_s, note):
    old, new = (
        Side((Path(suite),), (run(made, truth(), end(), strategy="a", suite_id=suite),))
        for suite, made in (
            ("old", compaction(wall_s=2.0, cpu_s=3.0)),
            ("new", compaction(status=status, wall_s=wall_s, cpu_s=1.5 * wall_s)),
        )
    )
    (group,) = compare_old_and_new(old, new, Selection((), (), (), Strictness.ON_REQUEST))
    assert note in group.notes
