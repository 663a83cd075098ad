from types import SimpleNamespace

import pytest
from refused import refused

from bench.engines.contract import SparkSettings
from bench.engines.spark import measured_session
from bench.engines.spark.measured_session import wait_for_executor


class FakeSpark:
    """A session whose cluster grants an executor at the `granted_at`-th question; at none: never."""

    def __init__(self, granted_at: int | None = None, **conf: str) -> None:
        self.asked = 0
        self._granted_at = granted_at
        context = SimpleNamespace(getExecutorIds=self._executors)
        settings = {key.replace("_", "."): value for key, value in conf.items()}
        self.sparkContext = SimpleNamespace(
            getConf=lambda: SimpleNamespace(get=settings.get), _jsc=SimpleNamespace(sc=lambda: context)
        )

    def _executors(self) -> SimpleNamespace:
        self.asked += 1
        return SimpleNamespace(isEmpty=lambda: self._granted_at is None or self.asked < self._granted_at)


CLUSTER = SparkSettings("spark://host:7077")


def test_a_cluster_that_grants_no_executor_is_told(monkeypatch):
    monkeypatch.setattr(measured_session, "EXECUTOR_WAIT_S", 0)
    with refused("no-executor"):
        wait_for_executor(FakeSpark(spark_executor_memory="64g"), CLUSTER)


def test_an_executor_that_comes_later_is_waited_for():
    spark = FakeSpark(granted_at=2)
    wait_for_executor(spark, CLUSTER)
    assert spark.asked == 2


@pytest.mark.parametrize(
    ("settings", "conf"), [(SparkSettings(), {}), (CLUSTER, {"spark_dynamicAllocation_enabled": "true"})]
)
def test_nothing_is_waited_for_where_none_is_to_come(settings, conf):
    wait_for_executor(FakeSpark(**conf), settings)
