"""How noisy this machine's timings are: one query, repeated on a table without rows."""

import json
import time

from bench.engines.contract import EngineSettings, Probe, TableSpec
from bench.engines.registry import FORMATS
from bench.runs.jobs import NoiseJob
from strategies.state import MIB

WARM_UP_QUERIES = 20
PROBE = Probe("noise", "SELECT count(*) FROM range(1000000), (SELECT count(*) FROM orders)", primary=True)


def measure_noise(job: NoiseJob) -> None:
    """Write the wall seconds of each query, in order, to the job's file."""
    settings = EngineSettings(job.work_folder, TableSpec(target_file_size_bytes=128 * MIB))
    walls_s = []
    kind = next(each.engines.real for each in FORMATS.values() if each.engines.real is not None)
    with kind.open(settings) as engine:
        engine.create()
        for _ in range(WARM_UP_QUERIES):
            engine.query(PROBE)
        until_s = time.monotonic() + job.seconds
        while time.monotonic() < until_s:
            walls_s.append(engine.query(PROBE).cost.wall_s)
    job.walls_file.write_text(json.dumps(walls_s), encoding="utf-8")
