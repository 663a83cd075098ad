"""What a report compares, and that its verdicts hold jointly."""

from records import compaction, end, query, run

from reports.load import RunGroup, run_groups
from reports.page_verdicts import page_verdicts
from reports.sections.steps import steps
from reports.sections.summary import summary
from reports.sections.undecided import undecided

NEVER, RARE, OFTEN = [9.0, 9.1, 9.2], [4.0, 4.1, 4.2], [3.0, 3.6, 3.3]


def strategy(label: str, cpu_s: float, latencies: list[float]) -> list:
    return [
        run(*([compaction(cpu_s=cpu_s * (1 + 0.01 * n))] if cpu_s else []), query(latency), end(),
            strategy=label, repetition=n)
        for n, latency in enumerate(latencies, 1)
    ]  # fmt: skip


def group(*more: list) -> RunGroup:
    runs = [*strategy("never", 0, NEVER), *strategy("rare", 1.0, RARE), *strategy("often", 4.0, OFTEN)]
    (made,) = run_groups([*runs, *(one for some in more for one in some)])
    return made


def test_latencies_are_compared_with_never_and_both_figures_along_the_front():
    found = page_verdicts(group(strategy("dominated", 5.0, [4.5, 4.4, 4.6])))
    assert list(found.comparisons) == [
        ("query_mean_s", "rare", "never"), ("query_mean_s", "often", "never"),
        ("query_mean_s", "dominated", "never"),
        ("compaction_cpu_s", "often", "rare"), ("query_mean_s", "often", "rare"),
    ]  # fmt: skip
    assert found.of("compaction_cpu_s", "rare", "never") is None


def test_verdicts_are_corrected_for_all_comparisons_of_the_page():
    few = page_verdicts(group())
    assert few.of("query_mean_s", "often", "rare").verdict == "less"
    assert few.number == 3  # the ratio of costs does not vary, so it has no interval
    near = [strategy(f"near-{n}", 5.0 + n, [9.0 + n / 10, 9.2, 9.1]) for n in range(12)]
    many = page_verdicts(group(*near))
    one = many.of("query_mean_s", "often", "rare")
    assert (one.verdict, one.is_retracted) == ("undecided", True)
    assert one.high < 1
    assert one.adjusted_p > few.of("query_mean_s", "often", "rare").adjusted_p
    assert many.number == few.number + 12


def test_what_is_not_proven_is_marked_and_left_undecided():
    near = [strategy(f"near-{n}", 5.0 + n, [9.0 + n / 10, 9.2, 9.1]) for n in range(12)]
    made = group(*near)
    assert [cell.note for cell in steps(made).rows[-1]][-1].endswith(", unproven")
    assert not [cell.note for cell in steps(group()).rows[-1]][-1].endswith(", unproven")
    assert "how rare compares with often in cost and latency" in str(undecided(made)[0])
    assert "latency" not in str(undecided(group())[0])
    place = [column.title for column in summary(made).columns].index("Query mean vs never")
    assert summary(made).rows[1][place].note


def test_without_never_only_the_front_is_compared():
    (made,) = run_groups([*strategy("rare", 1.0, RARE), *strategy("often", 4.0, OFTEN)])
    assert set(page_verdicts(made).comparisons) == {
        ("compaction_cpu_s", "often", "rare"),
        ("query_mean_s", "often", "rare"),
    }
