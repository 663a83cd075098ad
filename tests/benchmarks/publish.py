"""Pack finished runs for `reports/published/`: `publish.py NAME RESULTS...`; then list NAME in index.toml."""

import sys
from pathlib import Path

from bench.results.folders import load_runs
from reports.publishing import FOLDER, pack


def main() -> None:
    name, *folders = sys.argv[1:]
    archive = FOLDER / f"{name}.tar.xz"
    pack(load_runs(*map(Path, folders)), archive)
    print(f"{archive}: {archive.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
