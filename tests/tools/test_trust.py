"""The default of `compare --sitting-sd` is what the published runs say."""

import math

import pytest

from reports.verdicts.samples import Sample, samples
from reports.verdicts.sittings import DEFAULT, estimate_effect
from tools.publishing import entries, published

COST, LATENCY, CONTROL = "compaction_cpu_s", "query_mean_s", "control_mean_s"


def of_pair(first, second, strategies, metric, over):
    """The effect of two sittings on a metric, over another one of the same run unless that is None."""

    def relative(entry, strategy):
        own = samples(entry, metric)[strategy]
        other = samples(entry, over)[strategy].values if over else (1.0,) * len(own.values)
        return [value / base for value, base in zip(own.values, other, strict=True)], own.sittings

    joined = []
    for strategy in strategies:
        (values, sittings), (more, others) = relative(first, strategy), relative(second, strategy)
        values, sittings = (
            ([*values, *more], [*sittings, *others]) if first is not second else (values, sittings)
        )
        joined.append(Sample(tuple(values), tuple(sittings), (None,) * len(values)))
    effect = estimate_effect(joined)
    assert effect.freedom == 1
    return effect.sd


@pytest.mark.parametrize(("over", "sd"), [(CONTROL, 0.018), (None, 0.036)])
def test_the_default_is_that_of_the_published_pairs_of_sittings(over, sd):
    by_name = {entry.name: entry for entry in entries()}
    append, warm, delta = (
        published(by_name[name]).group
        for name in ("append-only-2026-11-22", "append-warm", "delta-upsert-quick")
    )
    pairs = ((append, warm, ("every-1min", "amoro")), (delta, delta, ("optimize-4min",)))
    effects = [of_pair(*pair, metric, over) for pair in pairs for metric in (COST, LATENCY)]
    pooled = math.sqrt(sum(effect**2 for effect in effects) / len(effects))
    assert pooled == pytest.approx(sd, abs=0.0005)
    if over:
        assert round(pooled, 2) == DEFAULT.sd
