"""The setup in one table: what a reader needs to judge a comparison, or to repeat it.

Everything comes from manifests and records, or is called unknown. The rows answer what readers missed in
published comparisons (apache/amoro issue 4173).
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bench.results.records import CommitRecord, Manifest
from bench.results.table_content import commits_of
from bench.results.tables import Records, RunRecords
from bench.text import counted, human_bytes, human_percent
from reports.data.group import RunGroup
from reports.page.sections.parameters import plugin_text
from reports.page.tables import Cell, Column, Table
from reports.phrases import Sentence, Verbatim, joined, listed, say, separated

UNKNOWN = "not known"
_COLUMNS = (Column("Property", is_number=False), Column("Value", is_number=False))

Fact = Callable[[Manifest], str | None]  # of one run; None if it does not apply


def set_up(group: RunGroup) -> Table:
    """A row per fact; a value that not all strategies share names its strategies."""
    values = [(title, _value(group, fact)) for title, fact in _facts(group)]
    values.append(("Replaced runs", _replaced(group)))
    rows = tuple((Cell(title), Cell(value)) for title, value in values if value is not None)
    return Table(_COLUMNS, rows, caption="Setup")


def _value(group: RunGroup, fact: Fact) -> Sentence | None:
    labels_by_value: dict[str, list[str]] = {}
    for label in group.strategies:
        value = fact(group.manifest_of(label))
        if value is not None:
            labels_by_value.setdefault(value, []).append(label)
    if list(labels_by_value.values()) == [list(group.strategies)]:
        return say(*labels_by_value)
    values = [say(f"{value} (") + listed(labels) + say(")") for value, labels in labels_by_value.items()]
    return joined(values) if values else None


def _replaced(group: RunGroup) -> Sentence | None:
    """Which runs are marked as replaced and why; None if there are none."""
    runs = [
        say(Verbatim(run.manifest.strategy), f" (repetition {run.manifest.repetition}): {run.replaced}")
        for run in group.runs
        if run.replaced is not None
    ]
    if not runs:
        return None
    marked = f"{counted(len(runs), 'run')} marked as replaced, whose figures are not used: "
    return say(marked) + separated("; ", runs)


def _facts(group: RunGroup) -> Iterator[tuple[str, Fact]]:
    yield "Variant", _variant
    if len(group.parts) > 1:
        yield "Format", lambda m: m.format
    yield "Data set", lambda m: _data_set(group, m)
    yield "Initial data layout", lambda m: _text(m.dataset.get("initial_order"))
    yield "Stream", lambda m: _stream(group, m)
    yield "Operations", _operations
    yield "Key distribution", _key_distribution
    yield "Primary key", lambda m: _key(m) if m.is_cdc else None
    yield "Updates and deletes", _upsert_mode
    yield "Partitioning", _partitioning
    yield "Table", _table
    yield "Catalog", _catalog
    yield "Maintenance of every table", _maintenance
    yield "Cores and memory", _resources
    yield "Caches", _caches


def _variant(m: Manifest) -> str | None:
    """The keys that the variant of the run sets, with their values; None without a variant."""
    variant: Any = m.variant
    if variant is None:
        return None
    texts = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in variant["set"].items()]
    return f"{variant['label']}: {', '.join(texts)}"


def _part(m: Manifest, name: str) -> Mapping[str, Any]:
    part: Any = m.scenario_text.get(name, {})
    return part  # type: ignore[no-any-return]


def _numbers(m: Manifest, name: str) -> dict[str, Any]:
    """The numeric keys of a part; a user's own workload may use such a name for something else."""
    return {key: value for key, value in _part(m, name).items() if isinstance(value, int | float)}


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _data_set(group: RunGroup, m: Manifest) -> str:
    columns = m.dataset.get("columns_count")
    width = f"{columns} columns" if columns is not None else "number of columns not known"
    table = f"{m.dataset.get('table', 'orders')}, {width}"
    loads = _commits(group, m, is_initial=True)
    if not loads:
        return f"{table}; the table starts empty"
    files_count, size_bytes, rows = (
        int(loads.column(name).sum()) for name in ("files_added_count", "added_bytes", "rows")
    )
    size = f"{human_bytes(size_bytes)} in {counted(files_count, 'file')}"
    return f"{table}; initial load of {counted(rows, 'row')}, {size}"


def _stream(group: RunGroup, m: Manifest) -> str | None:
    commits = _commits(group, m, is_initial=False)
    if not commits:
        return None
    rows, size_bytes = (int(commits.column(name).sum()) for name in ("rows", "ingested_bytes"))
    per_commit = _writer_tasks(m)
    volume = f"{counted(rows, 'change' if m.is_cdc else 'row')} in {counted(len(commits), 'commit')}"
    return f"{volume}, {human_bytes(size_bytes)} as Parquet{per_commit}"


def _writer_tasks(m: Manifest) -> str:
    workload = _numbers(m, "workload")
    tasks, rows = (workload.get(key) for key in ("files_per_commit", "rows_per_file"))
    if tasks is None:
        return ""
    if rows is None:
        return f", {counted(tasks, 'writer task')} per commit"
    per_task = counted(rows, "row")
    return f", a writer task per {per_task} and at most {tasks:,} per commit"


