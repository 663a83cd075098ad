import pytest
from coefficients import coefficients, shipped_with
from hypothesis import given
from hypothesis import strategies as st
from refused import refused

from bench.engines.iceberg.model.coefficients import IcebergCoefficients
from bench.engines.registry import FORMATS
from bench.engines.simulated.costs import COLD_CPU_S, OperationCost, shipped_file
from bench.engines.simulated.steps import COEFFICIENTS, Operation, Step
from bench.results.values import Cost

WARM = float("inf")


def step(tasks=4, **amounts):
    return Step(
        Operation.REWRITE, {"s": 1, **{f"s_per_{name}": value for name, value in amounts.items()}}, tasks
    )


COST = OperationCost(
    tasks={"s_per_file": 0.5, "s_per_mib": 4.0}, driver={"s": 1.5, "s_per_file": 0.375},
    wall={"s": 1.0, "s_per_file": 0.25},
)  # fmt: skip
WORK = step(file=4, mib=2)


def test_tasks_share_the_cores_and_the_rest_does_not():
    # Beside the tasks 1 + 4 x 0.25 = 2 s, with 1.5 + 4 x 0.375 = 3 s of CPU; tasks 4 x 0.5 + 2 x 4 = 10.
    assert COST.cost(WORK, 1, WARM) == Cost(2 + 10, 3 + 10, 10, 0)
    assert COST.cost(WORK, 2, WARM) == Cost(2 + 5, 3 + 10, 10, 0)


def test_cores_without_a_task_are_of_no_use():
    walls_s = [COST.cost(step(count, file=4, mib=2), 8, WARM).wall_s for count in (0, 1, 4)]
    assert walls_s == [12, 12, 2 + 10 / 4]


def test_an_amount_that_is_not_known_costs_nothing():
    assert COST.cost(step(file=4), 1, WARM) == COST.cost(step(file=4, mib=0), 1, WARM)


def test_a_cold_jvm_compiles_more_and_waits_longer():
    cost = OperationCost(
        tasks={"s": 1.0}, driver={"s": 2.0}, wall={"s": 1.0}, cold_wall_s=4.0, compiler=0.1, cold_compiler=0.5
    )
    # Of 3 s of CPU the compiler's share is of 1 + 3/10.
    compiled = [cost.cost(step(), 1, used_s).jit_cpu_s for used_s in (0, COLD_CPU_S, WARM)]
    assert compiled == pytest.approx([1.3 * 0.6, 1.3 * 0.35, 1.3 * 0.1])
    walls_s = [cost.cost(step(), 1, used_s).wall_s for used_s in (0, COLD_CPU_S, WARM)]
    assert walls_s == pytest.approx([6, 4, 2])
    assert cost.cost(step(), 1, 0).cpu_s == pytest.approx(3 + 1.3 * 0.6)


AMOUNTS = st.dictionaries(st.sampled_from(COEFFICIENTS[Operation.REWRITE]), st.floats(0, 1e9))
COSTS = st.dictionaries(st.sampled_from(COEFFICIENTS[Operation.REWRITE]), st.floats(0, 1e3))
costs = st.builds(
    OperationCost, tasks=COSTS, driver=COSTS, wall=COSTS, cold_wall_s=st.floats(0, 9),
    compiler=st.floats(0, 2), cold_compiler=st.floats(0, 2),
)  # fmt: skip
steps = st.builds(Step, st.just(Operation.REWRITE), AMOUNTS, st.integers(0, 1000))
USED = st.floats(0, 1e6)


@given(cost=costs, less=steps, cores=st.integers(1, 64), used_s=USED, data=st.data())
def test_more_work_of_any_kind_never_costs_less(cost, less, cores, used_s, data):
    name, more = data.draw(st.sampled_from(COEFFICIENTS[Operation.REWRITE])), data.draw(st.floats(0, 1e9))
    amounts = {**less.amounts, name: less.amounts.get(name, 0) + more}
    before = cost.cost(less, cores, used_s)
    after = cost.cost(Step(less.operation, amounts, less.tasks_count), cores, used_s)
    for part in ("wall_s", "cpu_s", "executor_cpu_s", "jit_cpu_s"):
        assert getattr(after, part) >= getattr(before, part) * (1 - 1e-9)


