"""Runs Delta's own OPTIMIZE and REORG on tables whose logs are written by hand.

Delta writes a pool of data files of different sizes once, some with deletion vectors. A table is a random
choice of them, in any partitions or Z-cubes, with or without statistics: links to the files, and a log of one
version.
"""

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from bench.engines.delta.actions import CLUSTERING_DOMAIN
from bench.engines.delta.log import DeltaLog, live_actions
from bench.engines.delta.state import live_files
from bench.engines.spark.session import configured
from strategies.delta.commands import Command
from strategies.delta.files import DeletionVector, DeltaDataFile, DeltaState
from strategies.delta.optimize_options import CONF_PREFIX
from strategies.state import MIB

POOL_FILES = 40
_SCHEMA = {"type": "struct", "fields": [
    {"name": "id", "type": "long", "nullable": True, "metadata": {}},
    {"name": "text", "type": "string", "nullable": True, "metadata": {}},
    {"name": "file", "type": "integer", "nullable": True, "metadata": {}},
    {"name": "p", "type": "string", "nullable": True, "metadata": {}},
]}  # fmt: skip
_CLUSTERING = {"domainMetadata": {
    "domain": CLUSTERING_DOMAIN, "removed": False,
    "configuration": json.dumps({"clusteringColumns": [["id"]]}),
}}  # fmt: skip
_STATEMENTS = {Command.OPTIMIZE: "OPTIMIZE {name}", Command.REORG: "REORG TABLE {name} APPLY (PURGE)"}


@dataclass(frozen=True)
class PooledFile:
    add: Mapping[str, Any]
    live_rows: int


@dataclass(frozen=True)
class Case:
    """A table, and the command and options to run on it; `live_rows` by path."""

    command: Command
    state: DeltaState
    live_rows: Mapping[str, int]
    options: Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """The removed files, the number of added files by their rows, and the command's own counts."""

    removed: frozenset[str]
    added_rows: Mapping[int, int]
    bins: int
    batches: int


def make_pool(spark: SparkSession, folder: Path) -> list[PooledFile]:
    """Files of 1 to 3,000 rows, all of different sizes. Every second one but the smallest has deletes."""
    place = str(folder / "pool")
    numbers = random.Random(7)
    spark.sql(
        f"CREATE TABLE delta.`{place}` (id BIGINT, text STRING, file INT) USING delta "
        "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    # One partition a file: Spark's own ranges are found by sampling, and may put several files into one.
    files = (
        spark.range(1, 2 + 75 * number, numPartitions=1).selectExpr(
            "id", f"sha2(CAST(id * 31 + {number} AS STRING), 256) AS text", f"{number} AS file"
        )
        for number in range(POOL_FILES)
    )
    reduce(DataFrame.union, files).write.format("delta").mode("append").save(place)
    shares = {number: numbers.choice((2, 3, 10, 19, 20, 21, 40)) for number in range(0, POOL_FILES, 2)}
    deleted = " OR ".join(f"(file = {number} AND id % {share} = 0)" for number, share in shares.items())
    spark.sql(f"DELETE FROM delta.`{place}` WHERE {deleted}")
    live = [action.fields for action in live_actions(DeltaLog(place).commits_after(-1))]
    # The log has them in any order. Sorted by size, a seed draws the same files on every machine.
    live.sort(key=lambda fields: fields["size"])
    pool = [PooledFile(fields, _live_rows(fields)) for fields in live]
    # Otherwise a seed draws other files elsewhere: two files of one size have no defined order.
    assert len({file.add["size"] for file in pool}) == len(pool) == POOL_FILES
    return pool


def _live_rows(fields: Mapping[str, Any]) -> int:
    vector = fields.get("deletionVector")
    return int(json.loads(fields["stats"])["numRecords"]) - (vector["cardinality"] if vector else 0)


def make_case(pool: list[PooledFile], source: Path, folder: Path, seed: int) -> Case:
    """Options are near the sizes of the files. Every third table has liquid clustering."""
    numbers = random.Random(seed)
    chosen = numbers.sample(pool, numbers.randint(0, 14))
    sizes = sorted(file.add["size"] for file in chosen) or [1]
    is_clustered = seed % 3 == 0
    if is_clustered:
        options, places = _cubes(numbers, sizes, len(chosen))
    else:
        options, places = _options(numbers, sizes), _partitions(numbers, len(chosen))
    adds, live_rows = [], {}
    (folder / "_delta_log").mkdir(parents=True)
    for file, place in zip(chosen, places, strict=True):
        fields = {**file.add, "dataChange": True, **place}
        if numbers.random() < 0.15:
            fields["stats"] = "{}"
        live_rows[fields["path"]] = file.live_rows
        adds.append(fields)
        (folder / fields["path"]).hardlink_to(source / fields["path"])
    for vectors in source.glob("deletion_vector_*.bin"):
        (folder / vectors.name).hardlink_to(vectors)
    metadata = {"metaData": {
        "id": f"case-{seed}", "format": {"provider": "parquet", "options": {}}, "createdTime": 1,
        "schemaString": json.dumps(_SCHEMA), "partitionColumns": [] if is_clustered else ["p"],
        "configuration": {"delta.enableDeletionVectors": "true"},
    }}  # fmt: skip
    domains = [_CLUSTERING] if is_clustered else []
    actions = [_protocol(is_clustered), metadata, *domains, *({"add": fields} for fields in adds)]
    text = "".join(f"{json.dumps(action)}\n" for action in actions)
    (folder / "_delta_log" / f"{0:020}.json").write_text(text)
    command = numbers.choice((Command.OPTIMIZE, Command.REORG))
    return Case(command, state_of(folder), live_rows, options)


def _protocol(is_clustered: bool) -> Mapping[str, Any]:
    clustering = ["clustering", "domainMetadata"] if is_clustered else []
    return {"protocol": {
        "minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors", *clustering],
    }}  # fmt: skip


