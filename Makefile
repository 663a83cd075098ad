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
setup: $(READY) ## Make the environment in .venv (Java and jars come by themselves when first needed)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(f"Python {sys.version.split()[0]} is too old: make {sys.argv[1]} PYTHON=python3.11" if sys.version_info < (3, 11) else 0)' setup
	@echo "making the environment in $(VENV): some 500 MB, a few minutes" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

.PHONY: run
run: $(READY) ## Run the quickstart on real Iceberg tables; the last line is the report's path
	@$(BIN)/compactbench run quickstart --out results --resume
	@$(BIN)/compactbench report results/quickstart

.PHONY: test
test: $(READY) ## Run all tests, those on a real Spark included
	@TZ=UTC $(BIN)/python -m pytest --durations=10

.PHONY: check
check: $(READY) ## Format, lint, types, import rules and the tests that need no Java
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@TZ=UTC OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -m 'not spark and not noise' -n auto --dist loadfile \
		--hypothesis-profile quick

.PHONY: bench
bench: $(READY) ## Measure compactbench itself: its own share of a run, reading table state, what an upsert commit costs
	@TZ=UTC $(BIN)/python -P tests/benchmarks/overhead.py
	@TZ=UTC $(BIN)/python -P tests/benchmarks/commit_cost.py

.PHONY: trust
trust: $(READY) ## What comparisons are worth on this machine: A/A runs and a known difference (about 40 minutes)
	@$(BIN)/compactbench run trust --out results --resume --repetitions 20 --only strategy=twelve \
		--only strategy=twelve-again --only strategy=ten
	@TZ=UTC $(BIN)/python -P tests/benchmarks/trust.py results/trust

# Columns and rows loaded: 0.5, 1 and 2 GB of each width. Twenty minutes of stream are two rewrites and four rounds.
TABLES := 17-21500000 17-43000000 17-86000000 40-6400000 40-12800000 40-25600000

.PHONY: scale
scale: $(READY) ## How rewriting and converting grow with the table: `upsert` at six sizes and widths (about three hours)
	@for table in $(TABLES); do \
		$(BIN)/compactbench run upsert --out results/scale/$$table --resume --repetitions 3 --set duration=20min \
			--set workload.columns=$${table%-*} --set workload.initial_rows=$${table#*-} \
			--only strategy=spark-10min-deletes --only strategy=amoro || exit; \
	done
	@TZ=UTC $(BIN)/python -P tests/benchmarks/scale.py results/scale/*

.PHONY: golden
golden: $(READY) ## Rewrite the golden files of the tests; review the difference
	@COMPACTBENCH_GOLDEN=rewrite $(BIN)/python -m pytest -q -m 'not spark' tests/reports

.PHONY: example-report
example-report: $(READY) ## Run append-only in full and renew the report that is checked in (about half an hour)
	@$(BIN)/compactbench run append-only --out results --resume
	@$(BIN)/compactbench report results/append-only -o reports/examples/append-only

.PHONY: clean
clean: ## Remove leftover tables; results and the environment stay
	@$(BIN)/compactbench clean
