"""Result folders built by hand: a small seeded imitation of a run, with made-up figures.

`build_results` writes a whole suite; `fate` makes single runs fail, stop early, differ or be timings_invalid.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nested import record

from bench.results.folders import load_runs
from bench.results.records import (
    CommitRecord,
    CompactionRecord,
    ContentRecord,
    ControlRecord,
    DecisionRecord,
    Manifest,
    ObserveRecord,
    QueryRecord,
    RunRecord,
)
from reports.data.group import RunGroup, run_groups

Fate = Literal[
    "finished", "failed", "cut off", "differs", "timings_invalid", "unchecked", "vetoed", "disturbed"
]
INTERVAL_TICKS: Mapping[str, int | None] = {
    "never": None,
    **{f"every-{count}min": count for count in (1, 10, 60)},
}
STARTED_UTC = "2026-01-05T09:00:00Z"
COMMIT_FILES = 8
FILE_BYTES = 6_000
CONTENT_ROW_BYTES = 20
DELETE_ROWS = 50  # of one delete file; two of the three a commit adds are by equality

# What the manifest of a stream of changes contains beyond that of an append-only one.
UPSERT: Mapping[str, Any] = {
    "scenario": "upsert-small", "workload": "upsert",
    "description": "A commit a minute of eight data files and three delete files.",
    "options": {
        "upsert_mode": "equality-delete", "format_version": 2, "spark.master": "local[2]",
        "caches": {"table cache of the catalog": "false", "delete-file cache of the executors": "false"},
    },
    "dataset": {"table": "orders", "columns_count": 17, "codec": "zstd (format default)",
                "key": ["order_id"], "changes_by": "equality deletes",
                "initial_order": "ordered by order_id, one range per file"},
    "option_defaults": {
        "amoro": {"minor-files": "12 of a partition", "ratio": "0.1"}, "merge": {"least": "5"},
    },
    "scenario_text": {
        "table": {"format": "iceberg", "partitioning": "bucket", "buckets": 4},
        "workload": {
            "type": "upsert", "files_per_commit": 8, "insert_share": 0.5, "delete_share": 0.05,
            "repeat_share": 0.0, "move_share": 0.1, "late_share": 0.2, "late_by": "1d",
            "duplicate_share": 0.0, "key_skew": "zipf", "key_exponent": 1.5,
        },
        "strategies": [
            {"label": "never", "rules": [{"trigger": {"type": "after_commits", "commits": 1},
                                          "planner": {"type": "never"}}]},
            {"label": "every-3min", "rules": [
                {"trigger": {"type": "every", "interval": "3min"},
                 "planner": {"type": "merge", "sort_order": "a", "options": {"least": 2}}},
            ], "writer": {}, "properties": {}},
            {"label": "amoro", "rules": [
                {"trigger": {"type": "every", "interval": "2min"},
                 "planner": {"type": "amoro", "threads": 1, "options": {"minor-files": 40}}},
                {"trigger": {"type": "after_commits", "commits": 3},
                 "planner": {"type": "merge", "options": {}}},
            ], "properties": {"write.x": "y"}},
        ],
    },
}  # fmt: skip


def manifest(strategy: str = "never", repetition: int = 1, **changes: Any) -> Manifest:
    """A manifest of an append-only run on Iceberg; `changes` replace single fields."""
    fields: dict[str, Any] = {
        "run_id": f"20260105T090000-iceberg-real-s{repetition}-{strategy}-r{repetition}",
        "suite_id": "20260105T090000", "started_utc": STARTED_UTC, "scenario": "append-small",
        "scenario_hash": "5c3a", "description": "A commit a minute of eight small files.",
        "workload": "append", "format": "iceberg", "mode": "real", "strategy": strategy,
        "strategy_summary": f"rules of {strategy}", "repetition": repetition, "position": repetition - 1,
        "seed": 42, "duration_ms": 3_600_000, "commit_interval_ms": 60_000,
        "target_file_size_bytes": 128 * 2**20, "primary_probe": "first-order", "probe_every_ms": 60_000,
        "side_probe_every_ms": 60_000, "probe_phase": "random", "cores": 2,
        "memory_bytes": 2 * 10**9, "change_log_hash": "9e1b", "verify": "end",
        "versions": {"python": "3.11.9", "java": "17.0.12", "spark": "3.5.8", "format": "1.9.2"},
        "machine": {"cpu": "Example CPU", "cores": 2, "ram_bytes": 8 * 2**30, "system": "Linux"},
        "git": {"commit": "0123456789abcdef", "dirty": False},
        "options": {"spark": {"spark.master": "local[2]"}, "table": {"format-version": "2"}},
        "notes": {"clock": "virtual", "times": "measured", "cpu": "process", "warm_up": "table per planner",
                  "fsync": "off", "page_cache": "warm", "ingested_bytes": "change log", "keys": "ascending"},
        "scenario_text": {"seed": 42, "duration": "60min"},
    }  # fmt: skip
    return Manifest(**{**fields, **changes})


def write_run(folder: Path, run_manifest: Manifest, records: Sequence[Any]) -> Path:
    """One run folder as a worker leaves it; returns it."""
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(run_manifest.model_dump_json(indent=1))
    lines = [{"kind": r.kind, **r.model_dump(mode="json", exclude_defaults=True)} for r in records]
    (folder / "events.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return folder


def build_results(
    folder: Path,
    strategies: Mapping[str, int | None] | None = None,
    repetitions: int = 3,
    ticks: int = 60,
    fate: Mapping[tuple[str, int], Fate] | None = None,
    deletes: bool = False,
    commit_ticks: Mapping[str, int] | None = None,
    **changes: Any,
) -> Path:
    """A suite under `folder`: each strategy compacts everything after so many ticks (None: never).

    The writer of a strategy in `commit_ticks` commits the rows of so many ticks together.

    One whose label begins with "amoro" reports a health score and leaves a delete file at every other time.
    """
    chosen = INTERVAL_TICKS if strategies is None else strategies
    for repetition in range(1, repetitions + 1):
        for index, (label, interval) in enumerate(chosen.items()):
            position = (repetition - 1) * len(chosen) + index
            summary = "no rules" if interval is None else f"every {interval} min: rewrite all files"
            fields = {"position": position, "duration_ms": 60_000 * ticks, "strategy_summary": summary,
                      "run_id": f"run-{position:03d}"}  # fmt: skip
            made = manifest(label, repetition, **fields | changes)
            chance = random.Random(f"{made.seed}/{position}")
            run = _Run(made, interval, chance, 3 if deletes else 0, (commit_ticks or {}).get(label, 1))
            ending = (fate or {}).get((label, repetition), "finished")
            place = folder / made.scenario / f"run-{made.format}-{position:03d}"
            write_run(place, made, run.records(ticks, ending))
    return folder


def build_group(folder: Path, *args: Any, **how: Any) -> RunGroup:
    """The first run group of a folder that `build_results` writes."""
    return run_groups(load_runs(build_results(folder, *args, **how)))[0]


@dataclass
class _Run:
    """One table as a handful of numbers."""

    manifest: Manifest
    interval: int | None
    random: random.Random
    delete_files: int
    commit_ticks: int = 1
    rounds: int = 0
    files: int = 0
    deletes: int = 0
    rows: int = 0
    live_bytes: int = 0
    storage_bytes: int = 0
    tick: int = 0
    version: int = 0
    clock_s: float = 0.0
    made: list[Any] = field(default_factory=list)

    def records(self, ticks: int, ending: Fate) -> list[Any]:
        for self.tick in range(1, ticks + 1):
            if self.tick % self.commit_ticks == 0:
                self._commit()
            self._add(ControlRecord, self._step(0.05))
            self._probe("after_commit")
            if self.interval is not None:
                self._decide(self.tick % self.interval == 0)
            else:
                self._probe("settled")
            if ending in ("failed", "cut off") and self.tick == ticks // 2:
                break
        made = self.made
        if ending == "vetoed":
            made = [r.model_copy(update={"status": "vetoed"}) if r.kind == "compaction" else r for r in made]
        ended = [*made, *self._ending(ending)]
        if not isinstance(ended[-1], RunRecord):
            return ended
        return [*ended[:-1], ended[-1].model_copy(update={"records_count": len(ended) - 1})]

    @property
    def is_amoro(self) -> bool:
        return self.manifest.strategy.startswith("amoro")

    @property
    def at_ms(self) -> int:
        return self.manifest.commit_interval_ms * self.tick

    def _step(self, wall_s: float) -> dict[str, Any]:
        noisy_s = round(wall_s * self.random.lognormvariate(0, 0.05), 4)
        started_s = self.clock_s
        self.clock_s += noisy_s
        return {
            "started_s": started_s, "ended_s": self.clock_s, "tick": self.tick, "at_ms": self.at_ms,
            "version": str(self.version), "written_utc": STARTED_UTC,
            "wall_s": noisy_s, "cpu_s": round(noisy_s * 1.6, 4),
        }  # fmt: skip

    def _add(self, kind: type[Any], step: Mapping[str, Any], **fields: Any) -> None:
        self.made.append(record(kind, **step, **fields))

    def _commit(self) -> None:
        size_bytes = COMMIT_FILES * FILE_BYTES + self.random.randrange(500)
        self.files, self.deletes = self.files + COMMIT_FILES, self.deletes + self.delete_files
        self.rows, self.live_bytes = self.rows + 400, self.live_bytes + size_bytes
        self.storage_bytes += size_bytes + 9_000
        self._add(
            CommitRecord, self._step(0.4), rows=400, ingested_bytes=size_bytes - 4_000,
            files_added_count=COMMIT_FILES, delete_files_added_count=self.delete_files,
            added_bytes=size_bytes, metadata_bytes=9_000, metadata_files_count=3, executor_cpu_s=0.1,
        )  # fmt: skip
        self._observe("commit")

    def _observe(self, after: Literal["commit", "compaction"]) -> None:
        self.version += 1
        self._add(
            ObserveRecord, self._step(0.02), after=after, data_files_count=self.files,
            delete_files_count=self.deletes, delete_rows=DELETE_ROWS * self.deletes,
            equality_files_count=self.deletes * 2 // 3, live_bytes=self.live_bytes, rows=self.rows,
            storage_bytes=self.storage_bytes, metadata_storage_bytes=9_000 * self.tick,
        )  # fmt: skip

    def _probe(self, when: Literal["after_commit", "settled"]) -> None:
        for probe, factor in (("first-order", 1.0), ("revenue-by-day", 2.5)):
            step = self._step(factor * (0.06 + 0.0006 * self.files + 0.0009 * self.deletes))
            self._add(
                QueryRecord, step, probe=probe, primary=factor == 1.0, when=when,
                planning_s=round(step["wall_s"] * 0.3, 4), execution_s=round(step["wall_s"] * 0.7, 4),
                files_count=self.files, delete_files_count=self.deletes, metadata_files_count=2 + self.tick,
                opened_bytes=self.live_bytes + 2_000 * self.files,
            )  # fmt: skip

    def _decide(self, due: bool) -> None:
        self._add(
            DecisionRecord, self._step(0.001), status="planned" if due else "not_due", rule=0,
            strategy=self.manifest.strategy, trigger="every",
            planner="amoro" if self.is_amoro else "iceberg.rewrite_data_files",
            reason="small_files" if due else None, actions=["rewrite all"] if due else [],
            figures={"health_score": 100.0 - self.deletes} if due and self.is_amoro else None,
        )  # fmt: skip
        if due:
            self._compact()
        else:
            self._probe("settled")

    def _compact(self) -> None:
        before, deletes = self.files, self.deletes
        step = self._step(1.1 + 0.004 * (before + deletes))
        self.rounds += 1
        is_minor = self.is_amoro and self.rounds % 2 == 1
        self.files, self.deletes = 1, int(is_minor)
        self.storage_bytes += self.live_bytes
        self._add(
            CompactionRecord, step, reason="small_files", actions=["rewrite all"], scheduled_at_ms=self.at_ms,
            plan_kind=("minor" if is_minor else "major") if self.is_amoro else "",
            before_data_files_count=before, after_data_files_count=1,
            before_delete_files_count=deletes, after_delete_files_count=self.deletes,
            after_delete_rows=DELETE_ROWS * self.deletes, after_equality_files_count=0,
            delete_files_removed_count=deletes, delete_files_added_count=self.deletes,
            before_live_bytes=self.live_bytes, after_live_bytes=self.live_bytes,
            files_removed_count=before, files_added_count=1,
            replaced_bytes=self.live_bytes, added_bytes=self.live_bytes,
            metadata_bytes=9_000, metadata_files_count=3, executor_cpu_s=step["cpu_s"] / 3,
            forecast={"files_removed_count": before, "added_bytes": self.live_bytes},
        )  # fmt: skip
        self._observe("compaction")
        self._probe("settled")

    def _ending(self, ending: Fate) -> list[Any]:
        if ending == "cut off":
            return []
        if ending == "failed":
            return [record(RunRecord, **self._step(0), status="failed", error="boom: <the disk> is full")]
        differs, large = ending == "differs", int(self.interval is not None)
        check = record(
            ContentRecord, **self._step(0.2), status="differs" if differs else "equal",
            expected_rows=self.rows, found_rows=self.rows - differs,
            expected_hash="a1", found_hash="b2" if differs else "a1",
            differences=["order_id=7: missing"] if differs else [],
        )  # fmt: skip
        sizes = ((4096, self.files - large), (2**20, large))
        end = record(
            RunRecord, **self._step(0), status="finished", loop_s=100.0, measured_s=95.0, observe_s=3.0,
            own_s=2.0, other_cores=1.7 if ending == "disturbed" else None,
            timings_invalid=ending == "timings_invalid",
            content_bytes=None if ending == "unchecked" else self.rows * CONTENT_ROW_BYTES,
            file_sizes=[(size_bytes, count) for size_bytes, count in sizes if count > 0],
        )  # fmt: skip
        return [end] if ending == "unchecked" else [check, end]
