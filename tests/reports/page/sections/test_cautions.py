import pytest
from live_runs import LIVE, live
from records import commit, compaction, end, maintenance, observed, query, run, speed, truth
from result_builder import build_group, build_results

from bench.results.folders import load_runs
from bench.results.records import WarmUpRecord
from reports.data.group import run_groups
from reports.page.sections.cautions import cautions, cold_planners, growing_deletes


def _texts(group):
    return "\n".join(str(caution.text) for caution in cautions(group))


def test_clean_runs_need_no_caution(group):
    assert cautions(group) == ()


def test_cautions_name_every_run_whose_figures_are_not_used(tmp_path):
    fate = {("never", 1): "failed", ("never", 2): "cut off", ("every-1min", 1): "differs",
            ("every-1min", 2): "timings_invalid", ("every-10min", 1): "unchecked"}  # fmt: skip
    group = build_group(tmp_path, ticks=8, fate=fate)
    said = _texts(group)
    assert "never (repetition 1) failed: boom: <the disk> is full" in said
    assert "never (repetition 2) was interrupted" in said
    assert "every-1min (repetition 1) failed its content check (3,199 rows found, 3,200 expected)" in said
    assert "every-1min (repetition 2) was checked after every compaction" in said
    assert "Table content was not checked in every run of every-10min" in said
    assert "never: fewer than two usable runs" in said
    are_grave = [caution.is_grave for caution in cautions(group)]
    assert are_grave == sorted(are_grave, reverse=True)


def test_cautions_name_simulation_and_overlap(tmp_path):
    times = {"commit_interval_ms": 1000, "duration_ms": 10_000}
    said = _texts(build_group(tmp_path, ticks=8, mode="simulated", **times))
    assert "all times come from a cost model" in said
    assert "every-1min: the longest compaction takes longer than the commit interval" in said


def test_cautions_name_ineffective_compactions(tmp_path, group):
    build_results(tmp_path, {"never": None, "every-2min": 2}, repetitions=1, ticks=4)
    for path in tmp_path.rglob("events.jsonl"):
        path.write_text(path.read_text().replace('"files_added_count": 1', '"files_added_count": 16'))
    said = _texts(run_groups(load_runs(tmp_path))[0])  # 16 files in, 16 out
    assert "every-2min: some compactions were ineffective" in said
    assert "ineffective" not in _texts(group)


def test_cautions_name_partitions_that_plans_left_for_later(tmp_path):
    build_results(tmp_path, {"never": None, "amoro": 2}, repetitions=1, ticks=4, deletes=True)
    assert "left due partitions" not in _texts(run_groups(load_runs(tmp_path))[0])
    for path in tmp_path.rglob("events.jsonl"):
        path.write_text(path.read_text().replace('"health_score"', '"partitions_left": 7.0, "health_score"'))
    said = _texts(run_groups(load_runs(tmp_path))[0])
    assert "amoro: 2 of 2 plans left due partitions for a later one, up to 7 of them." in said
    assert "What limits a plan: compactbench list strategies amoro." in said


def test_cautions_about_a_simulation_are_those_of_its_coefficients(tmp_path):
    def warned(name, **options):
        group = build_group(tmp_path / name, ticks=8, repetitions=1, mode="simulated", options=options)
        return cautions(group)[0].is_grave, _texts(group)

    is_grave, said = warned("rough", coefficients={"errors": {}})
    assert is_grave
    assert "How far the model is off is not known" in said
    assert "fewer than two usable runs" not in said
    errors = {"query_mean_s": {"mean_absolute": 0.123, "log_sd": 0.2, "strategies": 7, "streams": 4}}
    said = warned("fitted", coefficients={"errors": errors})[1]
    assert "not known" not in said
    assert "the mean query by 12 % (expected within a factor of 1.9x, from 7 strategies of 4 streams)" in said
    coefficients = {"errors": errors, "caution": "Sorting costs nothing."}
    assert " Sorting costs nothing." in warned("caution", coefficients=coefficients)[1]


