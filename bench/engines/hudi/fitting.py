"""Which rules work on a Hudi table. Hudi checks most of this too, but only when a table service runs."""

from bench.engines.contract import TableSpec
from bench.engines.hudi.inline import compacts_itself
from bench.engines.hudi.table_keys import INLINE_COMPACTION, is_merge_on_read, keys_of
from strategies.hudi.compaction_plan import (
    PARTITION_REGEX,
    TARGET_IO,
    TARGET_PARTITIONS,
    compaction_settings,
    compaction_texts,
    without_effect,
)
from strategies.hudi.compaction_strategies import (
    DayBased,
    PartitionRegexBased,
    names_of,
    reads_dates,
    uses_today,
)
from strategies.hudi.planners import Clustering, Compaction, LogCompaction
from strategies.hudi.triggers import HudiTrigger
from strategies.strategy import Rule

_NO_DELAY = 'set the delay of the rule, or compaction_delay, to "0s"'


def rule_problem(spec: TableSpec, rule: Rule) -> str | None:
    problem = _planner_problem(spec, rule)
    if problem is None and isinstance(rule.trigger, HudiTrigger) and not is_merge_on_read(spec):
        return (
            "its trigger counts delta commits, and a COPY_ON_WRITE table has none: use the trigger "
            '"every" or "after_commits"'
        )
    return problem


def _planner_problem(spec: TableSpec, rule: Rule) -> str | None:
    match rule.planner:
        case Compaction() | LogCompaction() if not is_merge_on_read(spec):
            return (
                "merges log files, and a COPY_ON_WRITE table has none: set writer.upsert_mode to "
                '"merge-on-read", or leave it out'
            )
        case Compaction() if compacts_itself(spec.properties):
            return (
                "compacts a table whose commits already compact it, with other options: set "
                f"{INLINE_COMPACTION} to false, or leave the rule out"
            )
        case Compaction() as planner:
            return compaction_problem(spec, planner)
        case LogCompaction() if rule.delay_ms:
            return (
                "has a delay, and Hudi drops a pending log compaction when it plans a compaction of the same "
                f"file slices: {_NO_DELAY}"
            )
        case Clustering() if keys_of(spec).index == "bucket":
            return (
                "makes new file groups, and a bucket index has a fixed number of them: set "
                'table.index = "simple", or leave the rule out'
            )
        case Clustering() if rule.delay_ms:
            return (
                "has a delay, and Hudi refuses commits that change rows of file groups in a pending "
                f"clustering: {_NO_DELAY}"
            )
        case _:
            return None


def compaction_problem(spec: TableSpec, planner: Compaction) -> str | None:
    names = names_of(planner.strategy)
    if reads_dates(planner.strategy) and spec.partitioning.by != "day":
        return (
            f"strategy {planner.strategy!r} selects partitions by date, and the table is not partitioned by "
            'day: set table.partitioning = "day", or use another strategy'
        )
    if DayBased.__name__ in names and uses_today(planner.strategy):
        return (
            f"strategy {planner.strategy!r} uses {TARGET_PARTITIONS} both as a number of partitions "
            f"({DayBased.__name__}) and as a number of days: leave out one of the strategies"
        )
    if PartitionRegexBased.__name__ in names and PARTITION_REGEX not in planner.options:
        return f'strategy {planner.strategy!r} needs the option {PARTITION_REGEX}, such as "^2026/01/"'
    return options_problem(planner)


def options_problem(planner: Compaction) -> str | None:
    """Refuses options without effect: Hudi ignores some, and plans nothing for a target of 0."""
    idle = without_effect(planner.options, planner.strategy)
    if idle:
        return f"strategy {planner.strategy!r} ignores {', '.join(idle)}: leave it out"
    target_mib = compaction_settings(compaction_texts(planner.options), today=None).target_io_mib
    if target_mib <= 0:
        return f"{TARGET_IO} = {target_mib} excludes every file slice: set it to a number of MiB > 0"
    return None
