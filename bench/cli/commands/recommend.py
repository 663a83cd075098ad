"""`compactbench recommend`: which strategy to run, given what to minimise and what to keep."""

from typing import Annotated

import typer

from bench.cli.arguments import QuietOption, ResultsArgument
from bench.cli.executing import stopped_by_sigterm
from bench.cli.output import FormatOption
from bench.scenario.schema import REPETITIONS_MAX


@stopped_by_sigterm()
def recommend(
    results: ResultsArgument,
    objective: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC",
            show_default="money_per_day if the scenario has prices, otherwise the cost of compactions",
            help="The figure to improve (`compactbench list metrics`).",
        ),
    ] = None,
    subject_to: Annotated[
        list[str] | None,
        typer.Option(
            "--subject-to",
            metavar="METRIC<=VALUE",
            help="A figure that must be at most VALUE, such as 'query_mean_s<=2s', or with >= at least. May "
            "be repeated.",
        ),
    ] = None,
    table: Annotated[
        str, typer.Option(metavar="NAME", help="The table in the statements of the roll-out.")
    ] = "my_catalog.my_db.my_table",
    confirm: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Run the N best of the simulated strategies for real, and show what was measured.",
        ),
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=REPETITIONS_MAX,
            metavar="N",
            help="Real runs of each of them, in place of the scenario's repetitions.",
        ),
    ] = None,
    output: FormatOption = "table",
    quiet: QuietOption = False,
) -> None:
    """Say which strategy to run: the cheapest one that keeps your limits, and how sure that is.

    * `compactbench recommend --subject-to 'query_mean_s<=2s'`

    * `compactbench recommend results/sweep --subject-to 'files_end<=500'`

    * `compactbench recommend --objective storage_bytes_end`

    * `compactbench recommend --subject-to 'query_mean_s<=2s' --confirm 3`

    There is an answer for each scenario and format in RESULTS, measured or simulated. First it says which
    strategies keep up with the stream; others are left out. It also names the strategies that cannot be
    distinguished from the recommended one (because of noise, or of errors of the cost model), the next better
    strategy with the limit that it breaks, and the margin to each limit. Run a sweep first, to have more
    strategies to choose from. The output ends with the Spark SQL that does the same compaction on your table:
    run it whenever the strategy's trigger would fire.

    `--confirm` stores the real runs beside the simulated ones, and answers again by what they measured. The
    same command goes on after an interruption. In JSON the two answers are `modelled` and
    `measured`, each null if it was not given.

    The exit code is 1 if in some scenario no strategy keeps the limits, or none gets a verdict. Where
    `--confirm` made real runs, the measured answer decides.
    """
    # What compares takes a second to load: a shell that completes the command does not wait for it.
    from bench.cli.recommending import Question, print_recommendations

    question = Question(objective, subject_to or (), table, confirm, repetitions)
    if not print_recommendations(results, question, output, quiet=quiet):
        raise typer.Exit(1)