def test_strategies_that_are_beyond_the_model_in_the_same_way_have_one_caution():
    options = {"coefficients": {"operations": {"query": {"steps": 1}}}}
    many = "query s_per_file"
    beyond = {"never": {many: 1_200.0}, "a": {many: 4.2}, "b": {"query s_per_mib": 9.0}}
    (group,) = run_groups(
        [
            run(
                query(),
                end(beyond_fit={"extrapolated": factors}),
                strategy=label,
                mode="simulated",
                options=options,
            )
            for label, factors in beyond.items()
        ]
    )
    assert [line for line in _texts(group).splitlines() if "No verdict on query" in line] == [
        "No verdict on query latencies of never and a: up to 1,200 times as many files in a query as were "
        "measured.",
        "No verdict on query latencies of b: 9 times as many MiB in a query as were measured.",
    ]


@pytest.mark.parametrize(("measured", "cores", "is_said"), [(2, 6, False), (2, 32, True), (None, 32, False)])
def test_latencies_on_far_more_cores_than_were_measured_are_a_caution(measured, cores, is_said):
    (group,) = run_groups([run(mode="simulated", cores=cores, options={"coefficients": {"cores": measured}})])
    assert ("assume 32 cores" in _texts(group)) is is_said


def test_cautions_of_coefficients_name_their_formats_once():
    def of(caution):
        return {"coefficients": {"caution": caution}}

    def in_variant(label):
        return run(mode="simulated", strategy=f"never @ {label}", format="delta", options=of("Guesses."),
                   versions={}, variant={"label": label, "set": {"table.format": "delta"}})  # fmt: skip

    iceberg = run(mode="simulated", options=of("Sorting costs nothing."))
    (group,) = run_groups([iceberg, in_variant("v"), in_variant("w")])
    said = _texts(group)
    assert "is not known" in said
    assert "Iceberg 1.9: Sorting costs nothing. Delta: Guesses." in said
    assert said.count("Guesses.") == 1


def test_cautions_name_differences_of_pooled_runs(tmp_path):
    build_results(tmp_path, {"never": None}, repetitions=1, ticks=3)
    build_results(
        tmp_path, {"every-1min": 1}, repetitions=1, ticks=3, suite_id="later", seed=7, format="iceberg "
    )
    for path in tmp_path.rglob("manifest.json"):
        path.write_text(path.read_text().replace('"iceberg "', '"iceberg"'))
    assert "differ in seed." in _texts(run_groups(load_runs(tmp_path))[0])


def test_cautions_name_noise(tmp_path):
    build_results(tmp_path, {"never": None}, repetitions=2, ticks=3)
    path = sorted(tmp_path.rglob("events.jsonl"))[0]
    path.write_text(path.read_text().replace('"wall_s": 0.', '"wall_s": 3.'))
    said = _texts(run_groups(load_runs(tmp_path))[0])
    assert "Noise: the mean query latency varies by more than 15 %" in said


def test_noise_is_that_of_the_cost_that_strategies_are_compared_by():
    """A writer of its own makes the CPU of commits part of the cost, which `never` has as well."""
    text = {"strategies": [{"label": "never"}, {"label": "late", "writer": {"commit_every": "3min"}}]}
    (group,) = run_groups([
        run(commit(cpu_s=cpu_s), compaction(cpu_s=1.0), end(), strategy=label, repetition=number,
            scenario_text=text)
        for label, costs_s in (("never", (2.0, 4.0)), ("late", (3.0, 3.0)))
        for number, cpu_s in enumerate(costs_s, 1)
    ])  # fmt: skip
    said = "Noise: the CPU of commits and policy varies by more than 15 % (1 s.d.) across the runs of never."
    assert said in _texts(group)


def test_cautions_name_the_load_under_which_runs_began(tmp_path):
    def said(name, load):
        machine = {"cpu": "Example CPU", "cores": 2, "ram_bytes": 1, "load_before_suite": load}
        return _texts(build_group(tmp_path / name, {"never": None}, 1, 2, machine=machine))

    assert "The machine was busy (load 12.4 on 2 cores) when a suite of runs began" in said("busy", 12.4)
    assert "was busy" not in said("idle", 1.0)


