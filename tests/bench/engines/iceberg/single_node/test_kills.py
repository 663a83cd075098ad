"""A process that executes rewrites without Spark is killed between a plan and its commit: nothing is lost."""

import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import endless_rewrites
import pytest
from merge_on_read import row
from profiles import by_profile

pytestmark = pytest.mark.processes

KILLS = by_profile(ordinary=4, thorough=12, exhaustive=50)
CITIES = ("Oslo", "São Paulo", "100% a/b")
ROWS, NEW_ROWS, GONE = 6_000, 40, 5


class Victim:
    """A process of endless rewrites; `committed` counts its commits that it has told of."""

    def __init__(self, folder, seed):
        command = [sys.executable, endless_rewrites.__file__, str(folder), str(seed)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.committed = 0

    def until(self, word):
        """Wait for a line, and return the seconds that this has taken. Fails if the process ends."""
        began_s = time.monotonic()
        for line in self._process.stdout:
            self.committed += line == "committed\n"
            if line == f"{word}\n":
                return time.monotonic() - began_s
        raise AssertionError(f"the process has ended with exit code {self._process.wait()}")

    def kill(self):
        """The last word of the process, if it has said one since the last wait."""
        self._process.kill()
        words = self._process.communicate()[0].split()
        self.committed += words.count("committed")
        return words[-1] if words else None

    def close(self):
        if self._process.poll() is None:
            self.kill()


def change(lake, chance, ids):
    """A commit of new rows, and equality and position deletes of old ones."""
    lake.append(*(row(next(ids), chance.choice(CITIES)) for _ in range(NEW_ROWS)))
    keys = [(key,) for key in chance.sample(range(ROWS), GONE)]
    lake.delete_equal(["id"], keys, (chance.choice(CITIES),))
    file = chance.choice(lake.data_files())
    lake.delete_positions([(file.file_path, chance.randrange(file.record_count))], file.partition)


def referenced(lake):
    """The files of all snapshots, data and metadata."""
    table = lake.load()
    found = set()
    for snapshot in table.metadata.snapshots:
        manifests = snapshot.manifests(table.io)
        found |= {snapshot.manifest_list, *(manifest.manifest_path for manifest in manifests)}
        found |= {e.data_file.file_path for m in manifests for e in m.fetch_manifest_entry(table.io, False)}
    return {Path(location.removeprefix("file://")) for location in found}


def test_a_kill_loses_no_row_and_leaves_what_the_next_process_can_work_with(make_lake, tmp_path, capsys):
    """A third of the kills wait for the commit, which is much shorter than writing the files."""
    lake, chance, hits = make_lake(), random.Random(KILLS), Counter()
    ids = iter(range(10 * ROWS))
    for _ in range(3):
        lake.append(*(row(next(ids), chance.choice(CITIES)) for _ in range(ROWS // 3)))
    for number in range(10 * KILLS):  # some come too late
        if hits["planned"] + hits["staged"] == KILLS:
            break
        change(lake, chance, ids)
        expected, snapshots = lake.rows(), len(lake.load().metadata.snapshots)
        with closing(Victim(lake.folder, number)) as process:
            process.until("planned")
            writing_s, committing_s = process.until("staged"), process.until("committed")
            process.until("planned")
            state, within_s = "planned", writing_s
            if chance.random() < 1 / 3:
                process.until("staged")
                state, within_s = "staged", committing_s
            time.sleep(chance.uniform(0, within_s))
            hits[process.kill() or state] += 1
        assert lake.rows() == expected, f"after kill {number}: {hits}"
        made = len(lake.load().metadata.snapshots) - snapshots
        assert process.committed <= made <= process.committed + 1, "one commit may be done and not told of"
    assert hits["planned"] + hits["staged"] == KILLS
    lake.rewrite_all(removed_deletes=[delete.key for delete in lake.state().delete_files])
    assert lake.rows() == expected
    # What a killed process had written is where a run's folder ends with its table and its scratch folder.
    places = {path.relative_to(tmp_path).parts[:2] for path in tmp_path.rglob("*") if path.is_file()}
    assert places <= {("lake", "warehouse"), ("lake", "scratch"), ("lake", "catalog.db")}
    known = referenced(lake)
    assert known <= lake.stored()
    left = [path for path in lake.stored() - known if path.suffix == ".parquet"]
    with capsys.disabled():
        print(f"\nkilled after the last word {dict(hits)}; {len(left)} files of data are in no snapshot")
