"""The roles of a run with a real clock on real tables, by their names in records."""

from bench.scenario.scenario import Scenario

ROLE_CORES = 1  # of a role without `resources`
WRITER, COMPACTOR, READER, MAINTAINER = "writer", "compactor", "reader", "maintainer"


def cores_of(scenario: Scenario, role: str) -> int:
    return scenario.share_of(role).cores or ROLE_CORES


def wanted_cores(scenario: Scenario) -> int:
    """The cores of all roles together."""
    return sum(cores_of(scenario, role) for role in roles_of(scenario))


def own_cores(scenario: Scenario, role: str) -> range:
    """The numbers of the cores that a role is bound to, beside those of the roles before it."""
    roles = roles_of(scenario)
    first = sum(cores_of(scenario, before) for before in roles[: roles.index(role)])
    return range(first, first + cores_of(scenario, role))


def compactors_of(scenario: Scenario) -> tuple[str, ...]:
    """One is named `compactor`; several are numbered, from `compactor-1` on."""
    count = scenario.roles.compactors_count
    return (COMPACTOR,) if count == 1 else tuple(f"{COMPACTOR}-{number}" for number in range(1, count + 1))


def roles_of(scenario: Scenario) -> tuple[str, ...]:
    """The writer first, which creates the table."""
    maintainers = (MAINTAINER,) if scenario.maintenance else ()
    return (WRITER, *compactors_of(scenario), READER, *maintainers)
