"""Writing a topology as the YAML that `read` reads, one row a line."""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from fabrichealth.topology.inventory import Topology
from fabrichealth.topology.rows import Row

_ENDLESS = 2**31


def lists(topology: Topology) -> Iterator[tuple[str, str, Row]]:
    """Yield (kind in the singular, name, row) of every row, in the order of the file."""
    for kind, rows in (
        ("domain", topology.domains),
        ("rack", topology.racks),
        ("device", topology.devices),
        ("link", topology.links),
        ("loop", topology.loops),
        ("feed", topology.feeds),
    ):
        for name, row in rows.items():
            yield kind, name, row
    for route in topology.routing:
        yield "routing", "", route


def text_of(topology: Topology, remarks: Mapping[str, str] | None = None) -> str:
    """Return a topology file; `remarks` are comments by the name of a device or id of a link."""
    lines: list[str] = []
    last = ""
    for kind, name, row in lists(topology):
        if kind != last:
            lines.append("routing:" if kind == "routing" else f"{kind}s:")
            last = kind
        remark = (remarks or {}).get(name, "") if kind in {"device", "link"} else ""
        comment = f"  # {' '.join(remark.split())}" if remark else ""
        lines.append(f"  - {_row(row)}{comment}")
    return "\n".join(lines or ["{}"]) + "\n"


def plain(row: Row) -> dict[str, Any]:
    """Return what a row says, without what is left at its default."""
    return dict(row.model_dump(mode="json", exclude_defaults=True))


def _row(row: Row) -> str:
    text = yaml.safe_dump(
        plain(row), default_flow_style=True, width=_ENDLESS, sort_keys=False, allow_unicode=True
    )
    return text.strip()
