"""What ran on what, in one table: what a reader needs to judge a comparison, or to repeat it.

Only what the manifests and records say; what they do not say is said to be unknown. The rows answer what
readers missed in published comparisons (apache/amoro issue 4173).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bench.results.records import CommitRecord, Manifest
from reports.load import Section
from reports.phrases import Sentence, Verbatim, joined, say
from reports.sections.summary import Cell, Column, Table
from reports.text import format_bytes, format_count, format_percent

UNKNOWN = "not known"
_EXECUTOR_CACHE = "spark.sql.iceberg.executor-cache.enabled"
_COLUMNS = (Column("What", is_number=False), Column("Here", is_number=False))

Fact = Callable[[Manifest], str | None]  # of one run; None where it does not apply


def set_up(section: Section) -> Table:
    """A row a fact. Where it differs between strategies, each value is told with those it belongs to."""
    found = ((title, _told(section, fact)) for title, fact in _facts(section))
    rows = tuple((Cell(title), Cell(said)) for title, said in found if said is not None)
    return Table(_COLUMNS, rows)


def _told(section: Section, fact: Fact) -> Sentence | None:
    values: dict[str, list[Sentence]] = {}
    for label in section.strategies:
        manifest = next(run.manifest for run in section.runs if run.manifest.strategy == label)
        value = fact(manifest)
        if value is not None:
            values.setdefault(value, []).append(say(Verbatim(label)))
    if len(values) < 2:
        return say(*values) if values else None
    return joined([say(f"{value} (") + joined(labels) + say(")") for value, labels in values.items()])


def _facts(section: Section) -> Iterator[tuple[str, Fact]]:
    yield "Data set", lambda m: _data_set(section, m)
    yield "Initial load lies", lambda m: _text(m.dataset.get("initial_order"))
    yield "Stream", lambda m: _stream(section)
    yield "Operations", _operations
    yield "Changes hit", _key_choice
    yield "Primary key", lambda m: _key(m) if m.is_cdc else None
    yield "Updates and deletes written as", _upsert_mode
    yield "Partitioning", lambda m: _partitioning(_part(m, "table"))
    yield "Table", _table
    yield "Cores and memory", _resources
    yield "Caches", _caches


def _part(m: Manifest, name: str) -> Mapping[str, Any]:
    found = m.scenario_text.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _data_set(section: Section, m: Manifest) -> str:
    columns = m.dataset.get("columns_count")
    of = f"{m.dataset.get('table', 'orders')}, {columns if columns is not None else 'unknown'} columns"
    loads = [c for c in _commits(section) if c.is_initial]
    if not loads:
        return f"{of}; the table starts empty"
    rows, size_bytes, files = (
        sum(getattr(c, n) for c in loads) for n in ("rows", "added_bytes", "files_added_count")
    )
    lies = f"{format_bytes(size_bytes)} in {format_count(files)} files"
    return f"{of}; {format_count(rows)} rows loaded first, {lies}"


def _stream(section: Section) -> str | None:
    made = [c for c in _commits(section) if not c.is_initial]
    if not made:
        return None
    workload = _part(section.manifest, "workload")
    rows, size_bytes = sum(c.rows for c in made), sum(c.ingested_bytes for c in made)
    tasks = (
        f", {workload['files_per_commit']} writer tasks a commit" if "files_per_commit" in workload else ""
    )
    word = "changes" if section.manifest.is_cdc else "rows"
    of = f"{format_count(rows)} {word} in {format_count(len(made))} commits"
    return f"{of}, {format_bytes(size_bytes)} as Parquet{tasks}"


def _commits(section: Section) -> Sequence[CommitRecord]:
    """Those of one whole run: every run replays the same stream."""
    return next((run.of(CommitRecord) for run in section.usable_runs), ())


def _operations(m: Manifest) -> str | None:
    """Shares of the changes; of recorded events nothing but that they are recorded is known."""
    workload = _part(m, "workload")
    if not m.is_cdc:
        return None
    if "insert_share" not in workload or "delete_share" not in workload:
        return f"those of the recorded events; shares {UNKNOWN}"
    inserts, deletes = float(workload["insert_share"]), float(workload["delete_share"])
    rest = 1 - inserts - deletes
    shares = f"{_percent(inserts)} inserts, {_percent(rest)} updates, {_percent(deletes)} deletes"
    more = (
        (
            "repeat_share",
            "of the updates and deletes hit a key the commit changed before",
            "no update or delete hits a key the commit changed before",
        ),
        ("move_share", "of the updates move their row to another partition", "no update moves a row"),
        (
            "late_share",
            f"of the changes arrive up to {workload.get('late_by', UNKNOWN)} late",
            "no change arrives late",
        ),
        ("duplicate_share", "of the deliveries come twice", "no delivery comes twice"),
    )
    told = (
        f"{_percent(float(workload[name]))} {some}" if workload[name] else none
        for name, some, none in more
        if name in workload
    )
    return "; ".join([shares, *told])


def _percent(share: float) -> str:
    return format_percent(round(share, 9))


def _key_choice(m: Manifest) -> str | None:
    workload = _part(m, "workload")
    skew = workload.get("key_skew")
    if not m.is_cdc:
        return None
    if skew is None:
        return f"the keys of the recorded events; skew {UNKNOWN}"
    if skew == "uniform":
        return "uniform: every key alike"
    return f"{skew}, falling by the power {workload.get('key_exponent', UNKNOWN)}"


def _key(m: Manifest) -> str:
    key = m.dataset.get("key")
    return ", ".join(str(part) for part in key) if isinstance(key, list) else UNKNOWN


def _upsert_mode(m: Manifest) -> str | None:
    mode = m.options.get("upsert_mode")
    if mode == "equality-delete":
        return f"equality deletes on {_key(m)}"
    return None if mode is None else f"{mode}, by a MERGE whose files are Spark's to count"


def _partitioning(table: Mapping[str, Any]) -> str:
    by = str(table.get("partitioning", UNKNOWN))
    return f"{by}, {table['buckets']} buckets" if "buckets" in table else by


def _table(m: Manifest) -> str:
    version = m.options.get("format_version", UNKNOWN)
    target = format_bytes(m.target_file_size_bytes)
    codec = m.dataset.get("codec", UNKNOWN)
    return f"format version {version}, target file size {target}, Parquet codec {codec}"


def _resources(m: Manifest) -> str:
    memory = format_bytes(m.memory_bytes)
    cores = m.options.get("cores")
    if isinstance(cores, dict):
        sides = ", ".join(f"{side} {count}" for side, count in cores.items())
        return f"cores of a model: {sides}; compactor {memory}"
    master = m.options.get("spark.master")
    if master is None:
        return f"cores {UNKNOWN}; {memory}"
    if not str(master).startswith("local"):
        return f"Spark master {master}; cores of the cluster {UNKNOWN}; {memory}"
    return f"one process writes, compacts and reads in turn: {master}, as many tasks at once; {memory}"


def _caches(m: Manifest) -> str | None:
    if m.mode == "simulated":
        return None
    spark = m.options.get("spark")
    conf: Mapping[str, Any] = spark if isinstance(spark, dict) else {}
    table = next((value for key, value in conf.items() if key.endswith(".cache-enabled")), None)
    switches = (
        ("catalog's table cache", table),
        ("executors' cache of delete files", conf.get(_EXECUTOR_CACHE)),
    )
    return "; ".join(f"{name} {_on(value)}" for name, value in switches)


def _on(value: object) -> str:
    return {"true": "on", "false": "off"}.get(str(value).lower(), UNKNOWN)
