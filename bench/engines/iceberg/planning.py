"""The planning rules of Iceberg that its engines apply."""

from bench.engines.tickets import Planning
from strategies.iceberg.preview import preview_action
from strategies.iceberg.resurrection import resurrection

PLANNING = Planning(preview_action, resurrection)
