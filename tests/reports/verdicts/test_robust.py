import math
from types import SimpleNamespace

import pytest

from reports.verdicts.robust import Robust, robust


def answer(alike=None, objective="compaction_cpu_s", **values):
    keeping = [SimpleNamespace(strategy=name, values={objective: value}) for name, value in values.items()]
    return SimpleNamespace(alike=alike or {}), SimpleNamespace(objective=objective, keeping=keeping)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([answer(a=1.0, b=1.5, c=9.0), answer(b=2.0, a=6.0)], Robust("b", 1.5)),
        ([answer(a=1.0), answer(b=1.0)], None),
        ([answer(a=1.0), answer()], None),
        ([answer(a=1.0, b=3.0), answer({"a": ("b",)}, a=2.0)], Robust("a", 1.0)),
        ([answer({"a": ("b",)}, a=2.0), answer(b=1.0)], Robust("b", 1.0)),
        ([answer(a=0.0, b=1.0), answer(b=1.0)], Robust("b", math.inf)),
        (
            [answer(objective="health_mean", a=50, b=80), answer(objective="health_mean", a=90, b=81)],
            Robust("b", pytest.approx(90 / 81)),
        ),
    ],
)
def test_it_keeps_the_limits_everywhere_and_is_nowhere_far_from_the_best(answers, expected):
    assert robust(answers) == expected
