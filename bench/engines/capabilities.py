"""What each engine can do, known without opening it or importing what it runs on."""

from collections.abc import Mapping

from strategies.plan import Capability

VECTORS_FROM = 3  # table spec: position delete files must not be added to tables of this format version

ICEBERG = frozenset({
    Capability.COMPACT,
    Capability.REWRITE,
    Capability.CONVERT,
    Capability.UPSERT,
    Capability.MERGE,
    Capability.VECTORS,
    Capability.DELAYED_COMMIT,
    Capability.ROW_FILTER,
    Capability.BRANCH,
    Capability.REWRITE_DATA_FILES,
    Capability.REWRITE_MANIFESTS,
    Capability.REWRITE_POSITION_DELETE_FILES,
    Capability.EXPIRE_SNAPSHOTS,
})  # fmt: skip

# A simulated table has files and no rows: no predicate can be asked of it. What merging position deletes
# or the format's MERGE make of it is not modelled, nor are deletion vectors.
ICEBERG_SIMULATED = ICEBERG - {
    Capability.ROW_FILTER,
    Capability.BRANCH,
    Capability.REWRITE_POSITION_DELETE_FILES,
    Capability.MERGE,
    Capability.VECTORS,
}

# By format; whoever may run a scenario asks the engine of its mode.
BY_FORMAT: Mapping[str, tuple[frozenset[Capability], ...]] = {"iceberg": (ICEBERG, ICEBERG_SIMULATED)}
