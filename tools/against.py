"""Run scenarios with two checkouts of compactbench in turn, so that both share the machine's conditions.

    python -m tools.against OLD NEW OUT REPETITIONS SCENARIO... [other options of `compactbench run`]

OLD and NEW are checkouts with an environment in `.venv`. They make one repetition at a time and take turns to
go first; `compactbench compare OUT/old OUT/new` compares them. Give a scenario as a file, since each checkout
may ship another one of the same name.
"""

import subprocess
import sys
from pathlib import Path


def main() -> None:
    old, new, out, repetitions, *arguments = sys.argv[1:]
    sides = [(old, f"{out}/old"), (new, f"{out}/new")]
    for repetition in range(1, int(repetitions) + 1):
        for checkout, results in sides if repetition % 2 else reversed(sides):
            program = Path(checkout) / ".venv" / "bin" / "compactbench"
            options = ["--out", results, "--resume", "--repetitions", str(repetition)]
            subprocess.run([program, "run", *arguments, *options], check=True)


if __name__ == "__main__":
    main()
