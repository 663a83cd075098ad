import pytest
from amoro_tables import amoro, data, equality, files, position, ran, table

from strategies.amoro.health import Health
from strategies.amoro.planner import Amoro
from strategies.state import MIB

PERFECT = Health(40, 40, 20)


def scores(*live_files, **options):
    return health_of(amoro(**options).decide(table(*live_files)).figures)


def health_of(figures):
    names = ("health_small_files", "health_equality_deletes", "health_position_deletes")
    return Health(*(figures[name] for name in names))


def test_a_table_without_partitions_or_with_clean_files_alone_is_healthy():
    # No partitions -> 40 + 40 + 20; clean files are not in n.
    assert scores() == PERFECT == scores(files(97, 98))
    assert PERFECT.total == 100


def test_one_file_is_never_sick():
    # tp = 0 if n <= 1.
    assert scores(data("f", 1), equality("e", rows=10**6)) == PERFECT


def test_small_files_score_by_hand():
    # n 3, bytes 48: tp = 3/12 x 48/96 = 1/8; mean 16, so 1 - 16/96 = 5/6; 40 - 40/8 x 5/6 = 35.83 -> 36.
    assert scores(files(16, 16, 16)) == Health(36, 40, 20)


def test_at_most_the_whole_weight_counts():
    # n 24 of 12 and bytes 240 of 96: tp = 1. Mean 10: 40 - 40 x 86/96 = 4.17 -> 5.
    assert scores(files(*[10] * 24)) == Health(5, 40, 20)


def test_the_trigger_count_is_what_files_are_weighed_by():
    # n 3 of 6: tp = 1/2 x 1/2; 40 - 10 x 5/6 = 31.67 -> 32.
    assert scores(files(16, 16, 16), minor__trigger__file_count=6) == Health(32, 40, 20)


def test_delete_scores_by_hand():
    # 12 files of 10, 100 rows each: tp = 1 x 1. Equality 60 / 1200 = 0.05 of 0.1: 40 - 20 = 20. Position
    # 120 / 1200 = 0.1 of 0.2: 20 - 10 = 10. Mean 10: 5 as above.
    live_files = [*files(*[10] * 12), equality("e", rows=60), position("d", "f00", rows=120)]
    assert scores(*live_files) == Health(5, 20, 10)


def test_more_deletes_than_the_ratio_are_as_bad_as_the_ratio():
    live_files = [*files(*[10] * 12), equality("e", rows=10**6), position("d", "f00", rows=10**6)]
    assert scores(*live_files) == Health(5, 0, 0)


def test_without_a_ratio_deletes_do_not_count():
    # r(a, b) = 0 if b <= 0.
    live_files = [*files(*[10] * 12), equality("e", rows=60)]
    assert scores(*live_files, major__trigger__duplicate_ratio=0) == Health(5, 40, 20)


def test_the_mean_size_is_a_fraction_of_bytes():
    # A minimum of 12, so that half a byte tells: tp = 2/2 x 12/12. 23 / 2 = 11.5: 40 - 20/12 = 38.33 -> 39;
    # in whole bytes, as before upstream's ddd4ec46, it was 40 - 40/12 = 36.67 -> 37.
    options = {"minor__trigger__file_count": 2, "min_target_size_ratio": 12 / 128, "fragment_ratio": 8}
    assert scores(files(11, 12), **options) == Health(39, 40, 20)


def test_a_byte_in_twelve_files_tells():
    # Amoro's own classes at 96a4d78: n 12, tp = 1, mean 48 MiB and a twelfth byte: 20.0000000003 -> 21.
    state = table(files(*[48 * MIB] * 11, 48 * MIB + 1))
    assert health_of(Amoro().decide(state).figures).total == 81


def test_a_disabled_table_has_the_highest_score():
    # CommonPartitionEvaluator.addFile takes no file then.
    live_files = [*files(*[10] * 12), equality("e", rows=10**6), position("d", "f00", rows=10**6)]
    assert scores(*live_files, enabled=False) == PERFECT


def test_a_ratio_that_is_no_number_gives_no_points():
    # Java: ceil of NaN is NaN, and (int) NaN is 0.
    live_files = [*files(*[10] * 12), equality("e", rows=60)]
    assert scores(*live_files, major__trigger__duplicate_ratio="NaN") == Health(5, 0, 0)
    assert scores(*live_files, major__trigger__duplicate_ratio="Infinity") == Health(5, 40, 20)


def test_partitions_that_the_filter_leaves_out_do_not_count():
    sick, healthy = files(*[10] * 24, partition="p=1"), files(200, partition="p=2")
    assert scores(sick, healthy).small_files == 23  # (5 + 40) / 2 = 22.5
    assert scores(sick, healthy, filter="p = 2") == PERFECT


def test_clean_files_are_in_no_figure_and_converted_ones_are():
    # n 2, bytes 10 + 97: tp = 2/12 x 1; mean 53: 40 - 40/6 x 43/96 = 37.01 -> 38. Position 5 / 200 = 0.025
    # of 0.2: 20 - 20/6 / 8 = 19.58 -> 20.
    assert scores(data("f", 10), data("t", 97), position("d", "t"), data("c", 500)) == Health(38, 40, 20)


def test_every_partition_weighs_the_same_and_the_mean_is_rounded_up():
    # 36 and 40: 38. With a third, sick at 5: 81 / 3 = 27; with two healthy ones 121 / 4 = 30.25 -> 31.
    first, second = files(16, 16, 16, partition="p=1"), files(200, partition="p=2")
    third, fourth = files(*[10] * 24, partition="p=3"), files(200, partition="p=4")
    assert scores(first, second).small_files == 38
    assert scores(first, second, third).small_files == 27
    assert scores(first, second, third, fourth).small_files == 31


def test_a_full_run_due_counts_clean_files_too():
    # Over the evaluator's own classes: n 2, bytes 200: tp = 2/12; mean 100: no penalty. Equality deletes
    # of later files: 100 / 200 > 0.1: 40 - 40/6 = 33.33 -> 34.
    live_files = [data("a", 100), data("b", 100, at=5), equality("e", rows=100)]
    assert scores(*live_files) == PERFECT  # b is clean, a alone is one file
    assert scores(*live_files, full__trigger__interval=0) == Health(40, 34, 20)


@pytest.mark.parametrize("kind", ["full", "minor"])
def test_figures_are_the_scores_under_names(kind):
    planner = amoro(full__trigger__interval="1d")
    figures = planner.decide(table(files(16, 16, 16, 97), ran=(ran(kind, 7_100_000),))).figures
    # With the clean file: n 4, bytes 145: tp = 1/3; mean 36: 40 - 40/3 x 60/96 = 31.67 -> 32.
    small = 36 if kind == "full" else 32
    scores_found = {name: value for name, value in figures.items() if name.startswith("health")}
    assert scores_found == {
        "health_score": small + 60, "health_small_files": small, "health_equality_deletes": 40,
        "health_position_deletes": 20,
    }  # fmt: skip
