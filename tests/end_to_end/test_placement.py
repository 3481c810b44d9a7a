"""A running daemon is asked where a job fits; who holds what stands in the events file."""

import json
import subprocess
import sys
import time
from typing import Any

from tests.end_to_end.conftest import MakeSite
from tests.end_to_end.emulated import Emulated, Site
from tests.end_to_end.processes import status, until


def placed(site: Site, *words: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "fabrichealth", "place", *words, "--json", "--url", site.address],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_daemon_says_where_a_job_fits(site: MakeSite, emulated: Emulated) -> None:
    daemon = site()
    daemon.start()
    (unknown,) = placed(daemon, "--accelerators", "1")
    assert unknown["fits"] is None
    told = {"at": time.time(), "kind": "job_start", "scope": {"job": "j1"}}
    with emulated.supernode.events.open("a") as events:
        events.write(json.dumps({**told, "accelerators": ["host-001-0", "host-002-1"]}) + "\n")
    (place,) = until(
        lambda: [row for row in placed(daemon, "--accelerators", "1") if row["fits"]], "a place"
    )
    assert place["hosts"][0]["names"] in (["host-001-1"], ["host-002-0"])
    (none,) = placed(daemon, "--accelerators", "2", "--domain", "pod-a")
    assert (none["fits"], none["free"], none["largest"]) == (False, 2, 1)
    address = f"{daemon.address}/api/v1/placements"
    huge = "?accelerators=000000001999999999"
    for query in ("", "?accelerators=0", "?accelerators=many", "?accelerators=-1", huge):
        assert status(address + query) == 400
