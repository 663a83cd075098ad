"""What one plan costs for 100,000 files, by planner: CPU of `decide`, beside Amoro's and Iceberg's own rules.

Run by `make bench`. The files are plain ones, as a real table's are, and equal ones of 12,500 commits kept as
series, as a simulated table's are; each planner is given its best of three.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from strategies.amoro.planner import Amoro
from strategies.autocomp import AutoComp
from strategies.break_even import BreakEven
from strategies.iceberg.break_even import IcebergBreakEven
from strategies.iceberg.commands import Command
from strategies.iceberg.files import IcebergDataFile, IcebergState
from strategies.iceberg.preview import preview_action
from strategies.plan import Native
from strategies.planner import Planner
from strategies.series import Files, Series
from strategies.state import MIB, DerivedValues
from strategies.tiered import Tiered

COMMITS, FILES_PER_COMMIT, PARTITIONS, REPEATS = 12_500, 8, 20, 3
PLANNERS: Mapping[str, Planner] = {
    "amoro": Amoro(), "break_even": BreakEven(), "iceberg.break_even": IcebergBreakEven(),
    "tiered": Tiered(), "autocomp": AutoComp(),
}  # fmt: skip

REWRITE = Native(Command.REWRITE_DATA_FILES)  # planned by the veto, the forecast, simulations and `plan`


def main() -> None:
    series = Files(commit(number) for number in range(COMMITS))
    tables = {"plain files": tuple(series), "series": series}
    for words, files in tables.items():
        state = IcebergState(COMMITS * 60_000, 128 * MIB, files, probe_rate_per_s=1 / 60)
        for name, planner in PLANNERS.items():
            show(words, name, planner.decide, state)
        show(words, "iceberg.rewrite_data_files", lambda state: preview_action(REWRITE, state), state)


def commit(number: int) -> Series[IcebergDataFile]:
    names, first = "data/{:06}.parquet", number * FILES_PER_COMMIT
    partition = f"day={number % PARTITIONS:02}"
    file = IcebergDataFile(names.format(first), 6_000, 10, partition, number, added_at_ms=number * 60_000)
    return Series(file, FILES_PER_COMMIT, names, first)


def show(words: str, name: str, plan: Callable[[IcebergState], object], state: IcebergState) -> None:
    cpu_s = min(plan_cpu_s(plan, state) for _ in range(REPEATS))
    print(f"{len(state.data_files):,} {words:12} {name:28} {cpu_s:6.2f} s CPU", flush=True)


def plan_cpu_s(plan: Callable[[IcebergState], object], state: IcebergState) -> float:
    """Of a plan for the table as if it had just changed."""
    changed = replace(state, derived_values=DerivedValues())
    began_s = time.process_time()
    plan(changed)
    return time.process_time() - began_s


if __name__ == "__main__":
    main()
