"""`topology`: every target is read once; what faces what is printed, or how it differs."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabrichealth.topology import Topology, read
from tests.fabrichealth.terminal import Said, Terminal

FABRIC = """\
Switch\t3 "S-00000000000000a1"\t\t# "leaf; a/1" enhanced port 0 lid 4 lmc 0
[1]\t"H-00000000000000c1"[1](c11) \t\t# "host-1 HCA-1" lid 7 4xNDR
[2]\t"S-00000000000000a2"[2]\t\t# "leaf 2" lid 5 4xNDR
[3]\t"H-00000000000000c2"[1](c21) \t\t# "host-2 HCA-1" lid 8 2xNDR

Switch\t2 "S-00000000000000a2"\t\t# "leaf 2" enhanced port 0 lid 5 lmc 0
[2]\t"S-00000000000000a1"[2]\t\t# "leaf; a/1" lid 4 4xNDR

Ca\t1 "H-00000000000000c1"\t\t# "host-1 HCA-1"
[1](c11) \t"S-00000000000000a1"[1]\t\t# lid 7 lmc 0 "leaf; a/1" lid 4 4xNDR
"""

WRITTEN = """\
devices:
  - {name: leaf-a, role: switch, ids: ["0x00000000000000a1"]}
  - {name: leaf-b, role: switch, ids: ["0x00000000000000a2"]}
  - {name: host-1, role: nic, ids: ["0x00000000000000c1"]}
links:
  - {a: leaf-a/1, b: host-1/1, technology: ib, speed_gbps: 400, lanes: 4, length_m: 3}
  - {a: leaf-a/2, b: leaf-b/1, technology: ib}
  - {a: leaf-b/9, b: host-1/9, technology: ib}