def test_cautions_name_the_runs_that_other_processes_disturbed():
    (group,) = run_groups([
        run(query(), end(other_cores=cores), repetition=number)
        for number, cores in enumerate((None, 0.0, 0.19, 0.75, 1.34), 1)
    ])  # fmt: skip
    said = _texts(group)
    assert (
        "Other processes used up to 1.34 cores during never (repetition 4) and never (repetition 5)" in said
    )
    assert "repetition 3" not in said


def test_latencies_of_roles_that_waited_for_cores_are_marked():
    fewer = {"notes": {**LIVE["notes"], "cores": "fewer than the roles have"}}
    waits = [
        query(when="due", cpu_s=2.0, run_delay_s=delay_s, waited_s=0.0, started_s=1.0, ended_s=2.0)
        for delay_s in (1.0, 3.0)
    ]

    def said(*of_strategies, **changes):
        (group,) = run_groups([live(label, wait, **changes) for label, wait in of_strategies])
        return [str(caution.text) for caution in cautions(group) if caution.is_grave]

    marked = "\n".join(said(*zip("ab", waits, strict=True), **fewer))
    assert "threads waited for cores, for 0.5 to 1.5 s in each CPU second. Compare latencies" in marked
    assert "threads waited for cores. Compare" in str(said(("a", query(when="due")), **fewer))
    assert "waited for cores" not in str(said(*zip("ab", waits, strict=True)))


def test_queries_that_a_late_reader_never_asked_are_told_apart_from_those_that_failed():
    def failed(**span):
        return query(0.0, when="due", status="failed", waited_s=9.0, **span)

    asked = failed(started_s=1.0, ended_s=1.0)
    said = _texts(run_groups([live("a", failed(), failed(), asked), live("b")])[0])
    assert "2 queries were due and not asked, with a: the reader had" in said
    assert "1 query failed (shown as gaps), with a." in said
    assert "not asked" not in _texts(run_groups([live("a", asked)])[0])


@pytest.mark.parametrize(("probed", "is_named"), [((2, 4), True), ((2, 3), False)])
def test_cautions_name_strategies_whose_queries_miss_a_kind_of_table(probed, is_named):
    """The third of four ticks leaves no delete files."""
    at = [{"tick": tick, "at_ms": tick * 60_000, "version": str(tick)} for tick in range(1, 5)]
    tables = [observed(**of_tick, delete_files_count=8 * (of_tick["tick"] != 3)) for of_tick in at]
    queries = [query(**at[tick - 1]) for tick in probed]
    (group,) = run_groups([
        run(commit(), *tables, *queries, end(), duration_ms=240_000, probe_every_ms=120_000)
    ])  # fmt: skip
    named = [str(c.text) for c in cautions(group) if "that no query met" in str(c.text)]
    assert bool(named) is is_named
    assert all("25 %" in text for text in named)


@pytest.mark.parametrize(("opened", "is_named"), [((0, 0), True), ((0, 300), False), ((None, None), False)])
def test_a_query_that_never_opens_a_file_tells_nothing(opened, is_named):
    queries = [query(opened_bytes=opened_bytes) for opened_bytes in opened]
    (group,) = run_groups([run(commit(), *queries, end())])
    assert ("opened no file in any run" in _texts(group)) is is_named


@pytest.mark.parametrize(("slowest_s", "said"), [(0.0325, False), (0.039, True)])
def test_cautions_tell_how_far_the_speed_of_the_machine_varied(slowest_s, said):
    works_s = (0.03, 0.031, slowest_s)
    (group,) = run_groups([
        run(speed(work_s), query(), end(), repetition=number) for number, work_s in enumerate(works_s, 1)
    ])  # fmt: skip
    assert (
        "The machine was slower during some runs: a fixed piece of work took up to 30 % longer"
        in _texts(group)
    ) == said


