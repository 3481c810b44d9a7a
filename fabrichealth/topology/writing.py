"""Writing a topology as the YAML that `read` reads, one row a line."""

from collections.abc import Mapping
from typing import Any

import yaml

from fabrichealth.topology.inventory import Topology
from fabrichealth.topology.rows import Row

_ENDLESS = 2**31


def text_of(topology: Topology, remarks: Mapping[str, str] | None = None) -> str:
    """Return a topology file; `remarks` are comments by the name of a device or id of a link."""
    lists: dict[str, list[tuple[str, Row]]] = {
        "domains": list(topology.domains.items()),
        "racks": list(topology.racks.items()),
        "devices": list(topology.devices.items()),
        "links": list(topology.links.items()),
        "loops": list(topology.loops.items()),
        "feeds": list(topology.feeds.items()),
        "routing": [("", route) for route in topology.routing],
    }
    lines: list[str] = []
    for key, rows in lists.items():
        if not rows:
            continue
        lines.append(f"{key}:")
        for name, row in rows:
            remark = (remarks or {}).get(name, "")
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
