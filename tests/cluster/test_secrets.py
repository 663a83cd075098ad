"""Runs on real tables with secrets of every kind: none is in any file, output or command line."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from planted_secrets import PLANTED_SECRETS, planted_tables, texts_below
from shared_lake import SCENARIO

PROGRAM = Path(sys.executable).parent / "compactbench"

pytestmark = [pytest.mark.cluster, pytest.mark.spark]


def command_lines():
    for process in psutil.process_iter():
        try:
            yield " ".join(process.cmdline())
        except psutil.Error:
            continue


def planted_in(text):
    return [secret for secret in sorted(PLANTED_SECRETS) if secret in text]


def test_no_secret_of_real_runs_is_in_any_file_output_or_command_line(tmp_path):
    lake = {"type": "hadoop", "warehouse": (tmp_path / "warehouse").as_uri()}
    (tmp_path / "lake.toml").write_text(SCENARIO + planted_tables(catalog_properties=lake))
    results, output = tmp_path / "results", tmp_path / "output.txt"
    asked = [PROGRAM, "run", tmp_path / "lake.toml", "--repetitions", "1", "--out", results]
    seen = set()
    with output.open("wb") as file:
        process = subprocess.Popen(asked, stdout=file, stderr=file)
        while process.poll() is None:
            seen.update(secret for line in command_lines() for secret in planted_in(line))
            time.sleep(0.3)
    assert process.returncode == 0, output.read_text()
    for more in (["report", results], ["export", results], ["show", results, "--format", "json"]):
        with output.open("ab") as file:
            subprocess.run([PROGRAM, *more], stdout=file, stderr=file, check=True)
    (tmp_path / "lake.toml").unlink()
    found = {file: planted_in(text) for file, text in texts_below(tmp_path)}
    assert {".txt", ".jsonl", ".json", ".html", ".parquet"} <= {file.suffix for file in found}
    assert {file: secrets for file, secrets in found.items() if secrets} == {}
    assert seen == set()
