"""The options of a Hudi table that are refused before a run: they would change what is measured.

Names that Hudi does not know are not checked; it ignores them.
"""

from collections.abc import Mapping

from bench.engines.contract import TableSpec
from bench.engines.hudi.fitting import compaction_problem
from bench.engines.hudi.inline import STRATEGY, TRIGGER, compacts_itself, inline_compaction, inline_rule
from bench.engines.hudi.packing import packing
from bench.engines.hudi.table_keys import INLINE_COMPACTION, is_merge_on_read
from strategies.hudi.clustering_plan import CLUSTERING_OPTIONS
from strategies.hudi.commands import Command
from strategies.hudi.compaction_plan import COMPACTION_OPTIONS
from strategies.hudi.compaction_strategies import uses_today
from strategies.hudi.log_compaction_plan import LOG_COMPACTION_OPTIONS
from strategies.java_values import parse_boolean

_LATER = "inline = true and a delay"
# Services that commits would run, so that their cost would be part of the commit's; with their replacement.
_SERVICES: Mapping[str, str] = {
    "hoodie.compact.schedule.inline": f"a rule with the planner {Command.COMPACTION}, {_LATER}",
    "hoodie.log.compaction.inline": f"a rule with the planner {Command.LOG_COMPACTION} and inline = true",
    "hoodie.clustering.inline": f"a rule with the planner {Command.CLUSTERING} and inline = true",
    "hoodie.clustering.schedule.inline": f"a rule with the planner {Command.CLUSTERING}",
    "hoodie.clean.automatic": f"a rule of [[maintenance]] with the planner {Command.CLEAN}",
    "hoodie.archive.automatic": f"a rule of [[maintenance]] with the planner {Command.ARCHIVE}",
}
_OF_STREAMING_WRITES = frozenset({
    "hoodie.datasource.compaction.async.enable", "hoodie.datasource.clustering.async.enable",
})  # fmt: skip
_TTL = "hoodie.partition.ttl.inline"
# The same for all tables, or determined by the stream and the clock.
_FIXED = frozenset({
    "hoodie.base.path", "hoodie.table.name", "hoodie.table.version", "hoodie.write.table.version",
    "hoodie.table.base.file.format", "hoodie.timeline.path", "hoodie.timeline.history.path",
    "hoodie.datasource.write.operation", "hoodie.datasource.write.recordkey.field",
    "hoodie.datasource.write.partitionpath.field", "hoodie.datasource.write.keygenerator.class",
    "hoodie.record.merge.mode", "hoodie.write.concurrency.mode", "hoodie.write.lock.provider",
    "hoodie.clean.failed.writes.policy", "hoodie.cleaner.policy.failed.writes",
})  # fmt: skip
# Rules set these for the services they plan. As properties they would not reach forecasts and simulations.
_OF_RULES = frozenset({*CLUSTERING_OPTIONS, *LOG_COMPACTION_OPTIONS, *COMPACTION_OPTIONS})
_BY_CLOCK = ("TIME_ELAPSED", "NUM_AND_TIME", "NUM_OR_TIME")


def property_problem(spec: TableSpec) -> tuple[str, str] | None:
    """The first option that cannot work, and why."""
    itself = compacts_itself(spec.properties)
    for name, value in spec.properties.items():
        problem = value_problem(name, value)
        if problem is None and name in _OF_RULES and not (itself and name in COMPACTION_OPTIONS):
            problem = (
                "is an option of a table service: set it as an option of the rule that plans the service"
            )
        if problem is not None:
            return name, problem
    return _inline_problem(spec) if itself else None


def at_once_problem(spec: TableSpec, settings: Mapping[str, str]) -> str | None:
    """Why commits of a table cannot go on beside compactions; `settings` of Spark do not matter."""
    if not compacts_itself(spec.properties):
        return None
    return (
        f"{INLINE_COMPACTION} makes commits compact, and with a real clock the compactor does that at the "
        f"same time: leave it out, and add a rule with the planner {Command.COMPACTION}"
    )


def _inline_problem(spec: TableSpec) -> tuple[str, str] | None:
    if not is_merge_on_read(spec):
        return (
            INLINE_COMPACTION,
            "has no effect on a COPY_ON_WRITE table, which has no log files: leave it out",
        )
    problem = compaction_problem(spec, inline_compaction(spec.properties))
    return None if problem is None else (STRATEGY, problem)


def value_problem(name: str, value: str) -> str | None:
    """Why an option cannot have a value. Options that nothing here depends on are not checked."""
    if name in _OF_STREAMING_WRITES and parse_boolean(value):
        return "only affects streaming writes, and commits here are batches: use a rule with a delay instead"
    if name in _SERVICES and parse_boolean(value):
        return (
            "makes commits run a table service, whose cost cannot be separated from theirs: leave it out "
            f"and add {_SERVICES[name]}"
        )
    if name in _FIXED:
        return "has a fixed value: leave it out"
    if name == _TTL and parse_boolean(value):
        return "makes commits drop partitions, which is not supported: leave it out"
    try:
        inline_rule({INLINE_COMPACTION: "true", name: value})
        packing({name: value}, max_file_bytes=1)
    except ValueError as error:
        return str(error).removeprefix(f"{name}={value!r} ").removeprefix(f"{name}={value} ")
    if name == TRIGGER and value in _BY_CLOCK:
        return (
            "uses the real clock instead of scenario time: leave it out, and add a rule with the trigger "
            f"hudi.{value.lower()} and inline = true"
        )
    if name == STRATEGY and uses_today(value):
        return (
            "uses the real date instead of the dates of the stream: leave it out, and add a rule with the "
            f"trigger hudi.num_commits, the planner {Command.COMPACTION} and inline = true"
        )
    return None
