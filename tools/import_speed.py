"""What `compactbench import` takes for a history of 100,000 files, in each format: CPU and memory.

Run by `make bench`. Tables have metadata alone, without data: 100 appends of 1,000 files.
"""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from delta_logs import add, described, info, write_commit
from hudi_folders import HudiFolder
from iceberg_tables import NOT_PARTITIONED, make_table
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.typedef import Record

from bench.engines.delta.log import LOG_FOLDER
from tools.simulation_speed import command_cost

COMMITS, FILES = 100, 1_000  # of each commit
GOAL = "60 s, 1024 MiB"


def write_iceberg(folder: Path) -> str:
    """A table; returns where its metadata is."""
    table = make_table(folder, [], NOT_PARTITIONED)
    for commit in range(COMMITS):
        with table.transaction() as change, change.update_snapshot().fast_append() as append:
            for number in range(FILES):
                append.append_data_file(
                    DataFile.from_args(
                        content=DataFileContent.DATA, file_format=FileFormat.PARQUET, partition=Record(),
                        file_path=f"{table.location()}/data/{commit}-{number}.parquet", record_count=10,
                        file_size_in_bytes=1_000,
                    )
                )  # fmt: skip
    return str(table.metadata_location)


def write_delta(folder: Path) -> str:
    (folder / LOG_FOLDER).mkdir()
    write_commit(folder, 0, *described("id", "day", by=("day",)))
    for commit in range(COMMITS):
        added = [add(f"{commit}-{number}.parquet") for number in range(FILES)]
        write_commit(folder, commit + 1, info(tag=None), *added)
    return str(folder)


def write_hudi(folder: Path) -> str:
    table = HudiFolder(folder)
    for commit in range(COMMITS):
        hour, minute = divmod(2 * commit, 60)
        at = 100 * hour + minute  # HudiFolder writes it as digits of a time
        files = [table.base(at, f"f{commit}x{number}") for number in range(FILES)]
        table.commit(at, *files, action="commit", operation="INSERT")
    return str(folder)


WRITERS: Mapping[str, Callable[[Path], str]] = {
    "iceberg": write_iceberg, "delta": write_delta, "hudi": write_hudi
}  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory() as work:
        for name, write in WRITERS.items():
            folder = Path(work) / name
            folder.mkdir()
            cost = command_cost("import", write(folder), "--file", str(Path(work) / f"{name}.toml"))
            print(f"{name:8} import of {COMMITS * FILES:,} files {cost} (goal: {GOAL})", flush=True)


if __name__ == "__main__":
    main()
