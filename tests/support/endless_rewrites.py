"""Rewrites a table without Spark again and again, until it is killed.

Called with the folder of a `Lake` and a seed. Prints a line when it has planned, staged and committed.
"""

import random
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from merge_on_read import TAG, Lake, rewrite_of

from strategies.plan import FileGroup

TARGET_BYTES = 3_000  # so that a rewrite writes many files


def drawn(lake, chance):
    """All files rewritten, or their deletes converted; all deletes that there are now are dropped."""
    deletes = [delete.key for delete in lake.state().delete_files]
    action = rewrite_of(lake.data_files(), TARGET_BYTES, deletes)
    if not deletes or chance.random() < 0.7:
        return action
    return replace(action, groups=tuple(FileGroup((), "", group.paths) for group in action.groups))


def main(folder, seed):
    chance = random.Random(seed)
    with closing(Lake(Path(folder))) as lake:
        while True:
            action = drawn(lake, chance)
            print("planned", flush=True)
            staged = lake.executor.stage(action, 0)
            print("staged", flush=True)
            lake.executor.execute(action, staged, TAG)
            print("committed", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
