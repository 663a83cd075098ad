"""Which values of a Hudi table's options are refused before a run."""

from bench.engines.hudi.inline import NOT_SERIALIZABLE, STRATEGY, inline_rule, is_not_serializable
from bench.engines.hudi.packing import packing
from bench.engines.hudi.table_keys import INLINE_COMPACTION


def property_problem(name: str, value: str) -> str | None:
    """Why an option cannot have a value; None for a sound one, and for any option that is not read here."""
    try:
        inline_rule({INLINE_COMPACTION: "true", name: value})
        packing({name: value}, max_file_bytes=1)
    except ValueError as error:
        return str(error).removeprefix(f"{name}={value!r} ").removeprefix(f"{name}={value} ")
    if name == STRATEGY and is_not_serializable(value):
        return (
            f"names {NOT_SERIALIZABLE}, with which a commit that compacts fails: Hudi 1.2's client for Spark "
            "cannot plan by it; leave it out and have a rule plan it by hudi.compaction"
        )
    return None
