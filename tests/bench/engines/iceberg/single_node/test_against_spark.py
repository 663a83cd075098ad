"""One plan by both executors on the same table: what Spark commits, and what the executor without Spark does.

Both stage the plan. One commits; the table is rolled back; the other commits. What is known to differ is in
the docstring of `bench/engines/iceberg/single_node`.
"""

import datetime as dt
import random
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from merge_on_read import NOT_PARTITIONED, TAG, Lake, rewrite_of, row, values_of
from profiles import by_profile
from pyiceberg.manifest import DataFileContent
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
)

from bench.engines.iceberg.catalog import java_table
from bench.engines.iceberg.ledger import PLANNING
from bench.engines.iceberg.rewrite import commit_rewrite, stage_rewrite
from strategies.plan import FileGroup, Plan, Reason, Rewrite
from strategies.preview import preview_plan
from strategies.state import MIB

pytestmark = pytest.mark.spark

UTC = dt.UTC
CITIES = (None, "Oslo", "São Paulo", "100% a/b", "*?[x]", "'q\"")
FLOATS = st.sampled_from([0.0, -0.0, float("nan"), float("inf"), -1.5, 2.0**-100]) | st.floats(width=32)
COLUMNS = {  # by name: the type, and values of it
    "id": (LongType(), st.integers(0, 9)),
    "city": (StringType(), st.sampled_from(CITIES)),
    "day": (DateType(), st.dates(dt.date(1600, 1, 1), dt.date(2400, 1, 1))),
    "flag": (BooleanType(), st.booleans()),
    "count": (IntegerType(), st.integers(-(2**31), 2**31 - 1)),
    "share": (FloatType(), FLOATS),
    "price": (DoubleType(), FLOATS),
    "small": (DecimalType(4, 2), st.decimals(-99, 99, places=2)),
    "large": (DecimalType(18, 3), st.decimals(-(10**14), 10**14, places=3)),
    "huge": (DecimalType(38, 10), st.decimals(Decimal(-(10**27)), Decimal(10**27), places=10)),
    "local": (TimestampType(), st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1))),
    "instant": (
        TimestamptzType(),
        st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1), timezones=st.just(UTC)),
    ),
    "name": (StringType(), st.text("aé\U0001f600 '\"%", max_size=40)),
    "blob": (BinaryType(), st.binary(max_size=20)),
    'odd "näme".x': (LongType(), st.integers(0, 3)),
}  # fmt: skip
SCHEMA = Schema(*(NestedField(1 + n, name, kind) for n, (name, (kind, _)) in enumerate(COLUMNS.items())))
BY_CITY = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "city"))
BY_CITY_AND_DAY = PartitionSpec(*BY_CITY.fields, PartitionField(3, 1001, IdentityTransform(), "day"))
ROWS = st.fixed_dictionaries({name: st.none() | values for name, (_, values) in COLUMNS.items()})
SMALL_BYTES, FOOTER_BYTES = 20_000, 2_500
_OF_JAVA = {
    "engine-name", "engine-version", "app-id", "app-name", "spark.app.id", "iceberg-version",
    "manifests-created", "manifests-kept", "manifests-replaced", "entries-processed",
}  # fmt: skip
compared, distinct, ratios = Counter(), set(), []


@pytest.fixture
def make_lake(spark, tables_folder, namespaces):
    """Makes a table in Spark's catalog by PyIceberg."""
    return lambda **table: Lake(tables_folder, namespace=next(namespaces), **table)


TABLES = by_profile(ordinary=40, thorough=160, exhaustive=560)


