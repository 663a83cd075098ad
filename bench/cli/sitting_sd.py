"""The option `--sitting-sd`: how far sittings of this machine are apart, as a number or as measured."""

import json
import math
from pathlib import Path

from bench.errors import ScenarioError
from bench.keys import known_text
from bench.results.rows import METRICS
from reports.verdicts.sittings import SittingEffect, SittingEffects

_REMEDY = "give a number such as 0.05, or the file that `make trust` wrote"
_TIMINGS = [metric.name for metric in METRICS if metric.basis == "timing"]  # sittings move nothing else


def parse_sitting_sd(text: str) -> SittingEffects:
    """Read one sd of logs for all timings, such as "0.05", or the path of a file of them.

    Raises ScenarioError for anything else.
    """
    try:
        sd = float(text)
    except ValueError:
        return _read(Path(text))
    if not 0 <= sd < 1:
        raise ScenarioError(f"--sitting-sd {text}: must be from 0 up to 1; 0.05 means 5 %")
    return SittingEffects({}, SittingEffect(sd))


def _read(path: Path) -> SittingEffects:
    """The effects in a file of the form {"query_mean_s": {"sd": 0.04, "sittings": 5}, ...}."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
        effects = {
            str(metric): SittingEffect(float(found["sd"]), float(found["sittings"]) - 1)
            for metric, found in content.items()
        }
    except OSError as error:
        raise ScenarioError(f"--sitting-sd {path}: cannot be read ({error.strerror}); {_REMEDY}") from error
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise ScenarioError(f"--sitting-sd {path}: is not a file of sitting effects; {_REMEDY}") from error
    if not effects:
        raise ScenarioError(f"--sitting-sd {path}: names no timing; {_REMEDY}")
    for metric, effect in effects.items():
        if metric not in _TIMINGS:
            known = known_text(metric, _TIMINGS)
            raise ScenarioError(f"--sitting-sd {path}: {metric!r}: no such timing; {known}")
        if not 0 <= effect.sd < 1 or not 1 <= effect.freedom < math.inf:
            raise ScenarioError(
                f"--sitting-sd {path}: {metric}: sd must be from 0 up to 1, sittings at least 2; {_REMEDY}"
            )
    return SittingEffects(effects)
