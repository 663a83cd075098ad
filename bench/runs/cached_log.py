"""The change logs in the cache, of which each stream has one."""

from pathlib import Path

from bench.engines import runtime
from bench.errors import ScenarioError
from bench.scenario.scenario import Scenario
from workloads.change_log import ChangeLog, ChangeLogError, find_change_log


def log_cache() -> Path:
    """The folder of all change logs."""
    return runtime.cache_folder() / "change_logs"


def cached_log(scenario: Scenario) -> ChangeLog | None:
    """The change log of a scenario; None if it has to be written. Raises ScenarioError if it is damaged."""
    workload, seed = scenario.workload, scenario.seed
    count, interval_ms = scenario.commits_count, scenario.commit_interval_ms
    try:
        return find_change_log(log_cache(), workload, seed, count, interval_ms)
    except ChangeLogError as error:
        raise ScenarioError(str(error)) from error