def test_both_executors_commit_the_same(make_lake, spark):
    @settings(max_examples=TABLES, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(data=st.data(), spec=st.sampled_from([NOT_PARTITIONED, BY_CITY, BY_CITY, BY_CITY_AND_DAY]))
    def check(data, spec):
        with closing(make_lake(schema=SCHEMA, spec=spec)) as lake:
            fill(lake, data)
            action = drawn_rewrite(lake, data)
            described = hash(repr(description(lake, action)))
            assume(described not in distinct)  # Hypothesis also draws variants that make the same table
            check_same(lake, spark, action)
            distinct.add(described)

    check()
    assert len(distinct) == TABLES


def fill(lake, data):
    """Commits of rows and deletes; some tables get another partition spec before one of them."""
    days = data.draw(st.lists(st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 3)), min_size=1, max_size=2))
    commits = data.draw(st.integers(1, 4))
    evolves_at = data.draw(st.integers(1, 2 * commits))
    for number in range(commits):
        if number == evolves_at:
            evolve(lake)
        rows = data.draw(st.lists(ROWS, min_size=1, max_size=12))
        lake.append(*({**row, "day": days[n % len(days)]} for n, row in enumerate(rows)))
        for _ in range(data.draw(st.integers(0, 2))):
            delete(lake, data)


def evolve(lake):
    """From no partitions to some by city, from these to some by day as well, and back to those by city."""
    with lake.load().update_spec() as update:
        match lake.load().spec().fields:
            case []:
                update.add_identity("city")
            case [_]:
                update.add_identity("day")
            case _:
                update.remove_field("day")


ORDERS_LIKE = Schema(
    NestedField(1, "id", LongType()), NestedField(2, "city", StringType()),
    NestedField(3, "note", StringType()), NestedField(4, "price", DoubleType()),
    NestedField(5, "at", TimestamptzType()), NestedField(6, "count", IntegerType()),
    NestedField(7, "total", DecimalType(12, 2)),
)  # fmt: skip


def order(number):
    chance = random.Random(number)
    return {
        "id": number, "city": chance.choice(CITIES), "note": f"{chance.getrandbits(64):x} {number % 7}",
        "price": round(chance.uniform(0, 500), 2), "count": chance.randint(1, 9),
        "at": dt.datetime(2024, 1, 1, tzinfo=UTC) + dt.timedelta(seconds=7 * number),
        "total": Decimal(chance.randint(0, 10**7)) / 100,
    }  # fmt: skip


