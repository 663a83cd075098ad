"""Which options of a Hudi table are refused before a run, and with which values."""

from collections.abc import Mapping

from bench.engines.hudi.inline import NOT_SERIALIZABLE, STRATEGY, inline_rule, is_not_serializable
from bench.engines.hudi.packing import packing
from bench.engines.hudi.table_keys import INLINE_COMPACTION
from strategies.hudi.commands import Command
from strategies.java_values import parse_boolean

_LATER = "inline = true and a delay"
# Services that commits would run by themselves, whose cost would go unnoticed within that of the commit, and
# what runs them here.
_SERVICES: Mapping[str, str] = {
    "hoodie.compact.schedule.inline": f"a rule with the planner {Command.COMPACTION}, {_LATER}",
    "hoodie.log.compaction.inline": f"a rule with the planner {Command.LOG_COMPACTION} and inline = true",
    "hoodie.clustering.inline": f"a rule with the planner {Command.CLUSTERING} and inline = true",
    "hoodie.clustering.schedule.inline": f"a rule with the planner {Command.CLUSTERING}, {_LATER}",
    "hoodie.clean.automatic": f"a rule of [[maintenance]] with the planner {Command.CLEAN}",
    "hoodie.archive.automatic": f"a rule of [[maintenance]] with the planner {Command.ARCHIVE}",
    "hoodie.partition.ttl.inline": "nothing",
}


def property_problem(name: str, value: str) -> str | None:
    """Why an option cannot have a value; None for a sound one, and for any option that is not read here."""
    if name in _SERVICES and parse_boolean(value):
        return (
            "would have commits run a table service whose cost cannot be told from their own: leave it out; "
            f"in its place there is {_SERVICES[name]}"
        )
    try:
        inline_rule({INLINE_COMPACTION: "true", name: value})
        packing({name: value}, max_file_bytes=1)
    except ValueError as error:
        return str(error).removeprefix(f"{name}={value!r} ").removeprefix(f"{name}={value} ")
    if name == STRATEGY and is_not_serializable(value):
        return (
            f"names {NOT_SERIALIZABLE}, with which a commit that compacts fails: Hudi 1.2's client for Spark "
            "cannot plan by it; leave it out and have a rule plan it by hudi.compaction, with inline = true"
        )
    return None
