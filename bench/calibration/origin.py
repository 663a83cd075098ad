"""What coefficients were fitted to, in words."""

from collections.abc import Iterable, Sequence

from bench.calibration.measured import MeasuredStep
from bench.results.records import Manifest
from bench.text import counted


def origin_of(steps: Sequence[MeasuredStep], manifests: Iterable[Manifest]) -> str:
    """How many steps of which runs, when they were made, and on what."""
    fitted = [step for step in steps if not step.is_initial]
    run_ids = {step.run_id for step in fitted}
    own = [manifest for manifest in manifests if manifest.run_id in run_ids]
    days = sorted(manifest.started_utc[:10] for manifest in own)
    machines = sorted({f"{m.machine.get('cpu', 'unknown')}, {m.machine.get('cores')} cores" for m in own})
    versions = sorted({f"{m.versions.get(m.format)} with Spark {m.versions.get('spark')}" for m in own})
    streams = len({step.stream for step in fitted})
    return (
        f"Fitted to {counted(len(fitted), 'step')} of {counted(len(run_ids), 'run')} of "
        f"{counted(streams, 'stream')}, made from {days[0]} to {days[-1]} on {' or '.join(machines)}; "
        f"{own[0].format} {', '.join(versions)}."
    )


def cores_of(steps: Iterable[MeasuredStep]) -> int:
    """The most that a run of them had."""
    return max(step.cores for step in steps)
