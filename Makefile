# Two commands do everything on a fresh machine: `make run` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | expand -t 18

.PHONY: setup
setup: $(READY) ## Set up the environment in .venv (Java and jars are downloaded when first needed)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(f"Python {sys.version.split()[0]} is too old: make {sys.argv[1]} PYTHON=python3.11" if sys.version_info < (3, 11) else 0)' setup
	@echo "setting up the environment in $(VENV): about 500 MB, a few minutes" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

.PHONY: run
run: $(READY) ## Run the quickstart on real Iceberg tables; the last line printed is the path of the report
	@$(BIN)/compactbench run quickstart --out results --resume
	@$(BIN)/compactbench report results/quickstart

.PHONY: test
test: $(READY) ## Run the tests, including those on a real Spark (about 25 minutes on two cores)
	@TZ=UTC OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=10 -rfEs

.PHONY: test-cluster
test-cluster: $(READY) ## Run the tests on components that are started here: Spark clusters, catalogs, S3 (about half an hour)
	@TZ=UTC $(BIN)/python -m pytest -m cluster --durations=10 tests/cluster

.PHONY: lint
lint: $(READY) ## Check format, lint, types and import rules
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

.PHONY: check
check: lint ## The same, and run the tests that need no Java
	@TZ=UTC OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -m 'not spark and not noise and not processes and not browser' -n auto \
		--dist loadfile

.PHONY: bench
bench: $(READY) ## Measure compactbench itself: its share of a run, commits and plans, rounds by each executor, long simulations, imports
	@TZ=UTC $(BIN)/python -P tools/overhead.py
	@TZ=UTC $(BIN)/python -P tools/commit_cost.py
	@TZ=UTC $(BIN)/python -P tools/executor_rounds.py
	@TZ=UTC $(BIN)/python -P tools/planning_speed.py
	@TZ=UTC $(BIN)/python -P tools/simulation_speed.py
	@TZ=UTC PYTHONPATH=tests/support $(BIN)/python -P tools/import_speed.py

.PHONY: trust
trust: $(READY) ## Test how far comparisons can be trusted here: A/A runs and a known difference (about 40 minutes)
	@$(BIN)/compactbench run trust --out results --resume --repetitions 20 --only strategy=twelve \
		--only strategy=twelve-again --only strategy=ten
	@TZ=UTC $(BIN)/python -P tools/trust.py results/trust

.PHONY: torture
torture: $(READY) ## Kill suites and roles at random moments, race commits: nothing may be lost or left (about two hours)
	@TZ=UTC $(BIN)/python -P -m tools.torture
	@TZ=UTC $(BIN)/python -P -m tools.torture_roles
	@TZ=UTC $(BIN)/python -P -m tools.torture_log_store

.PHONY: executors
executors: $(READY) ## Compare both executors at length: 560 tables, 2,000 random steps, 50 kills (about an hour)
	@TZ=UTC OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -s --hypothesis-profile exhaustive \
		tests/bench/engines/iceberg/single_node/test_against_spark.py \
		tests/bench/engines/iceberg/single_node/test_kills.py \
		tests/bench/engines/iceberg/test_upserts.py::test_no_sequence_of_steps_loses_a_row_or_brings_one_back

.PHONY: noise
noise: $(READY) ## Test and print how often comparisons of simulated noise err (a few minutes)
	@TZ=UTC OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -m noise -n 2
	@PYTHONPATH=tests/support $(BIN)/python -P tools/false_verdicts.py

.PHONY: golden
golden: $(READY) ## Regenerate the golden files of the tests; review the diff
	@COMPACTBENCH_GOLDEN=rewrite $(BIN)/python -m pytest -q -m 'not spark and not noise' tests/reports tests/test_errors.py \
		tests/bench/cli/test_schema.py

.PHONY: docs
docs: $(READY) ## Write README.md's figures, docs/, the checked-in report and durations anew from the published runs; review the diff
	@$(BIN)/python -P -c 'from tools.durations import write_durations; \
		from tools.publishing import write_example, write_pages; write_pages(); write_example(); write_durations()'
	@$(BIN)/python -P -m tools.notebook

.PHONY: site
site: $(READY) ## Build the site of docs/, with reference pages from the code, into site/
	@PYTHONPATH=. $(BIN)/mkdocs build --strict --quiet
	@echo site/index.html

.PHONY: model-errors
model-errors: $(READY) ## Simulate the published runs again and write how far the simulations are off; review the diff
	@$(BIN)/python -P -m tools.model_errors

.PHONY: outside-tables
outside-tables: $(READY) ## Predict two published tables from other clusters and write what the page says of them; review the diff
	@$(BIN)/python -P -m tools.outside_tables

REGRETS = $(BIN)/python -P -m tools.regrets --strategies tools/published/regrets/strategies.toml --moments 240 \
	--strategy 'break-even-{rate}' --strategy 'half-price-{rate}' --strategy 'twice-price-{rate}' \
	--interval 'strategies.fixed.every=1min..60min*20' \
	--threshold 'strategies.count.rules[0].trigger.files=2..400*20'

.PHONY: regrets
regrets: $(READY) ## Simulate what break_even costs over the best schedule in hindsight (long); then `make docs`
	@$(REGRETS) tools/published/regrets/append-random.toml append-only append-traffic \
		tools/published/regrets/departures.toml:workload.arrival.path=2013-01-07.csv,2013-01-08.csv,2013-01-09.csv,2013-01-10.csv,2013-01-11.csv \
		append-bursts --schedules-of fixed
	@$(REGRETS) append-layered --schedules-of fixed --schedules-of fixed-small \
		--interval 'strategies.fixed-small.every=1min..60min*20' \
		--threshold 'strategies.count-small.rules[0].trigger.files=2..400*20'

.PHONY: coefficients
coefficients: $(READY) ## Fit the shipped cost coefficients to the published runs anew; then `make model-errors docs`
	@$(BIN)/python -P -m tools.calibrating

.PHONY: clean
clean: ## Remove leftover tables; results and the environment are kept
	@$(BIN)/compactbench clean