@pytest.mark.parametrize("rows", [6_000, 40_000])
def test_a_file_of_many_rows_has_the_same_size(make_lake, spark, rows):
    with closing(make_lake(schema=ORDERS_LIKE, spec=NOT_PARTITIONED)) as lake:
        for first in range(0, rows, rows // 10):
            lake.append(*map(order, range(first, first + rows // 10)))
        check_same(lake, spark, rewrite_of(lake.data_files(), 64 * MIB))


_DROPS = pytest.mark.xfail(
    strict=True,
    reason="RewriteFiles of Iceberg 1.11.0 drops deletes that are older than every data file that stays, and "
    "leaves its own new files, which have the older number of the plan, out of account",
)


@pytest.mark.parametrize("executor", [pytest.param("spark", marks=_DROPS), "single-node"])
def test_deletes_committed_between_a_plan_and_its_commit_apply(make_lake, spark, executor):
    """Although no other data file is as old as they are."""
    with closing(make_lake()) as lake:
        lake.append(*(row(number) for number in range(5)))
        name, action = f"lake.{lake.name}", rewrite_of(lake.data_files())
        is_spark = executor == "spark"
        staged = stage_rewrite(spark, name, action) if is_spark else lake.executor.stage(action, 0)
        for number in range(3):
            lake.delete_equal(["id"], [(number,)], ("Oslo",))
        lake.append(row(9))
        expected = lake.rows()
        if is_spark:
            commit_rewrite(spark, name, staged, TAG)
        else:
            lake.executor.execute(action, staged, TAG)
        assert lake.rows() == expected
        assert expected.total() == 3


def delete(lake, data):
    file = data.draw(st.sampled_from(lake.data_files()))
    stored = list(values_of(file.file_path, range(1, 1 + len(COLUMNS))))
    if data.draw(st.booleans()):
        positions = data.draw(st.sets(st.integers(0, len(stored) - 1), min_size=1))
        pairs = [(file.file_path, one) for one in positions]
        lake.delete_positions(pairs, file.partition, spec_id=file.spec_id)
        return
    names = data.draw(st.sampled_from([("id",), ("name",), ("id", "local"), ("count", "id"), ("large",)]))
    row = data.draw(st.sampled_from(stored))
    keys = {tuple(row[1 + list(COLUMNS).index(name)] for name in names)}
    keys |= set(data.draw(st.lists(st.tuples(*(st.none() | COLUMNS[name][1] for name in names)), max_size=3)))
    lake.delete_equal(names, sorted(keys, key=repr), file.partition, file.spec_id)


def drawn_rewrite(lake, data):
    """Some files rewritten, others converted, and all deletes dropped that nobody needs then.

    Files of an older partition spec stay, since single-node refuses them.
    """
    state, groups = lake.state(), []
    of_spec = [file for file in state.data_files if file.spec_id == state.spec_id]
    for partition in sorted({file.partition for file in of_spec}):
        paths = data.draw(st.permutations(sorted(f.path for f in of_spec if f.partition == partition)))
        end = data.draw(st.integers(0, len(paths)))
        converted = data.draw(st.sampled_from([end, len(paths)]))
        if converted:
            groups.append(FileGroup(tuple(paths[:end]), partition, tuple(paths[end:converted])))
    assume(groups)
    action = Rewrite(tuple(groups), 8 * MIB)
    safe = [d.key for d in state.delete_files if is_safe(replace(action, removed_deletes=(d.key,)), state)]
    return replace(action, removed_deletes=tuple(data.draw(st.sampled_from([safe, []]))))


def is_safe(action, state):
    plan = Plan((action,), Reason.OTHER)
    return PLANNING.veto(plan, preview_plan(plan, state, PLANNING.preview), state) is None


def description(lake, action):
    """What tells this table and this action from others, without random names."""
    entries = sorted(lake.entries(), key=lambda entry: (entry.sequence_number, repr(without_name(entry))))
    numbers = {entry.data_file.file_path: number for number, entry in enumerate(entries)}
    groups = [
        ([numbers[path] for path in group.paths], [numbers[path] for path in group.convert_paths])
        for group in action.groups
    ]
    rows = sorted(lake.rows().items(), key=repr)
    return [without_name(entry) for entry in entries], rows, groups, len(action.removed_deletes)


def without_name(entry):
    file = entry.data_file
    return (
        entry.sequence_number, file.content, file.spec_id, repr(file.partition), file.record_count,
        file.equality_ids,
    )  # fmt: skip


def check_same(lake, spark, action):
    """Commit the action by both executors, and compare the table after each."""
    name, before = f"lake.{lake.name}", lake.load().current_snapshot()
    content, known = lake.rows(), {entry.data_file.file_path for entry in lake.entries()}
    by_spark, by_own = stage_rewrite(spark, name, action), lake.executor.stage(action, 0)
    commit_rewrite(spark, name, by_spark, TAG)
    expected = view(lake, known)
    java_table(spark, name).manageSnapshots().rollbackTo(before.snapshot_id).commit()
    lake.executor.execute(action, replace(by_own, table=lake.load()), TAG)
    own = view(lake, known)
    assert own["rows"] == expected["rows"] == content
    is_apart = by_spark.new_deletes and not by_spark.old_deletes  # Java makes two snapshots of such a rewrite
    assert differences(own["data"], expected["data"]) == {}
    assert differences(own["deletes"], expected["deletes"]) == {}
    left = expected["kept"].keys() - own["kept"].keys()  # by Java, in manifests that it has not looked into
    assert own["kept"] == {path: of for path, of in expected["kept"].items() if path not in left}
    assert all(expected["kept"][path][0] < own["oldest data"] for path in left)
    for part in () if is_apart or left else ("operation", "summary"):
        assert own[part] == expected[part], part
    for size, of_spark in zip(own["sizes"], expected["sizes"], strict=True):
        check_size(size, of_spark)
        if of_spark >= SMALL_BYTES:
            ratios.append(size / of_spark)
    compared["tables"] += 1
    compared["data files"] += len(own["data"])
    compared["delete files"] += len(own["deletes"])
    compared["tables with all figures of their summaries"] += not (is_apart or left)
    compared["tables with deletes"] += bool(lake.state().delete_files)
    compared["tables with files of two specs"] += len({f.spec_id for f in lake.data_files()}) > 1


def check_size(size, of_spark):
    """Files of DuckDB are not larger, and up to a tenth smaller: a column of a row group is one large page.

    Their footers lack the schema of Iceberg in JSON, which is half of a tiny file.
    """
    assert size <= of_spark
    assert size >= (of_spark - FOOTER_BYTES if of_spark < SMALL_BYTES else 0.9 * of_spark)


def view(lake, known):
    """What a commit has made of a table of `known` files, without what two such commits never share."""
    snapshot = lake.load().current_snapshot()
    own, kept = [], {}
    for entry in lake.entries():
        if entry.data_file.file_path not in known:
            own.append(entry)
        else:
            kept[entry.data_file.file_path] = (
                entry.sequence_number, entry.file_sequence_number, entry.snapshot_id
            )  # fmt: skip
    own.sort(key=lambda e: (repr(e.data_file.partition), e.data_file.record_count, repr(figures(e))))
    of_data = [e for e in own if e.data_file.content == DataFileContent.DATA]
    of_deletes = [e for e in own if e.data_file.content != DataFileContent.DATA]
    # PyIceberg does not count the one partition of tables without partitions.
    summary = {"changed-partition-count": "1"} | snapshot.summary.additional_properties
    return {
        "rows": lake.rows(),
        "kept": kept,
        "data": [figures(e) | {"number": e.sequence_number} for e in of_data],
        "deletes": [
            figures(e) | {"number": e.sequence_number - snapshot.sequence_number} for e in of_deletes
        ],
        "oldest data": min(
            (e.sequence_number for e in lake.entries() if e.data_file.content == DataFileContent.DATA),
            default=snapshot.sequence_number,
        ),
        "operation": snapshot.summary.operation,
        "summary": {k: v for k, v in summary.items() if k not in _OF_JAVA and not k.endswith("-size")},
        "sizes": [e.data_file.file_size_in_bytes for e in (*of_data, *of_deletes)],
    }


def figures(entry):
    """What the manifest says of a file, but for its path and sizes."""
    file = entry.data_file
    names = (
        "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds", "content",
        "spec_id", "partition", "record_count", "equality_ids", "sort_order_id",
    )  # fmt: skip
    found = {name: getattr(file, name) for name in names}
    found["split_offsets"] = len(file.split_offsets or ())
    found["nan_value_counts"] = file.nan_value_counts or {}  # of delete files either is written
    return {k: dict(sorted(v.items())) if isinstance(v, Mapping) else v for k, v in found.items()}


def differences(own, expected):
    """By the figure: what each has, of all files in which it differs."""
    return {
        name: (one[name], other[name])
        for one, other in zip(own, expected, strict=True)
        for name in one
        if one[name] != other[name]
    }


@pytest.fixture(scope="module", autouse=True)
def _compared(request):
    yield
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\ncompared: {dict(compared)}; {len(distinct)} generated tables, all distinct")
        if ratios:
            near = sum(ratio >= 0.95 for ratio in ratios)
            print(
                f"{near} of {len(ratios)} files of {SMALL_BYTES:,} bytes and more are within 5 % of Spark's, "
                f"the smallest has {min(ratios):.1%} of it"
            )
