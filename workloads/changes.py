"""The rows of a stream of changes: pure functions of the seed, a change's number and what came before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workloads import orders
from workloads.commit import KeyShape
from workloads.dates import DateWindow
from workloads.draws import Strata, below, happens, hashed, word
from workloads.fold import CHANGE_FACTS, STATE_COLUMNS
from workloads.mix import Mix
from workloads.schema import SCHEMAS, Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BY_KEY = "PARTITION BY key ORDER BY change_number ROWS BETWEEN UNBOUNDED PRECEDING AND"


@dataclass(frozen=True, slots=True)
class ChangeBlock:
    """The changes of one commit, their deliveries numbered from `first_row`, in `writers` parts."""

    first_row: int
    writers: int
    mix: Mix
    keys: KeyShape
    dates: DateWindow
    initial_dates: DateWindow
    move_share: float
    schema: Schema


def rows(spark: SparkSession, seed: int, block: ChangeBlock, earlier: DataFrame | None) -> DataFrame:
    """The changes as they are delivered: a partition per writer that has one, by change number.

    Columns are the payload and `CHANGE_FACTS`. An update's payload is the order's own with
    `changed_values` drawn anew; a delete has NULLs beside its key and the columns that tell a
    partition. Where the key's row lay before comes from the same commit, else from `earlier`, else
    from the initial load.
    """
    from pyspark.sql import functions as F  # noqa: N812  the field's usual name

    drawn = _drawn(spark, seed, block).localCheckpoint()
    # Drawn once for both sides. The right one is a single task: a commit is small, and to sort it by
    # key in place is half the time of shuffling it. The left one keeps its partitions and their order.
    placed = F.broadcast(_placed(spark, seed, block, drawn.coalesce(1), earlier))
    own = {"user_city": "city", "order_date": "date"}
    kept = ("number", *CHANGE_FACTS)
    keyed = drawn.join(placed, "change_number").withColumn("id", F.expr("key - 1"))
    payload = orders.with_payload(keyed, block.schema, seed, own, kept)
    return payload.selectExpr(*_payload_of_op(block.schema, seed), *CHANGE_FACTS)


def _payload_of_op(schema: Schema, seed: int) -> list[str]:
    changed = orders.changed_values(schema, seed, "number")
    columns = []
    for column in schema.columns:
        name = column.name
        if name in STATE_COLUMNS:
            columns.append(name)
        else:
            new = f"CAST({changed[name]} AS {column.spark_type})" if name in changed else name
            columns.append(f"CASE op WHEN 'I' THEN {name} WHEN 'U' THEN {new} END AS {name}")
    return columns


def _drawn(spark: SparkSession, seed: int, block: ChangeBlock) -> DataFrame:
    """Each delivery's `change_number`, `op`, `key`, `ts` and whether it `moves`.

    `number` is that of a change's first delivery: what is drawn for a change is drawn by it.
    """
    total = block.mix.changes
    frame = spark.range(0, total, 1, max(1, min(block.writers, total))).withColumnRenamed("id", "place")
    frame = _twice(_kinds(frame, seed, block), seed, block)
    frame = frame.selectExpr(
        "*", f"{block.first_row}L + place + twice_before AS number",
        "explode(IF(twice, array(0L, 1L), array(0L))) AS again",
    )  # fmt: skip
    target = f"pmod({hashed(seed, 'repeated', 'number')}, greatest(1L, inserts_before + draw))"
    frame = frame.selectExpr("*", f"IF(repeat, {target}, NULL) AS target")
    moves = happens(seed, "move", block.move_share, "number")
    return frame.selectExpr(
        "number", "number + again AS change_number", "op", f"{_key(seed, block)} AS key",
        f"{_ts(seed, block)} AS ts", f"op = 'U' AND {moves} AS moves",
    )  # fmt: skip


def _kinds(frame: DataFrame, seed: int, block: ChangeBlock) -> DataFrame:
    """Adds `op`, `repeat`, and how many inserts, updates, deletes and draws of a key are before."""
    mix = block.mix
    others = mix.updates + mix.deletes
    drawn_deletes = Strata(mix.deletes - mix.repeated_deletes, mix.draws)
    frame = _marked(frame, seed, block, "insert", Strata(mix.inserts, mix.changes), "place")
    frame = frame.selectExpr("*", "place - inserts_before AS other")
    frame = _marked(frame, seed, block, "repeat", Strata(mix.repeats, others), "other")
    frame = frame.selectExpr("*", "other - repeats_before AS draw")
    frame = _marked(frame, seed, block, "drawn_delete", drawn_deletes, "draw")
    repeated_deletes = Strata(mix.repeated_deletes, mix.repeats)
    frame = _marked(frame, seed, block, "repeated_delete", repeated_deletes, "repeats_before")
    delete = "IF(repeat, repeated_delete, drawn_delete)"
    return frame.selectExpr(
        "place", "inserts_before", "draw", "repeat",
        f"CASE WHEN insert THEN 'I' WHEN {delete} THEN 'D' ELSE 'U' END AS op",
        "drawn_deletes_before + repeated_deletes_before AS deletes_before",
        "other - drawn_deletes_before - repeated_deletes_before AS updates_before",
    )  # fmt: skip


def _twice(frame: DataFrame, seed: int, block: ChangeBlock) -> DataFrame:
    """Adds whether a change is delivered `twice`, and how many before it are."""
    mix = block.mix
    counts = {
        "insert": Strata(mix.twice_inserts, mix.inserts),
        "update": Strata(mix.twice_updates, mix.updates),
        "delete": Strata(mix.twice_deletes, mix.deletes),
    }
    for kind, strata in counts.items():
        frame = _marked(frame, seed, block, f"twice_{kind}", strata, f"{kind}s_before")
    return frame.selectExpr(
        "*", "CASE op WHEN 'I' THEN twice_insert WHEN 'U' THEN twice_update ELSE twice_delete END AS twice",
        "twice_inserts_before + twice_updates_before + twice_deletes_before AS twice_before",
    )  # fmt: skip


def _marked(
    frame: DataFrame, seed: int, block: ChangeBlock, name: str, strata: Strata, ordinal: str
) -> DataFrame:
    """Adds whether `strata` marks the ordinal, as `name`, and how many before it, as `names_before`."""
    numbered = frame.selectExpr("*", f"{strata.number(ordinal)} AS stratum")
    drawn = strata.drawn(seed, name, "stratum", f"{block.first_row}L + stratum")
    marked = numbered.selectExpr("*", f"{drawn} AS marked")
    before = f"stratum + IF(marked < {ordinal}, 1L, 0L)" if strata.count else "0L"
    return marked.selectExpr(
        "*", f"marked = {ordinal} AS {name}", f"{before} AS {name}s_before"
    ).drop("stratum", "marked")  # fmt: skip


def _key(seed: int, block: ChangeBlock) -> str:
    """A new key, one the commit has inserted or drawn before, or one drawn among those there before.

    A repeat with nothing before it in the commit draws what the first draw will.
    """
    keys = block.keys
    draw = f"{block.first_row}L + IF(repeat, target - inserts_before, draw)"
    return (
        f"CASE WHEN op = 'I' THEN {keys.population + 1}L + inserts_before "
        f"WHEN repeat AND target < inserts_before THEN {keys.population + 1}L + target "
        f"ELSE {keys.choice.sql(seed, f'({draw})', keys.population)} END"
    )


def _ts(seed: int, block: ChangeBlock) -> str:
    """Event times are spread over the interval in order of the changes, save for late ones."""
    from_ms, length_ms = orders.window_ms(block.dates)
    jitter = below(seed, "ts", length_ms, "number")
    on_time = f"{from_ms}L + (place * {length_ms}L + {jitter}) div {max(1, block.mix.changes)}L"
    return on_time + orders.late_by(seed, block.dates, "number")


def _placed(
    spark: SparkSession, seed: int, block: ChangeBlock, drawn: DataFrame, earlier: DataFrame | None
) -> DataFrame:
    """By `change_number`: what tells the row's partition after the change and before it."""
    known = _known(spark, seed, block, drawn, earlier)
    own = known.selectExpr(
        "*", "CASE WHEN op = 'I' THEN first_city WHEN moves THEN "
        f"{word(seed, 'moved_city', orders.vocabularies(seed).cities, 'number')} END AS own_city",
        "CASE WHEN op = 'I' OR moves THEN ts END AS own_date",
    )  # fmt: skip
    window = f"OVER ({_BY_KEY} 1 PRECEDING)"
    columns = [f"coalesce(last(op, true) {window}, known_op) AS before_op"]
    for name in ("city", "date"):
        before = f"coalesce(last(own_{name}, true) {window}, known_{name})"
        columns += [f"{before} AS before_{name}", f"coalesce(own_{name}, {before}) AS {name}"]
    exists = "coalesce(before_op <> 'D', false)"
    return own.selectExpr("*", *columns).selectExpr(
        "change_number", "city", "date", f"{exists} AS before_exists",
        f"IF({exists}, before_city, NULL) AS before_user_city",
        f"IF({exists}, before_date, NULL) AS before_order_date",
    )  # fmt: skip


