"""Scenario files for tests: a small sound one, and what to change about it."""

import json

from bench.scenario.load import load_scenario

EVERY = (
    '{ trigger = { type = "every", interval = "2min" }, planner = { type = "iceberg.rewrite_data_files" } }'
)

SOUND = f"""
seed = 7
duration = "10min"
commit_interval = "1min"
[table]
format = "iceberg"
target_file_size = "8MiB"
[workload]
type = "append"
rows_per_commit = 80
files_per_commit = 8
[[strategies]]
label = "never"
[[strategies]]
label = "every-2min"
rules = [{EVERY}]
"""


def maintenance(planner, interval="5min", **options):
    """A rule of [[maintenance]] with one of the format's own commands."""
    return {"trigger": {"type": "every", "interval": interval}, "planner": {"type": planner, **options}}


def write(folder, text=SOUND, name="demo.toml"):
    file = folder / name
    file.write_text(text)
    return str(file)


def load(folder, text=SOUND, **changes):
    """The sound scenario, or `text`, with top-level keys set; a dict sets keys of that table."""
    overrides = []
    for key, value in changes.items():
        inner = value.items() if isinstance(value, dict) else [(None, value)]
        overrides += [f"{key}.{json.dumps(k)}={toml(v)}" if k else f"{key}={toml(v)}" for k, v in inner]
    return load_scenario(write(folder, text), overrides)


def toml(value):
    """A value as TOML writes it inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    return json.dumps(value, ensure_ascii=False)
