"""Simulated Hudi tables for tests, with coefficients in round numbers."""

from coefficients import operations
from simulations import simulated_table

from bench.engines.contract import Cores, TableSpec
from bench.engines.hudi.model.coefficients import HudiCoefficients
from bench.engines.hudi.model.table import HudiTableModel
from bench.engines.hudi.table_keys import HudiKeys
from strategies.state import MIB

CORES = Cores(writer=4, compactor=2, reader=3)


def coefficients(**changes):
    """Every operation costs the same (`coefficients.OPERATION`)."""
    fields = {
        "format": "hudi", "origin": "a test",
        "operations": operations(HudiCoefficients.needed, **changes),
        "timeline": {
            "table_bytes": 5_000, "instant_bytes": 600, "bytes_per_file": 70, "plan_bytes_per_slice": 8,
            "archived_ratio": 0.5,
        },
    }  # fmt: skip
    return HudiCoefficients.model_validate(fields)


def make(costs=None, cores=CORES, index="bucket", buckets=2, has_real_clock=False, **table):
    """A simulated table that is there."""
    keys = HudiKeys.model_validate(
        {"format": "hudi", "target_file_size": "8MiB", "index": index, "index_buckets": buckets}
    )
    spec = TableSpec(**{"target_file_size_bytes": 8 * MIB, "keys": keys, **table})
    engine = simulated_table(
        HudiTableModel, spec, costs or coefficients(), cores, has_real_clock=has_real_clock
    )
    engine.create()
    return engine