def _known(
    spark: SparkSession, seed: int, block: ChangeBlock, drawn: DataFrame, earlier: DataFrame | None
) -> DataFrame:
    """Adds the city an order is made with, and what was known of the key before the commit, else NULL."""
    from pyspark.sql import functions as F  # noqa: N812  the field's usual name

    kept = ("change_number", "number", "key", "op", "moves", "ts")
    based = orders.with_payload(
        drawn.selectExpr("*", "key - 1 AS id"),
        SCHEMAS[3],  # which tells where a row lies
        seed,
        {"order_date": orders.order_date(seed, block.initial_dates)},
        kept,
    ).selectExpr(*kept, "user_city AS first_city", "order_date AS first_date")
    state = "max_by(struct(op, user_city, order_date), change_number)"
    last = _earlier(spark, earlier).coalesce(1).groupBy("order_id").agg(F.expr(f"{state} AS last"))
    loaded = f"key <= {block.keys.choice.initial_rows}L"
    return based.join(last.withColumnRenamed("order_id", "key"), "key", "left").selectExpr(
        *kept, "first_city",
        f"IF(last IS NULL, IF({loaded}, 'I', NULL), last.op) AS known_op",
        f"IF(last IS NULL, IF({loaded}, first_city, NULL), last.user_city) AS known_city",
        f"IF(last IS NULL, IF({loaded}, first_date, NULL), last.order_date) AS known_date",
    )  # fmt: skip


def _earlier(spark: SparkSession, earlier: DataFrame | None) -> DataFrame:
    if earlier is not None:
        return earlier.select(*STATE_COLUMNS)
    columns = (f"CAST(NULL AS {kind}) AS {name}" for name, kind in STATE_COLUMNS.items())
    return spark.range(0).selectExpr(*columns)