@given(cost=costs, work=steps, cores=st.integers(1, 64), used_s=USED)
def test_cores_lower_wall_time_and_no_cpu(cost, work, cores, used_s):
    few, more = cost.cost(work, cores, used_s), cost.cost(work, cores + 1, used_s)
    assert more.wall_s <= few.wall_s
    assert (more.cpu_s, more.executor_cpu_s) == (few.cpu_s, few.executor_cpu_s)


@given(cost=costs, work=steps, cores=st.integers(1, 64), used_s=USED, more_s=USED)
def test_a_warmer_jvm_never_costs_more(cost, work, cores, used_s, more_s):
    cold, warm = cost.cost(work, cores, used_s), cost.cost(work, cores, used_s + more_s)
    assert (warm.wall_s, warm.cpu_s) <= (cold.wall_s, cold.cpu_s)
    assert warm.cpu_s <= cold.cpu_s


@pytest.mark.parametrize("name", FORMATS)
def test_the_shipped_coefficients_say_what_they_are_worth(name):
    shipped = FORMATS[name].engines.estimates()
    assert (shipped.format, shipped.origin.startswith("Fitted to ")) == (name, True)
    assert shipped.errors.keys() >= {
        "compaction_cpu_s", "commit_cpu_s", "query_mean_s", "query_new_session_mean_s", "compaction_s",
        "commit_mean_s", "query_cpu_s",
    }  # fmt: skip
    for operation in shipped.needed:
        cost = shipped.price(Step(operation, {"s": 1}), 1)
        assert cost.wall_s > 0 or operation is Operation.REWRITE  # a rewrite of nothing is none
        if shipped.operations[operation].steps:
            assert shipped.operations[operation].ranges or operation is Operation.PLANNING


def test_a_file_of_ones_own_takes_the_place_of_the_shipped(tmp_path):
    file = shipped_with(tmp_path, "[operations.query.wall]\ns = ", "[operations.query.wall]\ns = 1")
    mine, shipped = IcebergCoefficients.read(file), IcebergCoefficients.read()
    query = Step(Operation.QUERY, {"s": 1})
    assert mine.price(query, 1).wall_s > shipped.price(query, 1).wall_s


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("[data]", "[data", ""),
        ("[data]", "[data]\nserial_m = 1.0", "data.serial_m"),
        ("[operations.query.wall]", "[operations.query.wall]\ns_per_fil = 1.0", "operations"),
        ("[operations.query.wall]", "[operations.query.wall]\ns_per_live_file = 1.0", "operations"),
        ("[operations.noop.", "[operations.nop.", "operations"),
        ("[operations.noop", "[operations.cluster", "has no [operations.noop]"),
        ("[operations.query.wall]\ns = ", "[operations.query.wall]\ns = nan #", "operations.query.wall.s"),
        ("[operations.query.wall]\ns = ", "[operations.query.wall]\ns = inf #", "operations.query.wall.s"),
        ("[operations.query.wall]\ns = ", '[operations.query.wall]\ns = "1" #', "operations.query.wall.s"),
        ("[operations.query.wall]\ns = ", "[operations.query.wall]\ns = -1 #", "operations.query.wall.s"),
    ],
)
def test_an_unsound_file_is_refused_by_file_and_key(tmp_path, old, new, key):
    text = shipped_file("iceberg").read_text()
    file = shipped_with(tmp_path, old, new)
    file.write_text(text.replace(old, new))
    with refused("invalid", file) as caught:
        IcebergCoefficients.read(file)
    assert str(caught.value).startswith(f"{file}: {key}")


def test_a_file_of_another_format_is_refused(tmp_path):
    file = shipped_with(tmp_path, 'format = "iceberg"', 'format = "delta"')
    with refused("mismatch", file):
        IcebergCoefficients.read(file)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path):
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe")
    for code, name in (("unreadable", "none.toml"), ("invalid", "mine.toml")):
        with refused(code, tmp_path / name):
            IcebergCoefficients.read(tmp_path / name)


def test_coefficients_that_are_not_given_are_refused():
    assert coefficients().operations.keys() == {*IcebergCoefficients.needed, Operation.SINGLE_NODE}
