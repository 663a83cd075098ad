"""How far sittings are apart on the user's machine (`compare --sitting-sd`)."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from bench.errors import ScenarioError, first_error
from bench.names import known_text
from bench.results.metrics import METRICS
from reports.verdicts.sittings import DEFAULT, SittingEffect, SittingEffects


class _Measured(BaseModel):
    sd: float = Field(ge=0, lt=1)  # of logs
    sittings: float = Field(ge=2, allow_inf_nan=False)


def sitting_effects(text: str) -> SittingEffects:
    """How far sittings are apart: one sd of logs for all timings, such as "0.05", or the path of a file.

    The file has the form {"query_mean_s": {"sd": 0.04, "sittings": 5}, ...}. Raises ScenarioError for
    anything else.
    """
    path = f"--sitting-sd {text}"
    remedy = "give a number such as 0.05, or the file that `make trust` wrote"
    try:
        if _is_number(text):
            return SittingEffects({}, SittingEffect(_Measured(sd=float(text), sittings=2).sd))
        measured = TypeAdapter(Annotated[dict[str, _Measured], Field(min_length=1)]).validate_json(
            Path(text).read_bytes()
        )
    except OSError as error:
        raise ScenarioError(
            f"cannot be read ({error.strerror}); {remedy}", code="unreadable", path=path
        ) from error
    except ValidationError as error:
        raise ScenarioError(f"{first_error(error)}; {remedy}", code="invalid", path=path) from error
    timings = [metric.name for metric in METRICS if metric.basis == "timing"]  # sittings move nothing else
    for metric in measured:
        if metric not in timings:
            known = known_text(metric, timings)
            raise ScenarioError(f"{metric!r} is not a timing; {known}", code="unknown-name", path=path)
    effects = {name: SittingEffect(m.sd, m.sittings - 1) for name, m in measured.items()}
    return SittingEffects(effects, DEFAULT)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
