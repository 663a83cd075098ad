"""What the commands about existing tables have in common: which table, and in which catalog."""

from collections.abc import Sequence
from typing import Annotated

import typer

from bench.cli.output import conceal
from bench.errors import ScenarioError
from bench.scenario.file import filled_in
from bench.scenario.values import OptionError
from bench.secrets import Secrets

TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="namespace.table, or the path or URI of a table's folder or of a *.metadata.json in it.",
    ),
]
CatalogOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="A catalog by its name in the configuration of PyIceberg (.pyiceberg.yaml)."
    ),
]
CatalogPropertiesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--catalog-property",
        metavar="KEY=VALUE",
        help="A property of the catalog, e.g. uri=http://localhost:8181, or of its storage, e.g. "
        "s3.region=eu-north-1. May be repeated; secrets are never printed.",
    ),
]

FormatNameOption = Annotated[
    str | None,
    typer.Option(
        "--table-format", metavar="NAME", help="The format of the table, if its folder does not tell it."
    ),
]
SinceOption = Annotated[
    str | None,
    typer.Option(
        metavar="AGE",
        show_default="all commits that the metadata records",
        help="Import only commits younger than this, e.g. 30d. Files of older commits are the initial table.",
    ),
]


def properties_of(settings: Sequence[str]) -> dict[str, str]:
    """The properties of a catalog, with env:NAME replaced as in a scenario's [catalog].

    Errors never repeat a value, since it may be a secret.
    """
    properties = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            problem = "write key=value, e.g. --catalog-property type=rest"
            raise ScenarioError(problem, code="not-a-setting", path="--catalog-property")
        properties[key.strip()] = value
    try:
        conceal(Secrets.of_values(filled_in(properties, ())))
    except OptionError as error:
        raise error.within("--catalog-property") from error
    return properties
