"""What the commands that read results share: the argument and the loading."""

from pathlib import Path
from typing import Annotated

import typer

ResultsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="RESULTS...", help="Result folders: what `run --out` wrote, or parts of it."),
]
