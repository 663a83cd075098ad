from result_builder import build_results

from bench.results.folders import load_runs
from reports.data.group import run_groups
from reports.verdicts.judge import compare_strategies
from reports.verdicts.samples import samples


def test_runs_are_paired_if_each_has_a_partner(group):
    a, b, are_paired = samples(group, "query_mean_s", "never", "every-1min")
    assert are_paired
    assert (len(a.values), len(b.values)) == (3, 3)
    assert compare_strategies(group, "query_mean_s", "never", "every-1min").method == "paired t on log ratios"


def test_every_run_counts_where_one_has_no_partner(tmp_path):
    fate = {("never", 2): "failed", ("every-1min", 3): "timings_invalid"}
    (found,) = run_groups(load_runs(build_results(tmp_path, repetitions=5, ticks=4, fate=fate)))
    a, b, are_paired = samples(found, "query_mean_s", "never", "every-1min")
    assert (len(a.values), len(b.values), are_paired) == (4, 4, False)  # repetitions 1345 and 1245
    compared = compare_strategies(found, "query_mean_s", "never", "every-1min")
    assert (compared.method, compared.n) == ("Welch's t on logs", 4)
    _, files, _ = samples(found, "files_end", "never", "every-1min")
    assert len(files.values) == 5  # the counts of a run with invalid timings are used
