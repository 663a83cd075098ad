"""Whether a metric that the user names is one."""

from bench.errors import ScenarioError
from bench.names import known_text
from bench.results.metrics import METRIC_BY_NAME


def check_metric(name: str, path: str, *others: str) -> None:
    """Raises ScenarioError at `path` for a name that is neither a metric nor one of `others`."""
    known = (*METRIC_BY_NAME, *others)
    if name not in known:
        problem = f"{name!r} is not a metric; {known_text(name, known)}"
        raise ScenarioError(problem, code="unknown-name", path=path)
