"""`python -m bench.runs.worker FOLDER PARENT` does one job."""

from bench.runs.worker.main import main

main()