def _commits(group: RunGroup, m: Manifest, *, is_initial: bool) -> Records[CommitRecord]:
    """The commits of any usable run with the same writer and format: all runs replay one stream."""
    writer = _writer(group, m)
    runs = (run for run in group.usable_runs if _writer(group, run.manifest) == writer)
    commits = next((commits_of(run) for run in runs), RunRecords.listed([]).of(CommitRecord))
    return commits.where(commits.column("is_initial") == is_initial)


def _writer(group: RunGroup, m: Manifest) -> tuple[str, object]:
    return m.format, group.definition(m.strategy).get("writer") or {}


def _operations(m: Manifest) -> str | None:
    """Shares of the changes, which are not known for recorded events."""
    workload, late_by = _numbers(m, "workload"), _part(m, "workload").get("late_by", UNKNOWN)
    if not m.is_cdc or m.is_imported:
        return None
    if "insert_share" not in workload or "delete_share" not in workload:
        return f"as in the recorded events; shares {UNKNOWN}"
    inserts, deletes = workload["insert_share"], workload["delete_share"]
    rest = 1 - inserts - deletes
    shares = f"{_percent(inserts)} inserts, {_percent(rest)} updates, {_percent(deletes)} deletes"
    details = (
        ("repeat_share", "of updates and deletes hit a key already changed in the same commit",
         "no key is changed twice in a commit"),
        ("move_share", "of updates move the row to another partition",
         "no update moves a row to another partition"),
        ("late_share", f"of changes arrive up to {late_by} late", "no late changes"),
        ("duplicate_share", "of changes are delivered twice", "no duplicate deliveries"),
    )  # fmt: skip
    known = (
        f"{_percent(workload[name])} {if_some}" if workload[name] else if_none
        for name, if_some, if_none in details
        if name in workload
    )
    return "; ".join([shares, *known])


def _percent(share: float) -> str:
    return human_percent(round(share, 9))


def _key_distribution(m: Manifest) -> str | None:
    workload = _part(m, "workload")
    skew = workload.get("key_skew")
    if not m.is_cdc or m.is_imported:
        return None
    if skew is None:
        return f"as in the recorded events; skew {UNKNOWN}"
    if skew == "uniform":
        return "uniform"
    return f"{skew}, exponent {workload.get('key_exponent', UNKNOWN)}"


def _key(m: Manifest) -> str:
    key = m.dataset.get("key")
    return ", ".join(str(part) for part in key) if isinstance(key, list) else UNKNOWN


def _upsert_mode(m: Manifest) -> str | None:
    if m.is_imported:
        return "as recorded"
    mode, by = m.options.get("upsert_mode"), m.dataset.get("changes_by")
    if m.dataset.get("is_merge", by == "MERGE INTO"):  # older manifests do not have it
        return f"{mode} through {by}, where Spark chooses the number of files"
    return _text(mode) if by is None else f"{by} on {_key(m)}"


def _partitioning(m: Manifest) -> str:
    own = m.dataset.get("partition_columns")
    if m.is_imported and isinstance(own, list):
        return ", ".join(map(str, own)) or "none"
    table = _part(m, "table")
    buckets = f", {table['buckets']} buckets" if "buckets" in table else ""
    return f"{table.get('partitioning', UNKNOWN)}{buckets}"


def _table(m: Manifest) -> str:
    version = m.options.get("format_version", UNKNOWN)  # None: the format has no versions
    format_version = "" if version is None else f"format version {version}, "
    target = human_bytes(m.target_file_size_bytes)
    codec = m.dataset.get("codec", UNKNOWN)
    return f"{format_version}target file size {target}, Parquet codec {codec}"


def _catalog(m: Manifest) -> str | None:
    """The scenario's catalog and its warehouse; None for a catalog in the run's own folder."""
    if m.notes.get("storage") is None:
        return None
    properties = _part(m, "catalog").get("properties", {})  # none if Spark's configuration sets the catalog
    known = [f"{key} {properties[key]}" for key in ("type", "warehouse") if key in properties]
    return ", ".join([str(m.options.get("catalog", UNKNOWN)), *known])


def _resources(m: Manifest) -> str:
    memory = human_bytes(m.memory_bytes)
    cores = m.options.get("cores")
    if isinstance(cores, dict):
        sides = ", ".join(f"{side} {count}" for side, count in cores.items())
        return f"modelled cores: {sides}; compactor memory {memory}"
    master = m.options.get("spark.master")
    if master is None:
        return f"cores {UNKNOWN}; memory {memory}"
    kind = str(master).partition("[")[0]  # "local", "local-cluster", or a cluster's address
    if kind == "local":
        return f"one process (Spark {master}) writes, compacts and queries in turn; memory {memory}"
    where = "executors on this machine" if kind == "local-cluster" else f"cores of the cluster {UNKNOWN}"
    return f"Spark master {master}, {where}; memory of the driver {memory}"


def _maintenance(m: Manifest) -> str | None:
    rules: Any = m.scenario_text.get("maintenance", ())
    texts = (f"{plugin_text(rule['trigger'])}: {plugin_text(rule['planner'])}" for rule in rules)
    return "; ".join(texts) or None


def _caches(m: Manifest) -> str | None:
    """The caches of the format's reader, if its engine reports them."""
    caches, words = m.options.get("caches"), {"true": "on", "false": "off"}
    if not isinstance(caches, dict):
        return None
    return "; ".join(f"{name} {words.get(str(value).lower(), UNKNOWN)}" for name, value in caches.items())
