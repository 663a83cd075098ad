"""The workloads and arrivals a scenario can name. One line each."""

from collections.abc import Callable

from workloads.append import Append
from workloads.arrival import Arrival, Bursts, Constant, Daily, Poisson
from workloads.commit import Workload
from workloads.trace import Trace

ARRIVALS: dict[str, Callable[..., Arrival]] = {
    "bursts": Bursts,
    "constant": Constant,
    "daily": Daily,
    "poisson": Poisson,
    "trace": Trace,
}

WORKLOADS: dict[str, Callable[..., Workload]] = {
    "append": Append,
}
