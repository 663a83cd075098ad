import pytest

from strategies.amoro.options import KNOWN_OPTIONS, REFUSED_OPTIONS, Settings, read_settings
from strategies.amoro.planner import Amoro
from strategies.state import MIB

PREFIX = "self-optimizing."


def test_defaults_are_amoros():
    # Target 128 MB, fragments to 16 MB, the target is reached above 96 MB.
    parsed = read_settings({})
    assert parsed == Settings()
    sizes = (parsed.target_bytes, parsed.task_bytes, parsed.fragment_bytes, parsed.min_target_bytes)
    assert sizes == (134217728, 134217728, 16 * MIB, 96 * MIB)
    assert (parsed.minor_files_count, parsed.duplicate_ratio, parsed.full_rewrites_all) == (12, 0.1, True)
    times_ms = (parsed.minor_interval_ms, parsed.full_interval_ms, parsed.min_plan_interval_ms)
    assert times_ms == (3_600_000, -1, 60_000)
    assert (parsed.fallback_interval_ms, parsed.mse_tolerance_bytes) == (-1, 0)
    assert parsed.open_file_cost_bytes == 4_194_304
    assert parsed.is_enabled


@pytest.mark.parametrize(
    ("key", "value", "field", "expected"),
    [
        ("enabled", "False", "is_enabled", False), ("enabled", "TRUE", "is_enabled", True),
        ("enabled", "yes", "is_enabled", False),  # Boolean.parseBoolean
        ("max-task-size-bytes", 0, "max_task_bytes", 0), ("max-task-size-bytes", "-1", "max_task_bytes", -1),
        ("fragment-ratio", "+4", "fragment_ratio", 4), ("fragment-ratio", 1, "fragment_ratio", 1),
        ("min-target-size-ratio", 1.5, "min_target_ratio", 1.5),
        ("min-target-size-ratio", " 0.5f ", "min_target_ratio", 0.5),
        ("minor.trigger.file-count", 0, "minor_files_count", 0),
        ("minor.trigger.file-count", "40", "minor_files_count", 40),
        ("major.trigger.duplicate-ratio", -0.1, "duplicate_ratio", -0.1),
        ("major.trigger.duplicate-ratio", "Infinity", "duplicate_ratio", float("inf")),
        ("full.trigger.interval", 2**31 - 1, "full_interval_ms", 2**31 - 1),
        ("full.trigger.interval", "1d", "full_interval_ms", 86_400_000),
        ("full.rewrite-all-files", False, "full_rewrites_all", False),
        ("min-plan-interval", "30d", "min_plan_interval_ms", 2_592_000_000),
        ("min-plan-interval", "0s", "min_plan_interval_ms", 0),
        ("target-size", "64MiB", "target_bytes", 64 * MIB),
        ("target-size", "67108864", "target_bytes", 64 * MIB),
        ("target-size", 1, "target_bytes", 1),
        ("minor.trigger.interval", 250, "minor_interval_ms", 250),
        ("minor.trigger.interval", "250", "minor_interval_ms", 250),
        ("minor.trigger.interval", "-1", "minor_interval_ms", -1),
        ("minor.trigger.interval", "1.5h", "minor_interval_ms", 5_400_000),
        ("evaluation.fallback-interval", "1h", "fallback_interval_ms", 3_600_000),
        ("evaluation.file-size.mse-tolerance", -1, "mse_tolerance_bytes", -1),
        ("evaluation.file-size.mse-tolerance", "1MiB", "mse_tolerance_bytes", MIB),
    ],
)  # fmt: skip
def test_options_are_read_as_people_write_them(key, value, field, expected):
    assert getattr(read_settings({PREFIX + key: value}), field) == expected


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *[("target-size", value) for value in (0, True, "much", " 64", "1_000", 2**63)],
        *[("fragment-ratio", value) for value in (0, 8.5, 2**31)],
        *[("min-target-size-ratio", value) for value in ("half", True)],
        *[("minor.trigger.interval", value) for value in ("often", 1.5, "0.5ms", 2**31)],
        ("minor.trigger.file-count", "1_2"), ("full.trigger.interval", "30d"),
        ("major.trigger.duplicate-ratio", True), ("filter", "(p = 1)"), ("fragment-ration", 8),
    ],
)  # fmt: skip
def test_options_out_of_range_or_unknown_are_refused(key, value):
    with pytest.raises(ValueError, match=PREFIX + key):
        Amoro({PREFIX + key: value})


@pytest.mark.parametrize("key", REFUSED_OPTIONS)
def test_options_that_change_no_plan_are_refused_with_the_reason(key):
    with pytest.raises(ValueError, match=f"{key} .*not supported"):
        Amoro({key: 1})


def test_no_option_of_amoro_is_forgotten():
    # Amoro has 23 self-optimizing.* keys, and the planner reads one of Iceberg's.
    assert not KNOWN_OPTIONS.keys() & REFUSED_OPTIONS.keys()
    assert len(KNOWN_OPTIONS) + len(REFUSED_OPTIONS) == 24


def test_sizes_follow_from_ratios_as_in_java():
    # CommonPartitionEvaluator: a long divided by an int is cut towards 0, a double cast to a long too.
    def sizes(**set_):
        parsed = read_settings({PREFIX + key.replace("_", "-"): value for key, value in set_.items()})
        return parsed.fragment_bytes, parsed.min_target_bytes

    assert sizes(target_size=100, fragment_ratio=-8) == (-12, 75)
    assert sizes(target_size=99, min_target_size_ratio=1.5) == (12, 148)
    assert sizes(target_size=100, min_target_size_ratio="NaN") == (12, 0)
    assert sizes(target_size=100, min_target_size_ratio="Infinity") == (12, 2**63 - 1)


def test_a_minimum_that_leaves_no_room_for_a_fragment_has_a_warning():
    # By hand: 0.875 x 128 = 112 = 128 - 16 is the most.
    assert read_settings({"self-optimizing.min-target-size-ratio": 0.875}).warning == ""
    assert "0.9" in read_settings({"self-optimizing.min-target-size-ratio": 0.9}).warning
