"""A statement of Spark between whose plan and tasks something else commits."""

import time
from concurrent.futures import ThreadPoolExecutor

_WAIT_S = 300.0  # a slow machine is no failure


def committed_meanwhile(spark, gate, statement, commit):
    """The rows of `statement`, whose tasks begin only after `commit()`; raises what the statement raises.

    Until then tasks that wait for the file `gate` take all cores. So `commit` must not need Spark's tasks.
    """
    cores = spark.sparkContext.defaultParallelism

    def hold(_):
        while not gate.exists():
            time.sleep(0.05)

    def wait_for_jobs(count, future):
        until_s = time.monotonic() + _WAIT_S
        while len(spark.sparkContext.statusTracker().getActiveJobsIds()) < count:
            if future.done():
                future.result()
                raise AssertionError("it ended before its tasks had to wait")
            assert time.monotonic() < until_s
            time.sleep(0.05)

    with ThreadPoolExecutor(2) as pool:
        try:
            holding = pool.submit(spark.sparkContext.parallelize(range(cores), cores).foreach, hold)
            wait_for_jobs(1, holding)
            stated = pool.submit(lambda: spark.sql(statement).collect())
            wait_for_jobs(2, stated)
            commit()
        finally:
            gate.touch()
        holding.result()
        return stated.result()
