"""The configuration of a Spark engine as results show it."""

from collections.abc import Mapping

from pydantic import JsonValue

from bench.engines.contract import EngineSettings
from bench.engines.spark.conf import DEFAULT_CONF


def spark_options(settings: EngineSettings, of_format: Mapping[str, str]) -> dict[str, JsonValue]:
    """The master and the configuration. The format's settings override ours, the scenario's override both."""
    return {
        "spark.master": settings.spark.master,
        "spark": {**DEFAULT_CONF, **of_format, **settings.spark.conf},
    }
