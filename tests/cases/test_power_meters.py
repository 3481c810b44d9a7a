"""Cases of power meters over SNMP whose scale is easily taken wrongly, by ten or a hundred."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("gufo.snmp", reason="no gufo-snmp: install fabrichealth[snmp]")

from fabrichealth.catalogue import optics
from fabrichealth.catalogue.circuits import OUTLET_POWER
from fabrichealth.catalogue.power import FEED_CURRENT, FEED_POWER, FEED_VOLTAGE
from fabrichealth.model import Poll, Reason
from tests.collectors import snmp_walks
from tests.collectors.test_snmp_profiles import Seen, table
from tests.house.checkout import ROOT

CASES = ROOT.parent / "shared" / "cases"

pytestmark = pytest.mark.skipif(not CASES.exists(), reason="no cases beside this checkout")

ENTRY = "1.3.6.1.4.1.99999.1"
COLUMNS = {"load.phase1": 1, "voltage.phase1": 2, "power": 3, "total.power": 3, "outlet.1.power": 4}
STEP = {"0.1 A": 0.1, "A": 1.0, "W": 1.0, "V": 1.0}


def device(name: str) -> Any:
    every = json.loads((CASES / "c18.json").read_text())["devices"]
    return next(one for one in every if one["name"] == name)


def read(folder: Path, name: str) -> tuple[Seen, Poll]:
    """Read a unit of the case by a profile that takes its load in the unit that the case says."""
    said = device(name)
    load = said["walk"].get("load.phase1", {}).get("mib_unit", "A")
    step = STEP[said.get("profile_unit_for_load", load)]
    profile = folder / "mine.yaml"
    profile.write_text(f"""
about: a unit of the case
evidence: the case
systems: [1.3.6.1.4.1.99999]
tables:
  - entry: {ENTRY}
    index: [inlet]
    read:
      - {{column: 1, to: fabric_feed_current_amperes, scale: {step}, labels: {{phase: "1"}}}}
      - {{column: 2, to: fabric_feed_voltage_volts, labels: {{phase: "1"}}}}
      - {{column: 3, to: fabric_feed_power_watts}}
      - {{column: 4, to: fabric_outlet_power_watts, labels: {{outlet: "1"}}}}
""")
    seen = Seen(mapping=str(profile))
    row = {COLUMNS[key]: value["raw"] for key, value in said["walk"].items()}
    return seen, seen.walk(folder, table(ENTRY, ("1", row)))


FEED = ("pdu-7", "pdu-7/1")


def test_tenths_of_amperes_agree_with_volts_and_watts(tmp_path: Path) -> None:
    seen, poll = read(tmp_path, "pdu-a")
    assert seen.readings(poll, FEED_CURRENT) == {(*FEED, "1"): pytest.approx(7.6)}
    assert seen.readings(poll, FEED_POWER) == {FEED: 1660.0}
    assert seen.readings(poll, FEED_VOLTAGE) == {(*FEED, "1"): 230.0}
    assert poll.refused == []


def test_whole_watts_are_divided_by_nothing(tmp_path: Path) -> None:
    seen, poll = read(tmp_path, "pdu-b")
    assert seen.readings(poll, FEED_POWER) == {FEED: 900.0}
    assert seen.readings(poll, OUTLET_POWER) == {("pdu-7", "1"): 90.0}
    assert poll.refused == []


def test_a_profile_that_is_wrong_by_ten_is_told_and_what_it_says_is_doubted(tmp_path: Path) -> None:
    seen, poll = read(tmp_path, "pdu-c")
    assert {one.reason for one in poll.refused} == {Reason.IMPLAUSIBLE}
    assert "2620 W for 276 VA, off by 10" in str(poll.refused[0].raw)
    assert seen.readings(poll, FEED_CURRENT) == {}
    assert seen.readings(poll, FEED_VOLTAGE) == {(*FEED, "1"): 230.0}


def test_milliamperes_with_one_digit_behind_the_point(tmp_path: Path) -> None:
    """The MIB says of what only by a name: here of a module's bias current."""
    walk = device("switch-d")["walk"]
    rows: snmp_walks.Columns = {
        **snmp_walks.ports("Eth1/1"),
        "entPhysicalName": {7: "DOM TX Bias Sensor for Eth1/1"},
        **{key.partition(".")[0]: {7: value} for key, value in walk.items()},
    }
    seen = snmp_walks.Seen(tmp_path)
    poll = seen.poll(rows)
    assert seen.readings(poll, optics.TX_BIAS) == {("Eth1/1", "1"): pytest.approx(0.053)}