def _partitions(numbers: random.Random, count: int) -> list[Mapping[str, Any]]:
    """Up to three partitions, as fields of actions."""
    values = numbers.choice((("a",), ("a", "b"), ("a", "b", None)))
    return [{"partitionValues": {"p": numbers.choice(values)}} for _ in range(count)]


def _cubes(
    numbers: random.Random, sizes: list[int], count: int
) -> tuple[dict[str, str], list[Mapping[str, Any]]]:
    """Options, and Z-cubes as fields of actions.

    The order in which Delta takes the files of a cube, or of no cube, is not defined. So either all files fit
    into one bin, or each cube has one file and at most one file has no cube.
    """
    columns = [["id"]] * 4 + [["text"]]
    if numbers.random() < 0.5:
        names = ["", "a", "b", "c"][: numbers.randint(1, 4)]
        places = [_in_cube(numbers.choice(names), numbers.choice(columns)) for _ in range(count)]
        threshold, target = numbers.choice(sizes) + numbers.choice(sizes), sum(sizes)
    else:
        names = [f"{number:02}" for number in range(1, count)] + [""]
        numbers.shuffle(names)
        places = [_in_cube(name, numbers.choice(columns)) for name in names[:count]]
        threshold, target = numbers.choice(sizes) + 1, numbers.choice(sizes) + max(sizes)
    cubes = "clustering.mergeStrategy.minCubeSize"
    options = {
        "maxFileSize": str(2**40),
        f"{cubes}.threshold": str(threshold),
        f"{cubes}.targetCubeSize": str(target),
    }
    return options, places


def _in_cube(name: str, columns: Sequence[str]) -> Mapping[str, Any]:
    if not name:
        return {"partitionValues": {}}
    tags = {"ZCUBE_ID": name, "ZCUBE_ZORDER_BY": json.dumps(columns)}
    return {"partitionValues": {}, "clusteringProvider": "liquid", "tags": tags}


def _options(numbers: random.Random, sizes: list[int]) -> dict[str, str]:
    """Limits are often exactly the size of one or two files."""

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
    (commit,) = DeltaLog(str(folder)).commits_after(-1)
    files = [file for action in commit.added for file in live_files(action)]
    return DeltaState(
        0, 128 * MIB,
        data_files=tuple(file for file in files if isinstance(file, DeltaDataFile)),
        delete_files=tuple(file for file in files if isinstance(file, DeletionVector)),
        clustering_columns=commit.clustering_columns or (),
    )  # fmt: skip


def treated(spark: SparkSession, folder: Path, case: Case) -> Answer:
    """Run a case's command on its table, and read the result from the log."""
    statement = _STATEMENTS[case.command].format(name=f"delta.`{folder}`")
    with configured(spark, {f"{CONF_PREFIX}{name}": value for name, value in case.options.items()}):
        metrics = spark.sql(statement).select("metrics.*").collect()[0]
    commits = list(DeltaLog(str(folder)).commits_after(0))
    added = [
        json.loads(action.fields["stats"])["numRecords"] for commit in commits for action in commit.added
    ]
    removed = frozenset(action.path for commit in commits for action in commit.removed)
    return Answer(removed, Counter(added), metrics["numBins"], metrics["numBatches"])
