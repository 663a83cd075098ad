"""Which options of a Hudi table are refused before a run, and with which values.

Hudi does not check their names: it passes over one that it does not know. `options.txt` has every name, and
every beginning of names (it ends in a dot), that is a constant of a class in hudi-spark3.5-bundle_2.12 1.2.0.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from bench.engines.contract import TableSpec
from bench.engines.hudi.fitting import compaction_problem, compacts_itself
from bench.engines.hudi.inline import STRATEGY, TRIGGER, inline_compaction, inline_rule
from bench.engines.hudi.packing import packing
from bench.engines.hudi.table_keys import INLINE_COMPACTION, is_merge_on_read
from strategies.hudi.clustering_plan import CLUSTERING_OPTIONS
from strategies.hudi.commands import Command
from strategies.hudi.compaction_options import COMPACTION_OPTIONS
from strategies.hudi.compaction_strategies import uses_today
from strategies.hudi.log_compaction_plan import LOG_COMPACTION_OPTIONS
from strategies.java_values import parse_boolean
from strategies.names import near_name

_PREFIX = "hoodie."
_OTHER_JARS = ("hoodie.aws.", "hoodie.gcp.", "hoodie.datahub.")  # of modules that are not in this jar
_LATER = "inline = true and a delay"
# Services that commits would run by themselves, whose cost would go unnoticed within that of the commit, and
# what runs them here.
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
# What every table here has alike, or what the stream decides.
_FIXED = frozenset({
    "hoodie.base.path", "hoodie.table.name", "hoodie.table.version", "hoodie.write.table.version",
    "hoodie.table.base.file.format", "hoodie.timeline.path", "hoodie.timeline.history.path",
    "hoodie.datasource.write.operation", "hoodie.datasource.write.recordkey.field",
    "hoodie.datasource.write.partitionpath.field", "hoodie.datasource.write.keygenerator.class",
    "hoodie.record.merge.mode",
})  # fmt: skip
# What a service is told by the rule that plans it. As properties they would reach Hudi's planners alone, and
# neither forecasts nor simulations.
_OF_RULES = frozenset({*CLUSTERING_OPTIONS, *LOG_COMPACTION_OPTIONS, *COMPACTION_OPTIONS})
_BY_CLOCK = ("TIME_ELAPSED", "NUM_AND_TIME", "NUM_OR_TIME")


def property_problem(spec: TableSpec) -> tuple[str, str] | None:
    """The first option of a table that cannot work, and why; None if there is none."""
    for name, value in spec.properties.items():
        problem = value_problem(name, value)
        if problem is None and name in _OF_RULES - _read_by_commits(spec):
            problem = (
                "is an option of a table service: set it in the options of the rule that plans the service"
            )
        if problem is not None:
            return name, problem
    return None if not compacts_itself(spec) else _inline_problem(spec)


def _read_by_commits(spec: TableSpec) -> frozenset[str]:
    """The options of services that commits of the table read."""
    return frozenset(COMPACTION_OPTIONS) if compacts_itself(spec) else frozenset()


def _inline_problem(spec: TableSpec) -> tuple[str, str] | None:
    if not is_merge_on_read(spec):
        return (
            INLINE_COMPACTION,
            "has no effect on a COPY_ON_WRITE table, which has no log files: leave it out",
        )
    problem = compaction_problem(spec, inline_compaction(spec.properties))
    return None if problem is None else (STRATEGY, problem)


def value_problem(name: str, value: str) -> str | None:
    """Why an option cannot have a value; None for a sound one, and for any option that is not read here."""
    unknown = unknown_option(name)
    if unknown is not None:
        return unknown
    if name in _OF_STREAMING_WRITES and parse_boolean(value):
        return (
            "has an effect on streaming writes alone, and commits here are batches: leave it out, and add a "
            "rule with a delay"
        )
    if name in _SERVICES and parse_boolean(value):
        return (
            "would have commits run a table service whose cost could not be told from their own: leave it "
            f"out, and add {_SERVICES[name]}"
        )
    if name in _FIXED:
        return "is the same for every table that is written here: leave it out"
    if name == _TTL and parse_boolean(value):
        return "would have commits drop partitions, which is not supported: leave it out"
    try:
        inline_rule({INLINE_COMPACTION: "true", name: value})
        packing({name: value}, max_file_bytes=1)
    except ValueError as error:
        return str(error).removeprefix(f"{name}={value!r} ").removeprefix(f"{name}={value} ")
    if name == TRIGGER and value in _BY_CLOCK:
        return (
            "goes by the real clock, while the stream has a clock of its own: leave it out, and add a rule "
            f"with the trigger hudi.{value.lower()} and inline = true"
        )
    if name == STRATEGY and uses_today(value):
        return (
            "chooses by the real date, while the stream has dates of its own: leave it out, and add a rule "
            f"with the trigger hudi.num_commits, the planner {Command.COMPACTION} and inline = true"
        )
    return None


@cache
def known_options() -> frozenset[str]:
    """All names, and beginnings of names."""
    text = Path(__file__).with_name("options.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def unknown_option(name: str) -> str | None:
    """What is wrong with the name of an option; None for one of Hudi's, or of something else than Hudi."""
    known = known_options()
    if not name.startswith(_PREFIX) or name in known:
        return None
    if name.startswith((*_OTHER_JARS, *(each for each in known if each.endswith(".")))):
        return None
    near = near_name(name, (each for each in known if not each.endswith(".")))
    hint = f'did you mean "{near}"?' if near else "leave it out"
    return f"is not an option of Hudi 1.2, which would pass over it: {hint}"
