"""Sizes and costs that follow from a format's coefficients without a simulation."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from bench.engines.simulated.costs import Coefficients
from bench.engines.simulated.steps import Operation, query_step, rewrite_step
from bench.results.values import NO_REWRITE_WORK, RewriteWork, ScanWork
from strategies.state import MIB, CostPriors
from workloads.schema import Schema

# Of one delete file: what each of 8 writers writes for a commit of scenario `upsert`.
_DELETE_ROWS, _DELETE_BYTES = 500, 2300


def cost_priors(
    estimates: Coefficients,
    schema: Schema,
    reader_cores: int,
    executor: str | None = None,
    table_amounts: Mapping[str, float] = MappingProxyType({}),
) -> CostPriors:
    """What small compactions and queries cost, and how much more for each file, MiB or pair with a delete.

    A compaction merges all files of its table, and writes as many bytes as it reads. Where the format cannot
    convert deletes, they cost what applying them costs. `executor` is one without Spark; None is the engine's
    own. Each step has the `table_amounts`, too.
    """
    known = estimates.operations
    merging = _merging(estimates)
    converting = Operation.CONVERT if Operation.CONVERT in known else Operation.REWRITE
    if executor is not None:
        merging = converting = Operation.SINGLE_NODE
    rows = round(MIB / estimates.row_bytes(schema))  # of a MiB

    def rewrite_s(operation: Operation, work: RewriteWork) -> float:
        step = rewrite_step(operation, work, work.read_files_count or 0)
        return estimates.price(step.on_table(table_amounts), 1).cpu_s  # on any number of cores

    def merge_s(files: int, size_mib: int = 0) -> float:
        work = replace(
            NO_REWRITE_WORK,
            groups_count=1,
            tasks_count=1,
            read_files_count=files,
            read_rows=size_mib * rows,
            read_data_bytes=size_mib * MIB,
        )
        return rewrite_s(merging, work)

    def convert_s(pairs: int) -> float:
        work = replace(
            NO_REWRITE_WORK,
            applied_delete_files_count=pairs,
            applied_delete_rows=pairs * _DELETE_ROWS,
            applied_delete_bytes=pairs * _DELETE_BYTES,
        )
        return rewrite_s(converting, work)

    def query_s(files: int, pairs: int = 0, million_rows: int = 0) -> float:
        deletes_bytes = pairs * _DELETE_BYTES
        rows = million_rows * 1_000_000
        opened_bytes = round(rows * estimates.row_bytes(schema)) + deletes_bytes
        work = ScanWork(files, pairs, opened_bytes, read_rows=rows, delete_bytes=deletes_bytes)
        step = query_step(work, estimates.sessions[-1])
        return estimates.price(step.on_table(table_amounts), reader_cores).wall_s

    return CostPriors(
        fixed_cpu_s=merge_s(0),
        cpu_s_per_file=_slope(merge_s),
        cpu_s_per_mib=_slope(lambda size_mib: merge_s(1, size_mib)) / 2,
        query_s_per_file=_slope(lambda files: query_s(files * reader_cores)) / reader_cores,
        query_s_per_million_rows=_slope(lambda millions: query_s(reader_cores, million_rows=millions)),
        query_s_per_delete=_slope(lambda pairs: query_s(reader_cores, pairs)),
        conversion_cpu_s=convert_s(0),
        cpu_s_per_delete=_slope(convert_s),
    )


def merge_wall_s(
    estimates: Coefficients,
    schema: Schema,
    rows: int,
    files: int,
    target_bytes: int,
    cores: int,
    table_amounts: Mapping[str, float],
) -> float:
    """How long it takes to merge files with so many rows, without deletes, in one group of files."""
    size_bytes = estimates.table_bytes(schema, rows, files)
    work = replace(
        NO_REWRITE_WORK,
        groups_count=1,
        tasks_count=max(1, round(size_bytes / target_bytes)),
        read_files_count=files,
        read_rows=rows,
        read_data_bytes=size_bytes,
    )
    step = rewrite_step(_merging(estimates), work, files)
    return estimates.price(step.on_table(table_amounts), cores).wall_s


def _merging(estimates: Coefficients) -> Operation:
    return Operation.CLUSTER if Operation.CLUSTER in estimates.operations else Operation.REWRITE


def _slope(price: Callable[[int], float]) -> float:
    """What one more unit costs, between 10 and 20 of them."""
    return (price(20) - price(10)) / 10
