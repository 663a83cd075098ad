"""Rules whose planner may fall behind the stream, as far as its own limits and the stream's shape tell."""

from collections.abc import Iterator
from dataclasses import dataclass

from bench.engines.registry import FORMATS
from bench.scenario.plugins import blaming
from bench.scenario.scenario import Scenario
from bench.scenario.specs import StrategySpec, rule_text
from strategies.strategy import Rule, traits_of
from strategies.triggers import AfterCommits, interval_ms_of


@dataclass(frozen=True, slots=True)
class Backlog:
    """A rule that may leave work for later at each plan: whose it is (a strategy's label), and why."""

    owner: str
    rule: str
    reason: str

    def __str__(self) -> str:
        return f"{self.rule} of {self.owner} may leave partitions for later plans: {self.reason}"


def backlogs(scenario: Scenario) -> tuple[Backlog, ...]:
    """The rules of strategies that say of themselves that they may fall behind this stream."""
    return tuple(backlog for spec in scenario.strategies for backlog in _of(scenario, spec))


def _of(scenario: Scenario, spec: StrategySpec) -> Iterator[Backlog]:
    rules = [rule for rule in spec.strategy.rules if traits_of(rule.planner).falls_behind is not None]
    if not rules:
        return
    writing = _writing(scenario, spec)
    if writing is None:
        return
    files_per_commit, commit_every_ms, partitions = writing
    for rule in rules:
        for reason in _reasons(rule, files_per_commit, commit_every_ms, partitions):
            yield Backlog(spec.label, rule_text(rule), reason)


def _writing(scenario: Scenario, spec: StrategySpec) -> tuple[float, float, int] | None:
    """Means of what a writer does, and the partitions of all its commits; None if its files are not known.

    The means are the files that a commit adds and the time between two commits.
    """
    layout = FORMATS[scenario.table.format].layout
    files, commits, partitions = 0, 0, set[str]()
    for commit in scenario.commits_of(spec):
        made = layout(commit, scenario.spark.settings)
        if made.data_files_count is None or made.delete_files_count is None:
            return None
        files += made.data_files_count + made.delete_files_count
        commits += 1
        partitions.update(partition.partition for partition in commit.partitions)
    return files / max(1, commits), scenario.duration_ms / max(1, commits), len(partitions)


def _reasons(rule: Rule, files_per_commit: float, commit_every_ms: float, partitions: int) -> Iterator[str]:
    falls_behind, commits = traits_of(rule.planner).falls_behind, _commits_between(rule, commit_every_ms)
    if falls_behind is None or commits is None:
        return
    with blaming(rule.planner, "falls_behind", "planner"):
        reason = falls_behind(files_per_commit * commits, partitions)
    if reason is not None:
        yield reason


def _commits_between(rule: Rule, commit_every_ms: float) -> float | None:
    """How many commits there are between two evaluations; None where the trigger does not tell."""
    if isinstance(rule.trigger, AfterCommits):
        return float(rule.trigger.commits)
    interval_ms = interval_ms_of(rule.trigger)
    return None if interval_ms is None else max(1.0, interval_ms / commit_every_ms)
