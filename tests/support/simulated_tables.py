"""Simulated tables for tests, and the delete files in them."""

from coefficients import coefficients
from simulations import simulated_table

from bench.engines.contract import Cores, TableSpec
from bench.engines.iceberg.model.table import IcebergTableModel
from strategies.state import MIB

CORES = Cores(writer=4, compactor=2, reader=3)


def make(costs=None, cores=CORES, has_real_clock=False, **table):
    """A simulated table that is there, of round coefficients unless told otherwise."""
    spec = TableSpec(**{"target_file_size_bytes": 8 * MIB, **table})
    engine = simulated_table(
        IcebergTableModel, spec, costs or coefficients(), cores, has_real_clock=has_real_clock
    )
    engine.create()
    return engine


def deletes(engine, kind=None):
    """Delete files by sequence number and path, of one kind or of all."""
    found = [d for d in engine.state(0).delete_files if kind in (None, d.kind)]
    return sorted(found, key=lambda d: (d.data_sequence_number, d.path))


def physical_rows(engine):
    return sum(file.rows for file in engine.state(0).data_files)
