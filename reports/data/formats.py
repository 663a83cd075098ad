"""What the formats of a run group and its parts are called."""

from reports.data.group import RunGroup


def format_name(group: RunGroup) -> str:
    """The format with major and minor version, such as "Iceberg 1.9"."""
    short = ".".join(format_version(group).split(".")[:2])
    return f"{_title(group)} {short}".strip()


def full_format_name(group: RunGroup) -> str:
    """The format with its whole version, such as "Iceberg 1.9.2"."""
    return f"{_title(group)} {format_version(group)}".strip()


def part_name(part: RunGroup, group: RunGroup) -> str:
    """The format of a part of the group, with its variant where several parts have that format."""
    name, table_format = format_name(part), part.manifest.format
    is_alone = [other.manifest.format for other in group.parts].count(table_format) == 1
    return name if is_alone else f"{name}, variant {part.rows[0].variant}"


def format_version(group: RunGroup) -> str:
    m = group.manifest
    return m.versions.get("format") or m.versions.get(m.format) or ""


def _title(group: RunGroup) -> str:
    m = group.manifest
    return m.format_title or f"{m.format[:1].upper()}{m.format[1:]}"  # older manifests have no title
