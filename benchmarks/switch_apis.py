"""What one visit to a switch with eAPI or NVUE costs one collector: seconds of one core.

Two emulated switches of 64 ports with everything they tell: their answers, as bodies, are read
again and again through decoder, layout and columns, as a visit does after the last byte came.
Beside it the same bodies turned into objects by the JSON library alone, the least any client pays.

    python -m benchmarks.switch_apis [--rounds 20]
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from collectors.source import Source, Target
from collectors.sources.eapi import Eapi, EapiSettings
from collectors.sources.nvue import Nvue, NvueSettings
from emulator.eapi import EapiSwitch
from emulator.eos import SHOW
from emulator.fabric import Fabric
from emulator.nvue import NvueSwitch
from emulator.plan import Plan
from fabrichealth.model import SeriesTable

AT = 1_800_000_000.0
PORTS = 64


def switch(make: str) -> Fabric:
    """Return a fabric with one switch of a make, all of whose ports are used."""
    plan = Plan(racks=1, hosts_per_rack=PORTS - 1, accelerators=1, rails=1, access=(make,))
    fabric = Fabric(plan, 1, AT)
    fabric.advance(AT + 10)
    return fabric


def eos() -> Any:
    """Return the whole answer of a switch with EOS."""
    return {"jsonrpc": "2.0", **EapiSwitch(switch("eapi"), "tor-01").outcome(list(SHOW))}


def cumulus() -> Any:
    """Return the tree of a switch with Cumulus Linux."""
    known = NvueSwitch(switch("nvue"), "tor-01")
    interfaces = known.body("interface")
    for name, row in interfaces.items():
        if name.startswith("swp"):
            row["counters"] = known.body(f"interface/{name}/counters")
            row["link"]["phy-detail"] = known.body(f"interface/{name}/link/phy-detail")
    modules = {name: known.body(f"platform/transceiver/{name}")
               for name in interfaces if name.startswith("swp")}  # fmt: skip
    return {"interface": interfaces, "platform": {"transceiver": modules}}


def measured(name: str, source: Source, document: Any, rounds: int) -> None:
    """Read a document again and again, and say what it cost."""
    body = orjson.dumps(document)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tor-01.json"
        file.write_bytes(body)
        began = time.process_time()
        readings = source.captured([file], AT).readings
        first = time.process_time() - began
        again = _cheapest(lambda: source.captured([file], AT + 60), rounds)
    alone = _cheapest(lambda: json.loads(body), rounds)
    print(
        f"{name}: {PORTS} ports, {len(body) / 1e6:.2f} MB, {readings} readings; first contact "
        f"{first * 1e3:.0f} ms, then {again * 1e3:.1f} ms a visit ({readings / again / 1e3:.0f}k "
        f"readings a core second); json.loads alone {alone * 1e3:.1f} ms"
    )


def _cheapest(work: Callable[[], object], rounds: int) -> float:
    costs = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        costs.append(time.process_time() - began)
    return min(costs)


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    asked = parser.parse_args()
    reader = Eapi(EapiSettings(), Target("tor-01", "eapi"), SeriesTable())
    measured("eapi", reader, eos(), asked.rounds)
    other = Nvue(NvueSettings(), Target("tor-01", "nvue"), SeriesTable())
    measured("nvue", other, cumulus(), asked.rounds)


if __name__ == "__main__":
    main()
