"""What executes plans on a table. A rule chooses one by name; without a name it is the engine's own."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from bench.engines.contract import Tag
from bench.engines.tickets import Planning
from bench.results.values import Cost
from strategies.plan import Action

OWN = "spark"  # the name of the engine's own executor on Spark
Prepared = TypeVar("Prepared")


class Metered(Protocol):
    """What a step cost, once it has ended."""

    @property
    def cost(self) -> Cost: ...


class Executor(Protocol[Prepared]):
    """Executes the actions of plans on one table, and measures what that costs.

    `capabilities` are the actions it can execute: members of `Capability`, and names of native commands.
    `planning` previews what an action would do by the executor's own rules, and says which are staged.
    Methods raise ValueError for what the executor refuses or fails to do, such as a conflict: the plan fails.
    """

    @property
    def capabilities(self) -> frozenset[str]: ...

    @property
    def planning(self) -> Planning: ...

    def stage(self, action: Action, at_ms: int) -> Prepared:
        """Prepare an action, such as by writing the files of an explicit rewrite; commits nothing."""

    def execute(self, action: Action, prepared: Prepared | None, tag: Tag) -> Any:
        """Execute an action, or commit what was staged of it; the command's answer, which may be lazy."""

    def step(self) -> AbstractContextManager[Metered]:
        """Measure what is done within."""


Executors = Mapping[str, Executor[Any]]
