import pytest

from bench.engines.spark.meter import executor_memory_bytes

MIB = 2**20


@pytest.mark.parametrize(
    ("conf", "mib"),
    [
        ({"spark.master": "spark://host:7077"}, 1_024),
        ({"spark.master": "spark://host:7077", "spark.executor.memory": "4g"}, 4_096),
        ({"spark.master": "local-cluster[2,1,1024]", "spark.executor.memory": "512"}, 512),
        ({"spark.master": "yarn"}, 1_024 + 384),
        ({"spark.master": "yarn", "spark.executor.memory": "8GB"}, 8_192 + 819),
        ({"spark.master": "k8s://https://host", "spark.executor.memoryOverhead": "100"}, 1_024 + 100),
        ({"spark.master": "yarn", "spark.executor.memoryOverheadFactor": "0.5"}, 1_024 + 512),
        (
            {
                "spark.master": "yarn",
                "spark.memory.offHeap.enabled": "true",
                "spark.memory.offHeap.size": str(64 * MIB),
            },
            1_024 + 384 + 64,
        ),
    ],
)
def test_the_memory_of_an_executor_is_what_its_cluster_gives_it(conf, mib):
    assert executor_memory_bytes(conf) // MIB == mib
