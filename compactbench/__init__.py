"""Results of compactbench in Python: frames, figures, comparisons and reports.

    import compactbench

    results = compactbench.load("results/quickstart")
    results.summary()
    results.compare(baseline="never")

The command line uses the same functions, so figures and the texts of errors are the same.
"""

from bench.errors import CompactbenchError, ResultSchemaError, ScenarioError
from compactbench.results import Results, load

__all__ = ["CompactbenchError", "ResultSchemaError", "Results", "ScenarioError", "load"]
