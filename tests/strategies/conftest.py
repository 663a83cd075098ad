"""Iceberg's own planners, one instance a session: py4j keeps methods by the name of their class."""

import pytest
from iceberg_oracle import IcebergOracle


@pytest.fixture(scope="session")
def oracle(spark):
    return IcebergOracle(spark)
