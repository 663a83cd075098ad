"""Executors of plans. A rule chooses one by name; the default is the engine itself."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from bench.engines.contract import Tag
from bench.engines.tickets import Planning
from strategies.plan import Action

Prepared = TypeVar("Prepared")


class Executor(Protocol[Prepared]):
    """Executes the actions of plans on one table.

    `capabilities` are the actions it can execute: members of `Capability`, and names of native commands.
    `planning` previews actions by the executor's own rules, and decides which are staged. Methods raise
    ValueError for what the executor refuses or fails to do, such as a conflict; the plan then fails.
    """

    @property
    def capabilities(self) -> frozenset[str]: ...

    @property
    def planning(self) -> Planning: ...

    def stage(self, action: Action, at_ms: int) -> Prepared:
        """Prepare an action, e.g. write the files of an explicit rewrite; commits nothing."""

    def execute(self, action: Action, prepared: Prepared | None, tag: Tag) -> Any:
        """Execute an action, or commit what was staged of it; the command's answer, which may be lazy."""


Executors = Mapping[str, Executor[Any]]
