"""Simulated Delta tables for tests, with coefficients in round numbers."""

from coefficients import operations
from simulations import simulated_table

from bench.engines.contract import Cores, TableSpec
from bench.engines.delta.model.coefficients import DeltaCoefficients
from bench.engines.delta.model.table import DeltaTableModel
from strategies.state import MIB

CORES = Cores(writer=4, compactor=2, reader=3)
LOG = {
    "schema_bytes": 2_000, "commit_bytes": 500, "bytes_per_add": 100, "bytes_per_remove": 10,
    "checksum_bytes": 300, "checkpoint_bytes": 5_000, "checkpoint_bytes_per_file": 7,
    "checkpoint_bytes_per_tombstone": 3,
}  # fmt: skip


def coefficients(**changes):
    """Every operation costs the same (`coefficients.OPERATION`), a checkpoint nothing."""
    return DeltaCoefficients.model_validate(
        {
            "format": "delta", "origin": "a test", "log": LOG,
            "operations": operations(DeltaCoefficients.needed, **changes),
        }
    )  # fmt: skip


def make(costs=None, cores=CORES, settings=None, has_real_clock=False, **table):
    """A simulated table that is there, written with these settings of Spark."""
    spec = TableSpec(**{"target_file_size_bytes": 8 * MIB, **table})
    engine = simulated_table(
        DeltaTableModel, spec, costs or coefficients(), cores, settings or {}, has_real_clock=has_real_clock
    )
    engine.create()
    return engine


def vectors(engine):
    """Deletion vectors by the data file that each belongs to."""
    return {vector.data_file: vector for vector in engine.state(0).delete_files}


def rows_left(engine):
    """The physical rows of all data files, less those that vectors mark."""
    state = engine.state(0)
    return sum(f.rows for f in state.data_files) - sum(v.rows for v in state.delete_files)
