"""What a report compares, and that its verdicts hold jointly."""

from dataclasses import replace

from records import commit, compaction, end, query, run
from verdicts import verdicts_of

from bench.text import MISSING
from reports.data.group import RunGroup, run_groups
from reports.page.sections.steps import steps
from reports.page.sections.summary import summary
from reports.page.sections.undecided import undecided
from reports.page.sections.variants import variants
from reports.verdicts.page_verdicts import page_verdicts
from reports.verdicts.pareto_front import points

NEVER, RARE, OFTEN = [9.0, 9.1, 9.2], [4.0, 4.1, 4.2], [3.3, 3.9, 3.6]


def strategy(label: str, cpu_s: float, latencies: list[float]) -> list:
    return [
        run(commit(), *([compaction(cpu_s=cpu_s * (1 + 0.01 * n))] if cpu_s else []), query(latency), end(),
            strategy=label, repetition=n)
        for n, latency in enumerate(latencies, 1)
    ]  # fmt: skip


def group(*more: list) -> RunGroup:
    runs = [*strategy("never", 0, NEVER), *strategy("rare", 1.0, RARE), *strategy("often", 4.0, OFTEN)]
    (made,) = run_groups([*runs, *(one for some in more for one in some)])
    return made


def test_latencies_are_compared_with_never_and_both_figures_along_the_front():
    verdicts = verdicts_of(group(strategy("dominated", 5.0, [4.5, 4.4, 4.6])))
    assert list(verdicts.comparisons) == [
        ("query_mean_s", "rare", "never"), ("query_mean_s", "often", "never"),
        ("query_mean_s", "dominated", "never"),
        ("compaction_cpu_s", "often", "rare"), ("query_mean_s", "often", "rare"),
        ("compaction_cpu_s", "dominated", "rare"), ("query_mean_s", "dominated", "rare"),
    ]  # fmt: skip
    assert verdicts.of("compaction_cpu_s", "rare", "never") is None


def test_verdicts_are_corrected_for_all_comparisons_of_the_page():
    few = verdicts_of(group())
    assert few.of("query_mean_s", "often", "rare").verdict == "less"
    assert few.number == 4
    near = [strategy(f"near-{n}", 5.0 + n, [9.0 + n / 10, 9.2, 9.1]) for n in range(12)]
    many = verdicts_of(group(*near))
    one = many.of("query_mean_s", "often", "rare")
    assert (one.verdict, one.is_retracted) == ("undecided", True)
    assert one.high < 1
    assert one.adjusted_p > few.of("query_mean_s", "often", "rare").adjusted_p
    assert many.number == few.number + 12


def test_what_is_not_proven_is_marked_and_left_undecided():
    near = [strategy(f"near-{n}", 5.0 + n, [9.0 + n / 10, 9.2, 9.1]) for n in range(12)]
    made = group(*near)
    assert [cell.note for cell in steps(made, verdicts_of(made)).rows[-1]][-1].endswith(", unproven")
    assert not [cell.note for cell in steps(group(), verdicts_of(group())).rows[-1]][-1].endswith(
        ", unproven"
    )
    assert "how rare compares with often in latency" in str(undecided(made, verdicts_of(made))[0])
    assert not undecided(group(), verdicts_of(group()))
    place = [column.title for column in summary(made, verdicts_of(made)).columns].index("Query mean vs never")
    assert summary(made, verdicts_of(made)).rows[1][place].note


def test_without_never_only_the_front_is_compared():
    (made,) = run_groups([*strategy("rare", 1.0, RARE), *strategy("often", 4.0, OFTEN)])
    assert set(verdicts_of(made).comparisons) == {
        ("compaction_cpu_s", "often", "rare"),
        ("query_mean_s", "often", "rare"),
    }


def in_variant(label: str, cpu_s: float, latencies: list[float]) -> list:
    variant = {"label": "v", "set": {"table.format_version": 3}}
    return [
        replace(one, manifest=one.manifest.model_copy(update={"variant": variant}))
        for one in strategy(f"{label} @ v", cpu_s, latencies)
    ]


def test_a_strategy_in_a_variant_is_compared_with_its_own_never_and_with_itself_as_it_is():
    made = group(in_variant("never", 0, [5.0, 5.1, 5.2]), in_variant("often", 2.0, [1.0, 1.1, 1.2]))
    verdicts = verdicts_of(made)
    assert {key for key in verdicts.comparisons if "@" in key[1]} == {
        ("query_mean_s", "often @ v", "never @ v"), ("query_mean_s", "never @ v", "never"),
        ("compaction_cpu_s", "often @ v", "often"), ("query_mean_s", "often @ v", "often"),
    }  # fmt: skip
    table = variants(made, verdicts)
    assert [str(row[0].text) for row in table.rows] == ["never @ v", "often @ v"]
    assert [row[2].text for row in table.rows] == [MISSING, "0.50x"]
    assert {point.strategy for point in points(made)} == {"never", "rare", "often"}
    assert variants(group(), verdicts_of(group())) is None


def test_verdicts_hold_for_all_scenarios_of_a_page():
    alone = verdicts_of(group())
    one, other = page_verdicts([group(), group()])
    assert one.number == other.number == 2 * alone.number
    key = ("query_mean_s", "often", "rare")
    assert one.of(*key).adjusted_p > alone.of(*key).adjusted_p