"""


class Site:
    """A folder with a site file; captures lie beside it."""

    def __init__(self, folder: Path, terminal: Terminal) -> None:
        self.folder = folder
        self._terminal = terminal

    def write(self, name: str, content: Any) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    def topology(self, *words: str) -> Said:
        return self._terminal("topology", "-c", self.folder / "site.yaml", *words)

    def printed(self, *words: str) -> tuple[Said, Topology]:
        """Return what is printed, and the topology that our own reader makes of it."""
        said = self.topology(*words)
        self.write("printed.yaml", said.out)
        return said, read(self.folder / "printed.yaml")


@pytest.fixture
def site(tmp_path: Path, terminal: Terminal) -> Site:
    """A site with one captured InfiniBand fabric, and a topology that is partly wrong."""
    made = Site(tmp_path, terminal)
    made.write("fabric.txt", FABRIC)
    made.write("topology.yaml", WRITTEN)
    targets = "targets:\n  - {name: fabric, source: ibtools, address: fabric.txt}\n"
    made.write("site.yaml", "topology: topology.yaml\n" + targets)
    return made


def test_what_is_printed_is_a_topology_file(site: Site) -> None:
    said, shown = site.printed()
    assert said.status == 0
    assert said.err == ""
    assert set(shown.links) == {
        "host-1/1--leaf-a/1",  # written, and found
        "leaf-a/2--leaf-b/1",  # written; wins over the cabling that was found
        "host-1/9--leaf-b/9",
        "0x00000000000000c2/1--leaf-a/3",  # by its GUID, whatever its description says
    }
    assert shown.links["host-1/1--leaf-a/1"].length_m == 3
    assert shown.links["0x00000000000000c2/1--leaf-a/3"].speed_gbps == 200
    assert shown.devices["0x00000000000000c2"].role == "nic"


def test_every_difference_is_a_line(site: Site) -> None:
    said = site.topology("--diff")
    assert said.status == 1
    *lines, summary = said.out.splitlines()
    assert {line.rsplit(": ", 1)[0] for line in lines} == {
        "missing: host-1/9--leaf-b/9",
        "extra: 0x00000000000000c2/1--leaf-a/3",
        "other_far_end: leaf-a/2",
        "one_sided: leaf-a/3",
    }
    assert "1 of the 3 written ones" in summary


def test_with_json_each_line_is_an_object(site: Site) -> None:
    rows = [json.loads(line) for line in site.topology("--json").out.splitlines()]
    (fresh,) = (row for row in rows if row.get("id") == "0x00000000000000c2/1--leaf-a/3")
    assert fresh["found"]["via"] == ["ibnetdiscover"]
    assert fresh["found"]["told_by"] == ["leaf-a/3"]
    (untold,) = (row for row in rows if row.get("id") == "host-1/9--leaf-b/9")
    assert untold["found"] is None
    *found, summary = map(json.loads, site.topology("--diff", "--json").out.splitlines())
    assert summary["differences"] == len(found)
    assert {one["difference"] for one in found} == {
        "missing", "extra", "other_far_end", "one_sided",
    }  # fmt: skip


def test_what_is_printed_differs_from_nothing_but_what_cannot_be_settled(site: Site) -> None:
    _, shown = site.printed()
    site.write("topology.yaml", (site.folder / "printed.yaml").read_text())
    again, same = site.printed()
    assert same.same_as(shown)
    kinds = {line.partition(":")[0] for line in site.topology("--diff").out.splitlines()[:-1]}
    assert kinds == {"missing", "other_far_end"}
    assert again.status == 0


def test_a_site_as_it_is_written_has_status_0(site: Site) -> None:
    site.write("topology.yaml", "links: []")
    lines = FABRIC.splitlines(keepends=True)
    site.write("fabric.txt", "".join(line for line in lines if "host-2" not in line))
    site.printed()
    site.write("topology.yaml", (site.folder / "printed.yaml").read_text())
    said = site.topology("--diff")
    assert (said.status, said.err) == (0, "")
    assert "no differences" in said.out


class TestBadTargets:
    def test_one_that_cannot_be_read_costs_a_line_and_not_the_others(self, site: Site) -> None:
        site.write("spoiled.txt", "no listing")
        with (site.folder / "site.yaml").open("a") as file:
            file.write("  - {name: other, source: ibtools, capture: spoiled.txt}\n")
        said, shown = site.printed()
        assert said.status == 0
        assert len(said.err.splitlines()) == 1
        assert "spoiled.txt" in said.err
        assert "0x00000000000000c2" in shown.devices

    def test_nothing_read_at_all_is_status_1_and_what_is_written(self, site: Site) -> None:
        site.write("fabric.txt", "no listing")
        said, shown = site.printed()
        assert said.status == 1
        assert shown.same_as(read(site.folder / "topology.yaml"))
        assert site.topology("--diff").status == 1

    @pytest.mark.parametrize(
        ("keys", "words"),
        [
            ("capture: gone.txt", "not there"),
            ('capture: fabric.txt, address: "http://x"', "an address or a capture"),
        ],
    )
    def test_a_capture_that_cannot_be_is_named_with_its_line(
        self, site: Site, keys: str, words: str
    ) -> None:
        site.write("site.yaml", f"targets:\n  - {{name: f, source: ufm, {keys}}}\n")
        said = site.topology()
        assert said.status == 1
        assert "site.yaml:2: targets.0.capture: " in said.err
        assert words in said.err
        assert len(said.err.splitlines()) == 1

    @pytest.mark.parametrize("command", ["run", "collect"])
    def test_no_daemon_takes_a_capture_for_a_device(
        self, site: Site, terminal: Terminal, command: str
    ) -> None:
        said = terminal(command, "-c", site.folder / "site.yaml")
        assert said.status == 1
        assert "capture, which no daemon reads" in said.err


def test_check_reads_captures_too(site: Site, terminal: Terminal) -> None:
    said = terminal("check", "-c", site.folder / "site.yaml", "--probe")
    assert said.status == 0
    assert "1 of 1 targets answered" in said.out


def lldp(**heard: tuple[str, str, str]) -> dict[str, Any]:
    """Return what a SONiC switch holds: ports that are up, and (system, subtype, port) of some."""
    rows: dict[str, dict[str, str]] = {
        f"PORT_TABLE:{port}": {"oper_status": "up", "admin_status": "up", "speed": "400000"}
        for port in ("Ethernet116", "Ethernet120", "Ethernet124")
    }
    for port, (system, subtype, far) in heard.items():
        rows[f"LLDP_ENTRY_TABLE:{port}"] = {
            "lldp_rem_sys_name": system,
            "lldp_rem_chassis_id": "02:00:5e:00:01:00",
            "lldp_rem_port_id_subtype": subtype,
            "lldp_rem_port_id": far,
        }
    return {"APPL_DB": rows}


def test_a_restarted_table_of_neighbors_loses_no_link(site: Site) -> None:
    site.write(
        "topology.yaml",
        "devices:\n  - {name: spine-1, role: switch, ports: {Ethernet32: {alias: etp9}, "
        "Ethernet36: {alias: etp10}}}\n  - {name: leaf-4, role: switch}\n",
    )
    site.write("leaf/0001", lldp(Ethernet124=("spine-1", "3", "02:00:5e:00:01:00"),
                                 Ethernet120=("spine-1", "7", "etp9")))  # fmt: skip
    site.write("leaf/0002", lldp(Ethernet124=("spine-1", "7", "etp10")))
    site.write(
        "site.yaml",
        "topology: topology.yaml\ntargets:\n  - {name: leaf-4, source: sonic, capture: leaf}\n",
    )
    said, shown = site.printed()
    assert set(shown.links) == {
        "leaf-4/Ethernet120--spine-1/Ethernet32",
        "leaf-4/Ethernet124--spine-1/Ethernet36",
    }
    (old,) = (line for line in said.out.splitlines() if line.startswith("# stale: "))
    assert "leaf-4/Ethernet120--spine-1/Ethernet32" in old
    assert shown.links["leaf-4/Ethernet124--spine-1/Ethernet36"].speed_gbps == 400
