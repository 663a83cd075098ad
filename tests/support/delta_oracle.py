"""What Delta's own OPTIMIZE does to tables whose logs are composed by hand of files that it wrote itself.

A pool of data files of different sizes is written once, some of them with deletion vectors. A table is any
choice of them, in any partitions, with or without statistics: links to the files, and a log of one version.
"""

import json
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.engines.delta.log import DeltaLog, live_actions
from bench.engines.delta.state import live_files
from bench.engines.spark.session import configured
from strategies.delta.files import DeletionVector, DeltaDataFile, DeltaState
from strategies.delta.optimize_options import CONF_PREFIX
from strategies.state import MIB

POOL_FILES = 40
_SCHEMA = {"type": "struct", "fields": [
    {"name": "id", "type": "long", "nullable": True, "metadata": {}},
    {"name": "text", "type": "string", "nullable": True, "metadata": {}},
    {"name": "p", "type": "string", "nullable": True, "metadata": {}},
]}  # fmt: skip
_PROTOCOL = {"protocol": {
    "minReaderVersion": 3, "minWriterVersion": 7,
    "readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"],
}}  # fmt: skip


@dataclass(frozen=True)
class PooledFile:
    """A file of the pool: its action in the log, and its live rows."""

    add: Mapping[str, Any]
    live_rows: int


@dataclass(frozen=True)
class Case:
    """A table to optimize, in a folder of its own, and with which options; `live_rows` by path."""

    state: DeltaState
    live_rows: Mapping[str, int]
    options: Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """What OPTIMIZE did: the files it removed, the rows of those it added, and its own counts."""

    removed: frozenset[str]
    added_rows: Mapping[int, int]
    bins: int
    batches: int


def make_pool(spark: SparkSession, folder: Path) -> list[PooledFile]:
    """Files of 1 to 3,000 rows, each of another size. Every second one has deleted rows, one no other."""
    place = str(folder / "pool")
    numbers = random.Random(7)
    spark.sql(
        f"CREATE TABLE delta.`{place}` (id BIGINT, text STRING, file INT) USING delta "
        "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    rows_of = [1 + round(3000 * (number / POOL_FILES) ** 3) + number for number in range(POOL_FILES)]
    counts = ", ".join(f"({number}, {rows})" for number, rows in enumerate(rows_of))
    rows = spark.sql(
        "SELECT CAST(id AS BIGINT) AS id, sha2(CAST(id * 31 + file AS STRING), 256) AS text, file "
        f"FROM VALUES {counts} AS t(file, n) "
        "LATERAL VIEW explode(sequence(1, n)) AS id"
    )
    rows.repartitionByRange(POOL_FILES, "file").write.format("delta").mode("append").save(place)
    shares = {number: numbers.choice((2, 3, 10, 19, 20, 21, 40)) for number in range(0, POOL_FILES, 2)}
    shares[0] = 1
    deleted = " OR ".join(f"(file = {number} AND id % {share} = 0)" for number, share in shares.items())
    spark.sql(f"DELETE FROM delta.`{place}` WHERE {deleted}")
    live = [action.fields for action in live_actions(DeltaLog(place).commits_after(-1))]
    pool = [PooledFile(fields, _live_rows(fields)) for fields in live]
    sizes = [file.add["size"] for file in pool]
    assert len(set(sizes)) == len(sizes)  # ties would be broken in an order that is not defined
    return pool


def _live_rows(fields: Mapping[str, Any]) -> int:
    vector = fields.get("deletionVector")
    return int(json.loads(fields["stats"])["numRecords"]) - (vector["cardinality"] if vector else 0)


def make_case(pool: list[PooledFile], source: Path, folder: Path, seed: int) -> Case:
    """A table of some files of the pool in `folder`, and options that are near the sizes of its files."""
    numbers = random.Random(seed)
    chosen = numbers.sample(pool, numbers.randint(0, 14))
    partitions = numbers.choice((("a",), ("a", "b"), ("a", "b", None)))
    sizes = sorted(file.add["size"] for file in chosen) or [1]
    adds, live_rows = [], {}
    (folder / "_delta_log").mkdir(parents=True)
    for file in chosen:
        fields = {**file.add, "partitionValues": {"p": numbers.choice(partitions)}, "dataChange": True}
        if numbers.random() < 0.15:
            fields["stats"] = "{}"
        live_rows[fields["path"]] = file.live_rows
        adds.append(fields)
        (folder / fields["path"]).hardlink_to(source / fields["path"])
    for vectors in source.glob("deletion_vector_*.bin"):
        (folder / vectors.name).hardlink_to(vectors)
    metadata = {"metaData": {
        "id": f"case-{seed}", "format": {"provider": "parquet", "options": {}}, "createdTime": 1,
        "schemaString": json.dumps(_SCHEMA), "partitionColumns": ["p"],
        "configuration": {"delta.enableDeletionVectors": "true"},
    }}  # fmt: skip
    actions = [_PROTOCOL, metadata, *({"add": fields} for fields in adds)]
    text = "".join(f"{json.dumps(action)}\n" for action in actions)
    (folder / "_delta_log" / f"{0:020}.json").write_text(text)
    return Case(state_of(folder), live_rows, _options(numbers, sizes))


def _options(numbers: random.Random, sizes: list[int]) -> dict[str, str]:
    """Limits that are often exactly the size of a file, or that of two together."""

    def near() -> int:
        exact = numbers.choice(sizes) + numbers.choice((0, numbers.choice(sizes)))
        return max(1, exact + numbers.choice((-1, 0, 0, 1)))

    options = {"minFileSize": str(near()), "maxFileSize": str(near() + numbers.choice((0, sum(sizes) // 3)))}
    if numbers.random() < 0.7:
        options["maxDeletedRowsRatio"] = numbers.choice(("0.0", "0.05", "0.1", "0.5", "1.0"))
    if numbers.random() < 0.4:
        options["batchSize"] = str(near() * numbers.choice((1, 2)))
    return options


def state_of(folder: Path) -> DeltaState:
    """The table as a planner sees it."""
    files = [
        file
        for commit in DeltaLog(str(folder)).commits_after(-1)
        for action in commit.added
        for file in live_files(action)
    ]
    return DeltaState(
        0, 128 * MIB,
        data_files=tuple(file for file in files if isinstance(file, DeltaDataFile)),
        delete_files=tuple(file for file in files if isinstance(file, DeletionVector)),
    )  # fmt: skip


def interpreting(spark: SparkSession) -> SparkSession:
    """A session that compiles no code for its queries, as compiling takes longer than so few rows do.

    Being new, it is in Spark's own catalog, where tables can be named by their paths.
    """
    session = spark.newSession()
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    return session


def optimized(spark: SparkSession, folder: Path, options: Mapping[str, str]) -> Answer:
    """Run OPTIMIZE on the table in `folder`, and read from its log what it did."""
    with configured(spark, {f"{CONF_PREFIX}{name}": value for name, value in options.items()}):
        metrics = spark.sql(f"OPTIMIZE delta.`{folder}`").select("metrics.*").collect()[0]
    commits = list(DeltaLog(str(folder)).commits_after(0))
    added = [
        json.loads(action.fields["stats"])["numRecords"] for commit in commits for action in commit.added
    ]
    removed = frozenset(action.path for commit in commits for action in commit.removed)
    return Answer(removed, Counter(added), metrics["numBins"], metrics["numBatches"])
