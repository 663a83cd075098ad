"""Compactions that commits of a Hudi table run, configured by the table's own options.

Source: BaseHoodieTableServiceClient.runTableServicesInline of Hudi 1.2.0.
"""

from collections.abc import Callable, Mapping

from bench.engines.hudi.table_keys import INLINE_COMPACTION
from strategies.hudi.compaction_plan import COMPACTION_OPTIONS
from strategies.hudi.planners import DEFAULT_STRATEGY, Compaction
from strategies.hudi.triggers import (
    DEFAULT_COMMITS,
    DEFAULT_ELAPSED_MS,
    NumAndTime,
    NumCommits,
    NumCommitsAfterLastRequest,
    NumOrTime,
    TimeElapsed,
)
from strategies.java_values import parse_boolean, parse_int
from strategies.options import NumberOption
from strategies.strategy import Rule
from strategies.triggers import Trigger

STRATEGY = "hoodie.compaction.strategy"
_PREFIX = f"{INLINE_COMPACTION}."
COMMITS = f"{_PREFIX}max.delta.commits"
SECONDS = f"{_PREFIX}max.delta.seconds"
TRIGGER = f"{_PREFIX}trigger.strategy"
_TRIGGERS: Mapping[str, Callable[[int, int], Trigger]] = {
    "NUM_COMMITS": lambda commits, elapsed_ms: NumCommits(commits),
    "NUM_COMMITS_AFTER_LAST_REQUEST": lambda commits, elapsed_ms: NumCommitsAfterLastRequest(commits),
    "TIME_ELAPSED": lambda commits, elapsed_ms: TimeElapsed(elapsed_ms),
    "NUM_OR_TIME": NumOrTime,
    "NUM_AND_TIME": NumAndTime,
}


def compacts_itself(properties: Mapping[str, str]) -> bool:
    """Whether commits compact the table."""
    return parse_boolean(properties.get(INLINE_COMPACTION, "false"))


def inline_rule(properties: Mapping[str, str]) -> Rule | None:
    """When and how commits compact, None if they do not. Raises ValueError for options that Hudi rejects."""
    if not compacts_itself(properties):
        return None
    trigger = properties.get(TRIGGER, "NUM_COMMITS")
    if trigger not in _TRIGGERS:
        raise ValueError(f"{TRIGGER}={trigger!r} must be one of {', '.join(_TRIGGERS)}")
    commits = NumberOption(COMMITS, parse_int).read(properties, DEFAULT_COMMITS)
    elapsed_ms = 1000 * NumberOption(SECONDS, parse_int).read(properties, DEFAULT_ELAPSED_MS // 1000)
    return Rule(_TRIGGERS[trigger](commits, elapsed_ms), inline_compaction(properties))


def inline_compaction(properties: Mapping[str, str]) -> Compaction:
    options = {name: text for name, text in properties.items() if name in COMPACTION_OPTIONS}
    return Compaction(properties.get(STRATEGY, DEFAULT_STRATEGY), options)