@pytest.mark.parametrize(("price", "is_named"), [(5.0, True), (None, False)])
def test_cautions_name_strategies_whose_requests_were_counted_where_those_of_others_were_not(price, is_named):
    prices = {"price_per_1000_puts": price, "price_per_1000_gets": 0.4}
    sent = (query(requests={"GET": 9}), commit(requests={"PUT": 5}), truth(), end())
    there = run(*sent, strategy="on-s3", **prices)
    (mixed,) = run_groups([run(query(), commit(), truth(), end(), **prices), there])
    (alone,) = run_groups([there])
    assert ("on-s3: requests to S3 were counted" in _texts(mixed)) == is_named
    assert "requests to S3" not in _texts(alone)


def test_cautions_name_strategies_whose_cpu_is_shared():
    beside = (query(), compaction(is_shared=True), truth(), end())
    (group,) = run_groups([run(query(), truth(), end()), run(*beside, strategy="thread")])
    assert "thread: compactions ran concurrently with commits and queries, so the CPU" in _texts(group)


def round_of(options, acted, planner="amoro"):
    return WarmUpRecord(
        tick=0, at_ms=0, written_utc="2026-01-05T09:00:00Z", planner=planner, options=options, round=1,
        commits_count=1, acted=acted,
    )  # fmt: skip


def cold(*records):
    return cold_planners([run(*records, end())])


def test_a_planner_that_acted_in_one_round_is_warm():
    assert cold(round_of("a()", False), round_of("a()", True), round_of("a()", False)) == {}


def test_planners_are_told_apart_by_their_options():
    assert cold(round_of("a(x=1)", True), round_of("a(x=2)", False), round_of("b()", False)) == {
        "a(x=2)": "0 of 1 rounds", "b()": "0 of 1 rounds",
    }  # fmt: skip


def test_cautions_count_the_rounds_of_planners_that_were_cold_in_some_run():
    runs = [
        run(round_of("rare()", repetition == 1), round_of("rare()", False), round_of("often()", True),
            query(), truth(), end(), repetition=repetition)
        for repetition in (1, 2, 3)
    ]  # fmt: skip
    (group,) = run_groups(runs)
    assert "what Java compiles for them: rare() acted in 1 of 6 rounds." in _texts(group)
    assert "warm-up" not in _texts(run_groups(runs[:1])[0])


def test_commits_and_queries_alone_have_no_planner_to_be_cold():
    assert cold(round_of("", False, planner="")) == {}
    assert cold() == {}


def compacted(*left, label="amoro", before=50):
    """A run whose compactions leave so many deleted rows."""
    return run(
        commit(),
        *(compaction(before_delete_rows=before, after_delete_rows=rows, after_delete_files_count=1)
          for rows in left),
        query(), truth(), end(), strategy=label,
    )  # fmt: skip


def test_deletes_that_every_compaction_leaves_more_of_are_unpaid_work():
    (group,) = run_groups([compacted(10, 20, 35), compacted(10, 20, 0, label="rewrites")])
    (told,) = [text for text in _texts(group).split("\n") if text.startswith("Each compaction left more")]
    assert told.endswith("so what that costs is in no figure: amoro (10 after the first, 35 after the last).")
    assert "deleted rows than the one before" in told


def test_a_rest_that_grows_is_no_caution_where_more_is_removed():
    assert growing_deletes(compacted(10, 20, 35)) == (10, 20, 35)
    assert growing_deletes(compacted(10, 20, 35, before=70)) == ()


@pytest.mark.parametrize("left", [(), (10, 20), (10, 20, 20), (10, 30, 20), (10, None, 30)])
def test_deletes_that_do_not_grow_or_were_not_counted_are_no_caution(left):
    assert growing_deletes(compacted(*left)) == ()


def test_maintenance_that_did_not_commit_is_told():
    steps = [maintenance(status=status) for status in ("ok", "noop", "failed", "conflict")]
    made = run(commit(), query(), *steps, end(), strategy="a")
    said = _texts(run_groups([made])[0])
    assert "2 maintenance steps failed, or could not commit beside others, with a." in said
