"""`compactbench schema`: the JSON schema of scenarios."""

import typer

from bench.scenario.json_schema import schema_text


def schema() -> None:
    """Print the JSON schema of scenarios: editors complete, explain and check the keys of a file with it.

    * `compactbench schema > scenario.schema.json`

    Name it in the first line of a scenario, `#:schema scenario.schema.json`, for editors that use Taplo, such
    as Even Better TOML in VS Code. The path is relative to the scenario; the shipped scenarios have a copy of
    the schema beside them. A schema that you print also has the planners and triggers that your packages
    install.
    """
    typer.echo(schema_text(), nl=False)
