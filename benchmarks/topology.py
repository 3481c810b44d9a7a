"""How long a topology of 20,000 links takes to read and check, as YAML and as CSV.

Beside it, in the same run, what PyYAML alone takes to load the same file with libyaml, without
line numbers or checks. Goal: under 10 s as YAML, 2 s as CSV.

    python -m benchmarks.topology [--links 20000]
"""

import argparse
import csv
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from fabrichealth.topology import read

GOAL_YAML, GOAL_CSV = 10.0, 2.0
PORTS = 64


def _rows(links: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return devices and links of a fabric of switches and hosts."""
    cables = [
        {
            "a": f"leaf-{n // PORTS:04d}/Ethernet{n % PORTS * 4}",
            "b": f"host-{n // 8:05d}/mlx5_{n % 8}/1",
            "technology": "roce",
            "medium": "optical",
            "speed_gbps": 400,
            "lanes": 4,
            "fec": "rs544",
            "module_a": {"vendor": "V", "part": "P", "lot": "2407", "serial": f"S{n:06d}"},
        }
        for n in range(links)
    ]
    leaves = sorted({str(cable["a"]).partition("/")[0] for cable in cables})
    hosts = sorted({str(cable["b"]).partition("/")[0] for cable in cables})
    devices = [{"name": name, "role": "switch", "tier": 1} for name in leaves]
    devices += [{"name": name, "role": "host", "tier": 0} for name in hosts]
    return devices, cables


def _as_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    flat = [
        {
            **{key: value for key, value in row.items() if not isinstance(value, dict)},
            **{f"module_a.{key}": value for key, value in row.get("module_a", {}).items()},
        }
        for row in rows
    ]
    with path.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, list(flat[-1]))
        writer.writeheader()
        writer.writerows(flat)


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--links", type=int, default=20_000)
    asked = parser.parse_args()
    devices, cables = _rows(asked.links)
    with tempfile.TemporaryDirectory() as folder:
        whole, tables = Path(folder) / "whole.yaml", Path(folder) / "tables.yaml"
        whole.write_text(yaml.dump({"devices": devices, "links": cables}, Dumper=yaml.CSafeDumper))
        tables.write_text("devices: devices.csv\nlinks: links.csv\n")
        _as_csv(Path(folder) / "devices.csv", devices)
        _as_csv(Path(folder) / "links.csv", cables)
        text = whole.read_text()
        bare = _timed(lambda: yaml.load(text, Loader=yaml.CSafeLoader))
        as_yaml = _timed(lambda: read(whole))
        as_csv = _timed(lambda: read(tables))
    print(
        f"{asked.links} links, {len(devices)} devices: YAML {as_yaml:.2f} s (PyYAML alone "
        f"{bare:.2f} s; goal {GOAL_YAML:g} s {'met' if as_yaml < GOAL_YAML else 'MISSED'}), CSV "
        f"{as_csv:.2f} s (goal {GOAL_CSV:g} s {'met' if as_csv < GOAL_CSV else 'MISSED'})"
    )


if __name__ == "__main__":
    main()
