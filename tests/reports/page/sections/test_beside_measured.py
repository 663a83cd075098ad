import pytest
from result_builder import build_results

from bench.results.folders import load_runs
from reports.data.group import run_groups
from reports.page.content import page_content
from reports.page.sections.beside_measured import ANSWERED_BY_REAL_RUNS, beside_measured, measured_twin

TWO = {"never": None, "every-2min": 2}


@pytest.fixture
def groups(tmp_path):
    """The groups of real runs of two strategies and of simulated ones of others."""

    def build(simulated=TWO, **changes):
        build_results(tmp_path / "real", TWO, 3, 8)
        build_results(tmp_path / "simulated", simulated, 1, 8, mode="simulated", **changes)
        return run_groups(load_runs(tmp_path / "real", tmp_path / "simulated"))

    return build


def answers(groups):
    """The headlines of each answer, and whether it has the table."""
    found = []
    for content in page_content(groups).contents:
        (answer,) = content.placed("answer")
        headlines = [str(block.text) for block in answer.blocks if getattr(block, "style", "") == "headline"]
        captions = [getattr(block, "caption", "") for block in answer.blocks]
        found.append((headlines, "What was measured, and what the simulation says of it" in captions))
    return found


def test_a_scenario_that_was_measured_has_one_answer_and_the_simulation_beside_it(groups):
    (real, has_real), (simulated, has_simulated) = answers(groups())
    assert any("every-2min is the only strategy that compacts" in line for line in real)
    assert simulated == [str(ANSWERED_BY_REAL_RUNS)]
    assert (has_real, has_simulated) == (False, True)


def test_a_simulation_of_more_strategies_has_an_answer_of_its_own(groups):
    _, (simulated, has_table) = answers(groups({**TWO, "every-4min": 4}))
    assert has_table
    assert simulated[0].startswith("As modelled, ")


def test_another_scenario_is_no_twin(groups):
    made = groups(scenario_hash="other")
    assert [measured_twin(group, made) for group in made] == [None, None]
    assert not any(has_table for _, has_table in answers(made))


def test_the_table_has_both_figures_and_their_ratio(groups):
    real, simulated = groups()
    table = beside_measured(simulated, real)
    titles = [column.title for column in table.columns]
    place = titles.index("Compaction CPU, measured")
    assert titles[place : place + 3] == ["Compaction CPU, measured", "Compaction CPU, modelled", "Ratio"]
    never, every = ([cell.value for cell in row[place : place + 3]] for row in table.rows)
    assert never == [0, 0, None]
    assert every[2] == pytest.approx(every[1] / every[0])
    assert every[0] == real.row("every-2min").values["compaction_cpu_s"]
