"""The workloads and arrivals that a scenario can name, one line each."""

from collections.abc import Callable

from workloads.append import Append
from workloads.arrival import Arrival, Bursts, Constant, Daily, Poisson
from workloads.commit import Workload
from workloads.debezium import Debezium
from workloads.history import History
from workloads.trace import Trace
from workloads.upsert import Upsert

ARRIVALS: dict[str, Callable[..., Arrival]] = {
    "bursts": Bursts,
    "constant": Constant,
    "daily": Daily,
    "poisson": Poisson,
    "trace": Trace,
}

WORKLOADS: dict[str, Callable[..., Workload]] = {
    "append": Append,
    "debezium": Debezium,
    "history": History,
    "upsert": Upsert,
}
