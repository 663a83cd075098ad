"""The rows of a stream of changes: pure functions of the seed, the number of a change and earlier changes.

The columns are built as SQL text, one step per function, because everything a change needs follows from a few
numbers by hashing and integer arithmetic. Spark evaluates that for all changes of a commit in parallel and in
any order, with the same result everywhere; in Python it would take a loop over rows. A commit is built as:

    _drawn    what each change is: I, U or D, its key, its time, whether it moves the row
      _kinds    how kinds and repeats are laid out over the changes, in the exact counts of the `Mix`
      _twice    which changes are delivered a second time
    _placed   where the row of the key is before the change and after it
      _known    where it was before the commit
    rows      the payload on top: the columns that identify the order, and those that the change sets
"""

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
from workloads.words import vocabulary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BY_KEY = "PARTITION BY key ORDER BY change_number ROWS BETWEEN UNBOUNDED PRECEDING AND"


@dataclass(frozen=True, slots=True)
class ChangeBlock:
    """The changes of one commit. Deliveries are numbered from `first_row` and split into `writers` parts."""

    first_row: int
    writers: int
    mix: Mix
    keys: KeyShape
    dates: DateWindow
    initial_dates: DateWindow
    move_share: float
    schema: Schema


def rows(spark: SparkSession, seed: int, block: ChangeBlock, earlier: DataFrame | None) -> DataFrame:
    """The changes as delivered, in order of their numbers, in one Spark partition per writer with any.

    The columns are the payload and `CHANGE_FACTS`. An update repeats the payload of the order, with new
    `changed_values`. The payload of a delete is NULL except for the key and the columns that determine the
    partition. The previous location of the row follows from an earlier change in the same commit, otherwise
    from `earlier`, otherwise from the initial load.
    """
    from pyspark.sql import functions as F  # noqa: N812  the field's usual name

    drawn = _drawn(spark, seed, block).localCheckpoint()
    # The checkpoint lets both sides of the join share one computation. The right side is a single task: a
    # commit is small, and sorting it by key in one place takes half the time of a shuffle. The broadcast
    # lets the left side keep its partitions and their order.
    placed = F.broadcast(_placed(spark, seed, block, drawn.coalesce(1), earlier))
    location = {"user_city": "city", "order_date": "date"}
    keyed = drawn.join(placed, "change_number").withColumn("id", F.expr("key - 1"))
    payload = orders.with_payload(keyed, block.schema, seed, location, ("number", *CHANGE_FACTS))
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
    """For each delivery `change_number`, `op`, `key`, `ts` and whether it `moves` the row.

    `number` is the change number of the first delivery. Draws are keyed by it, so that a second delivery has
    the same values.
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
    """Add `op`, `repeat`, and how many inserts, updates, deletes and draws of a key come before.

    Each kind is spread over an ordinal that counts only the changes that can be of it: inserts over all
    places, repeats over the `other` changes (updates and deletes), and deletes over the draws and the repeats
    separately. So the counts come out exactly as in the `Mix`, and each ordinal takes one subtraction.
    """
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
    """Add whether a change is delivered `twice`, and how many changes before it are."""
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
    """Add whether `strata` marks the ordinal, as `name`, and how many lower ones, as `names_before`."""
    numbered = frame.selectExpr("*", f"{strata.number(ordinal)} AS stratum")
    drawn = strata.drawn(seed, name, "stratum", f"{block.first_row}L + stratum")
    marked = numbered.selectExpr("*", f"{drawn} AS marked")
    before = f"stratum + IF(marked < {ordinal}, 1L, 0L)" if strata.count else "0L"
    return marked.selectExpr(
        "*", f"marked = {ordinal} AS {name}", f"{before} AS {name}s_before"
    ).drop("stratum", "marked")  # fmt: skip


def _key(seed: int, block: ChangeBlock) -> str:
    """SQL of the key: for an insert a new one, for a draw one that existed before the commit.

    A repeat takes the key of an earlier insert or draw of the commit. If there is none, it draws the same key
    as the first draw, which comes later.
    """
    keys = block.keys
    draw = f"{block.first_row}L + IF(repeat, target - inserts_before, draw)"
    return (
        f"CASE WHEN op = 'I' THEN {keys.population + 1}L + inserts_before "
        f"WHEN repeat AND target < inserts_before THEN {keys.population + 1}L + target "
        f"ELSE {keys.choice.sql(seed, f'({draw})', keys.population)} END"
    )


def _ts(seed: int, block: ChangeBlock) -> str:
    """SQL of the event time: increasing over the interval in order of the changes, except for late ones."""
    from_ms, length_ms = orders.window_ms(block.dates)
    jitter = below(seed, "ts", length_ms, "number")
    on_time = f"{from_ms}L + (place * {length_ms}L + {jitter}) div {max(1, block.mix.changes)}L"
    return on_time + orders.late_by(seed, block.dates, "number")


def _placed(
    spark: SparkSession, seed: int, block: ChangeBlock, drawn: DataFrame, earlier: DataFrame | None
) -> DataFrame:
    """For each `change_number` the city and date, which determine the partition, after and before the change.

    An insert and a move set them (`own_city`, `own_date`). Any other change inherits what the key had last,
    so each column is the last non-null `own_` value of the key, up to the change or up to the one before. If
    the commit has none yet, it is the value known before the commit. Four changes of an order that was loaded
    with city Oslo and date d0, so that its known values are I, Oslo and d0:

        change           own         before_op  before_city, _date  city, date  before_exists
        100  U           NULL        I          Oslo, d0            Oslo, d0    true
        101  U, a move   Rome, t101  U          Oslo, d0            Rome, t101  true
        102  D           NULL        U          Rome, t101          Rome, t101  true
        103  U           NULL        D          Rome, t101          Rome, t101  false

    Change 103 updates an order that is gone, so it creates it again where it was last. It replaces no row,
    and its `before_user_city` and `before_order_date` are therefore NULL.
    """
    known = _known(spark, seed, block, drawn, earlier)
    placed = known.selectExpr(
        "*", "CASE WHEN op = 'I' THEN first_city WHEN moves THEN "
        f"{word(seed, 'moved_city', vocabulary(seed, 'cities'), 'number')} END AS own_city",
        "CASE WHEN op = 'I' OR moves THEN ts END AS own_date",
    )  # fmt: skip
    window = f"OVER ({_BY_KEY} 1 PRECEDING)"
    columns = [f"coalesce(last(op, true) {window}, known_op) AS before_op"]
    for name in ("city", "date"):
        before = f"coalesce(last(own_{name}, true) {window}, known_{name})"
        columns += [f"{before} AS before_{name}", f"coalesce(own_{name}, {before}) AS {name}"]
    exists = "coalesce(before_op <> 'D', false)"
    return placed.selectExpr("*", *columns).selectExpr(
        "change_number", "city", "date", f"{exists} AS before_exists",
        f"IF({exists}, before_city, NULL) AS before_user_city",
        f"IF({exists}, before_date, NULL) AS before_order_date",
    )  # fmt: skip


def _known(
    spark: SparkSession, seed: int, block: ChangeBlock, drawn: DataFrame, earlier: DataFrame | None
) -> DataFrame:
    """Add the city an order is created with, and the op, city and date of its key before the commit.

    Op, city and date come from the last change in `earlier`; without one from the initial load, as if by an
    insert; they are NULL if the key is new.
    """
    from pyspark.sql import functions as F  # noqa: N812  the field's usual name

    carried = ("change_number", "number", "key", "op", "moves", "ts")
    based = orders.with_payload(
        drawn.selectExpr("*", "key - 1 AS id"),
        SCHEMAS[3],  # the columns that determine the partition of a row
        seed,
        {"order_date": orders.order_date(seed, block.initial_dates)},
        carried,
    ).selectExpr(*carried, "user_city AS first_city", "order_date AS first_date")
    state = "max_by(struct(op, user_city, order_date), change_number)"
    last = _earlier(spark, earlier).coalesce(1).groupBy("order_id").agg(F.expr(f"{state} AS last"))
    loaded = f"key <= {block.keys.choice.initial_rows}L"
    return based.join(last.withColumnRenamed("order_id", "key"), "key", "left").selectExpr(
        *carried, "first_city",
        f"IF(last IS NULL, IF({loaded}, 'I', NULL), last.op) AS known_op",
        f"IF(last IS NULL, IF({loaded}, first_city, NULL), last.user_city) AS known_city",
        f"IF(last IS NULL, IF({loaded}, first_date, NULL), last.order_date) AS known_date",
    )  # fmt: skip


def _earlier(spark: SparkSession, earlier: DataFrame | None) -> DataFrame:
    if earlier is not None:
        return earlier.select(*STATE_COLUMNS)
    columns = (f"CAST(NULL AS {kind}) AS {name}" for name, kind in STATE_COLUMNS.items())
    return spark.range(0).selectExpr(*columns)
