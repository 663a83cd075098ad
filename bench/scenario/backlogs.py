"""Rules whose planner may fall behind the stream, as far as its own limits and the stream's shape tell."""

from collections.abc import Iterator
from dataclasses import dataclass

from bench.engines.registry import FORMATS
from bench.scenario.scenario import Scenario
from bench.scenario.specs import rule_text
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
    rules = [(spec.label, rule) for spec in scenario.strategies for rule in spec.strategy.rules]
    if all(traits_of(rule.planner).falls_behind is None for _, rule in rules):
        return ()
    files_per_commit, partitions = _stream(scenario)
    return tuple(
        Backlog(label, rule_text(rule), reason)
        for label, rule in rules
        for reason in _reasons(rule, scenario.commit_interval_ms, files_per_commit, partitions)
    )


def _stream(scenario: Scenario) -> tuple[float, int]:
    """How many files a commit adds on average, and to how many partitions all commits add some."""
    layout = FORMATS[scenario.table.format].layout
    files, commits, partitions = 0, 0, set[str]()
    for commit in scenario.shape():
        made = layout(commit, scenario.spark.settings)
        files += made.data_files_count + made.delete_files_count
        commits += 1
        partitions.update(partition.partition for partition in commit.partitions)
    return files / max(1, commits), len(partitions)


def _reasons(rule: Rule, commit_interval_ms: int, files_per_commit: float, partitions: int) -> Iterator[str]:
    falls_behind, commits = traits_of(rule.planner).falls_behind, _commits_between(rule, commit_interval_ms)
    if falls_behind is None or commits is None:
        return
    reason = falls_behind(files_per_commit * commits, partitions)
    if reason is not None:
        yield reason


def _commits_between(rule: Rule, commit_interval_ms: int) -> float | None:
    """How many commits there are between two evaluations; None where the trigger does not tell."""
    if isinstance(rule.trigger, AfterCommits):
        return float(rule.trigger.commits)
    interval_ms = interval_ms_of(rule.trigger)
    return None if interval_ms is None else max(1.0, interval_ms / commit_interval_ms)
