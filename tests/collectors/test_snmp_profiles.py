"""PDUs and coolers by their profiles: walks made by hand, spoiled ones, and a live agent."""

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("gufo.snmp", reason="no gufo-snmp: install fabrichealth[snmp]")
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.intake import Bounds, checked
from collectors.maps import snmp_profiles
from collectors.maps.columns import Columns
from collectors.maps.places import Places
from collectors.protocols.snmp_columns import Recording
from collectors.protocols.snmprec import Value
from collectors.snmp import asking
from collectors.snmp.profiled import Profiled
from collectors.source import Target
from collectors.sources.snmp import Snmp, SnmpSettings
from emulator.snmp import Mib, SnmpAgent
from emulator.snmp_pdu import LOST, WELL, Phase, RackPdu
from fabrichealth.catalogue.circuits import CIRCUIT_CLOSED, OUTLET_CURRENT, OUTLET_POWER
from fabrichealth.catalogue.cooling import AIR_TEMPERATURE, LEAK
from fabrichealth.catalogue.devices import DEVICE_TEMPERATURE, HUMIDITY
from fabrichealth.catalogue.ports import UP
from fabrichealth.catalogue.power import (
    FEED_CURRENT,
    FEED_ENERGY,
    FEED_POWER,
    FEED_POWER_FACTOR,
    FEED_VOLTAGE,
    RACK_ENERGY,
    RACK_POWER,
)
from fabrichealth.errors import SiteError, SourceUnavailable
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Poll, Reason, SeriesTable
from fabrichealth.topology import Feed, Topology
from tests.house.checkout import ROOT

AT = 1_767_225_600.0
SAMPLES = ROOT.parent / "shared" / "samples"

APC = "1.3.6.1.4.1.318.1.1.26"
RARITAN = "1.3.6.1.4.1.13742.6"
SENTRY = "1.3.6.1.4.1.1718.4.1"
GEIST = "1.3.6.1.4.1.21239.5.2"
EATON = "1.3.6.1.4.1.534.6.6.7"
UNIFLAIR = "1.3.6.1.4.1.318.1.1.27.1.4.1.2.1"
SYSTEM = {
    "apc": "1.3.6.1.4.1.318.1.3.4.6",
    "raritan": "1.3.6.1.4.1.13742.6",
    "sentry": "1.3.6.1.4.1.1718.4",
    "geist": "1.3.6.1.4.1.21239.42.1.52",
    "eaton": "1.3.6.1.4.1.534.6.6.7",
    "uniflair": "1.3.6.1.4.1.318.1.3.14.21",
}

Walked = Mapping[str, int | str]


class Seen:
    """Polls of one target."""

    def __init__(
        self,
        address: str = "",
        topology: Topology | None = None,
        timeout: float = 5.0,
        **options: str,
    ) -> None:
        self.table = SeriesTable()
        target = Target("pdu-7", "snmp", address, "", options, topology or Topology())
        settings = SnmpSettings(answer=2.0, tries=1, timeout=timeout)
        self.source = Snmp(settings, target, self.table)

    def walk(self, folder: Path, walked: Walked, system: str = "") -> Poll:
        """Read variables by OID; `system` is a sysObjectID."""
        lines = [f".1.3.6.1.2.1.1.2.0 = OID: .{system}"] if system else []
        lines += [
            f".{oid} = INTEGER: {value}"
            if isinstance(value, int)
            else f'.{oid} = STRING: "{value}"'
            for oid, value in walked.items()
        ]
        file = folder / "walk.txt"
        file.write_text("\n".join(lines) + "\n")
        return self.source.captured([file], AT)

    def readings(self, poll: Poll, metric: Metric) -> dict[Labels, float]:
        """Return values by labels."""
        return {
            self.table.labels(int(series)): float(value)
            for batch in poll.batches
            for series, value in zip(batch.series, batch.values, strict=True)
            if self.table.metric(int(series)) is metric
        }


def table(entry: str, *rows: tuple[str, Mapping[int, int | str]]) -> dict[str, int | str]:
    """Return rows of a table: index, and values by column."""
    return {
        f"{entry}.{column}.{index}": value
        for index, columns in rows
        for column, value in columns.items()
    }


FEED = ("pdu-7", "pdu-7/1")


@pytest.mark.parametrize("name", snmp_profiles.names())
def test_every_shipped_profile_says_what_it_rests_on(name: str) -> None:
    profile = snmp_profiles.shipped()[name]
    assert profile.evidence
    assert snmp_profiles.of_system(profile.systems[0] + ".1") == name


def test_apc_counts_in_tens_of_watts_and_tenths_of_amperes(tmp_path: Path) -> None:
    seen = Seen()
    walked = {
        **table(f"{APC}.4.3.1", ("1", {2: 1, 5: 61, 9: 20, 17: 88})),
        **table(f"{APC}.6.3.1", ("1", {2: 1, 3: 1, 5: 30, 6: 231}), ("2", {2: 1, 3: 2, 5: -1})),
        **table(f"{APC}.9.4.3.1", ("1", {2: 1, 4: 5, 6: 4, 7: 83})),
        **table(f"{APC}.10.2.2.1", ("1", {3: "in", 6: 1, 8: -1}), ("2", {3: "out", 6: 3, 8: 245})),
    }
    poll = seen.walk(tmp_path, walked, SYSTEM["apc"])
    assert seen.readings(poll, FEED_POWER) == {FEED: 610.0}
    assert seen.readings(poll, FEED_ENERGY) == {FEED: 2 * 3.6e6}
    assert seen.readings(poll, FEED_POWER_FACTOR) == {FEED: 0.88}
    assert seen.readings(poll, FEED_CURRENT) == {(*FEED, "1"): 3.0}
    assert seen.readings(poll, FEED_VOLTAGE) == {(*FEED, "1"): 231.0}
    assert seen.readings(poll, OUTLET_CURRENT) == {("pdu-7", "5"): 0.4}
    assert seen.readings(poll, OUTLET_POWER) == {("pdu-7", "5"): 83.0}
    assert seen.readings(poll, RACK_POWER) == {("pdu-7",): 610.0}
    assert [(one.reason, one.labels.get("sensor", "")) for one in poll.refused] == [
        (Reason.UNSUPPORTED, ""),
        (Reason.UNSUPPORTED, "in"),
        (Reason.SENSOR_FAULT, "out"),
    ]


def test_raritan_scales_by_its_own_digits_and_reads_three_phases(tmp_path: Path) -> None:
    seen = Seen()
    inlet, poles = f"{RARITAN}.5.2.3.1", f"{RARITAN}.5.2.4.1"
    walked = {
        **table(inlet, ("1.1.1", {2: 1, 4: 5123}), ("1.1.5", {2: 1, 4: 3300})),
        **table(inlet, ("1.1.7", {2: 2, 4: 0})),
        **table(f"{RARITAN}.3.3.4.1", ("1.1.1", {7: 3}), ("1.1.5", {7: 0}), ("1.1.7", {7: 2})),
        **table(poles, *((f"1.1.{phase}.1", {2: 1, 4: 4900 + phase}) for phase in (1, 2, 3))),
        **table(poles, *((f"1.1.{phase}.25", {2: 1, 4: 2290 + phase}) for phase in (1, 2, 3))),
        **table(f"{RARITAN}.3.3.6.1", *((f"1.1.{p}.1", {7: 3}) for p in (1, 2, 3))),
        **table(f"{RARITAN}.3.3.6.1", *((f"1.1.{p}.25", {7: 1}) for p in (1, 2, 3))),
        **table(f"{RARITAN}.5.3.3.1", ("1.2.15", {3: 0, 4: 0})),
        **table(f"{RARITAN}.3.4.4.1", ("1.2.15", {7: 0})),
        **table(f"{RARITAN}.5.5.3.1", ("1.1", {2: 1, 3: 4, 4: 752}), ("1.2", {2: 1, 3: 9, 4: 0})),
        **table(f"{RARITAN}.3.6.3.1", ("1.1", {2: 10, 4: "cold aisle", 16: 14, 17: 1})),
        **table(f"{RARITAN}.3.6.3.1", ("1.2", {2: 17, 4: "floor", 16: -1, 17: 0})),
        **table(f"{RARITAN}.5.5.3.1", ("1.3", {2: 1, 3: 10, 4: 0})),
        **table(f"{RARITAN}.3.6.3.1", ("1.3", {2: 17, 4: "shelf", 16: -1, 17: 0})),
    }
    poll = seen.walk(tmp_path, walked, SYSTEM["raritan"])
    assert seen.readings(poll, FEED_CURRENT) == {
        (*FEED, "1"): 4.901, (*FEED, "2"): 4.902, (*FEED, "3"): 4.903,
    }  # fmt: skip
    assert seen.readings(poll, FEED_VOLTAGE) == {
        (*FEED, "1"): 229.1, (*FEED, "2"): 229.2, (*FEED, "3"): 229.3,
    }  # fmt: skip
    assert seen.readings(poll, FEED_POWER) == {FEED: 3300.0}
    assert seen.readings(poll, FEED_POWER_FACTOR) == {}
    assert seen.readings(poll, CIRCUIT_CLOSED) == {("pdu-7", "2"): 0.0}
    assert seen.readings(poll, DEVICE_TEMPERATURE) == {("pdu-7", "cold aisle"): pytest.approx(24.0)}
    assert seen.readings(poll, LEAK) == {("pdu-7", "", "pdu-7"): 1.0}
    assert [one.reason for one in poll.refused] == [Reason.UNSUPPORTED]


def test_raritan_of_one_phase_tells_it_by_its_inlet(tmp_path: Path) -> None:
    seen = Seen()
    walked = {
        **table(f"{RARITAN}.5.2.3.1", ("1.1.1", {4: 715}), ("1.1.4", {4: 231})),
        **table(f"{RARITAN}.3.3.4.1", ("1.1.1", {7: 3}), ("1.1.4", {7: 0})),
    }
    poll = seen.walk(tmp_path, walked, SYSTEM["raritan"])
    assert seen.readings(poll, FEED_CURRENT) == {(*FEED, "1"): 0.715}
    assert seen.readings(poll, FEED_VOLTAGE) == {(*FEED, "1"): 231.0}


def test_sentry_names_the_cords_of_other_units_in_full(tmp_path: Path) -> None:
    topology = Topology(
        feeds=[
            Feed(name="r01-A", rack="r01", meter={"device": "pdu-7", "inlet": "AA"}),
            Feed(name="r01-B", rack="r01", meter={"device": "pdu-7", "inlet": "2.1"}),
        ]
    )
    walked = {
        **table(f"{SENTRY}.3.3.1", ("1.1", {3: 1820, 10: 100}), ("2.1", {3: 1410, 10: -1})),
        **table(f"{SENTRY}.3.2.1", ("1.1", {2: "AA"}), ("2.1", {2: "BA"})),
        **table(f"{SENTRY}.8.3.1", ("1.1.4", {1: 1, 7: 90}), ("2.1.4", {1: 2, 7: -1})),
        **table(f"{SENTRY}.9.3.1", ("1.1", {1: -410, 2: 7}), ("1.2", {1: 770, 2: 0})),
        f"{SENTRY}.9.1.10.0": 1,
    }
    nameless, named = Seen(), Seen(topology=topology)
    poll = nameless.walk(tmp_path, walked, SYSTEM["sentry"])
    assert nameless.readings(poll, FEED_POWER) == {FEED: 1820.0, ("pdu-7", "pdu-7/2.1"): 1410.0}
    assert nameless.readings(poll, OUTLET_POWER) == {("pdu-7", "4"): 90.0}
    assert nameless.readings(poll, DEVICE_TEMPERATURE) == {("pdu-7", "2"): pytest.approx(25.0)}
    assert nameless.readings(poll, RACK_ENERGY) == {}  # one of two cords is not known
    poll = named.walk(tmp_path, walked, SYSTEM["sentry"])
    assert named.readings(poll, FEED_POWER) == {("r01", "r01-A"): 1820.0, ("r01", "r01-B"): 1410.0}
    assert named.readings(poll, RACK_POWER) == {("r01",): 3230.0}


def test_geist_exchanges_volts_and_amperes_between_tables(tmp_path: Path) -> None:
    seen = Seen()
    walked = {
        **table(f"{GEIST}.3.1.1", ("1", {5: 1, 9: 1240, 11: 96, 12: 5_120_000})),
        **table(f"{GEIST}.3.2.1", ("1", {4: 2310, 8: 215}), ("2", {4: 2295, 8: 320})),
        **table(f"{GEIST}.3.6.1", ("3", {4: 2310, 8: 63, 12: 139})),
        **table(f"{GEIST}.9.1", ("1", {4: 1, 5: 770, 6: 41}), ("2", {4: 0, 5: 0, 6: 0})),
        f"{GEIST}.1.7.0": 0,
    }
    poll = seen.walk(tmp_path, walked, SYSTEM["geist"])
    assert seen.readings(poll, FEED_VOLTAGE) == {(*FEED, "1"): 231.0, (*FEED, "2"): 229.5}
    assert seen.readings(poll, FEED_CURRENT) == {(*FEED, "1"): 2.15, (*FEED, "2"): 3.2}
    assert seen.readings(poll, OUTLET_CURRENT) == {("pdu-7", "3"): 0.63}
    assert seen.readings(poll, DEVICE_TEMPERATURE) == {("pdu-7", "THD 1"): pytest.approx(25.0)}
    assert seen.readings(poll, HUMIDITY) == {("pdu-7", "THD 1"): 0.41}
    assert {one.reason for one in poll.refused} == {Reason.SENSOR_FAULT}


def test_eaton_leads_with_a_negative_power_factor(tmp_path: Path) -> None:
    seen = Seen()
    walked = {
        **table(f"{EATON}.3.5.1", ("0.1", {4: 1475, 5: 100, 7: -937})),
        **table(f"{EATON}.3.4.1", ("0.1.1", {2: 1, 4: 1480}), ("0.1.4", {2: 4, 4: 1470})),
        **table(f"{EATON}.3.2.1", ("0.1.1", {3: 119_200})),
        **table(f"{EATON}.3.3.1", ("0.1.1", {4: 13_205})),
        **table(f"{EATON}.6.4.1", ("0.2", {3: -1}), ("1.2", {3: 640})),
    }
    poll = seen.walk(tmp_path, walked, SYSTEM["eaton"])
    assert seen.readings(poll, FEED_POWER) == {FEED: 1475.0}
    assert seen.readings(poll, FEED_POWER_FACTOR) == {FEED: -0.937}
    assert seen.readings(poll, FEED_CURRENT) == {(*FEED, "1"): 13.205}
    assert seen.readings(poll, OUTLET_CURRENT) == {("pdu-7", "1.2"): 0.64}


def test_a_cooler_that_names_its_values_is_read_by_their_names(tmp_path: Path) -> None:
    seen = Seen(loop="crac-3")
    walked = table(
        UNIFLAIR,
        ("1.1", {2: "Room Temperature", 3: 716, 4: "F", 5: 10}),
        ("1.2", {2: "Room Temperature", 3: 220, 4: "C", 5: 10}),
        ("1.3", {2: "Discharge Pressure", 3: 151, 4: "bar", 5: 10}),
        ("1.4", {2: "Supply Temperature", 3: 262, 4: "C", 5: 0}),
    )
    poll = seen.walk(tmp_path, walked, SYSTEM["uniflair"])
    assert seen.readings(poll, AIR_TEMPERATURE) == {("crac-3", ""): 22.0}
    assert seen.readings(poll, DEVICE_TEMPERATURE) == {("pdu-7", "Room Temperature"): 22.0}
    assert [one.reason for one in poll.refused] == [Reason.MALFORMED]


def test_a_card_that_no_profile_knows_says_so_with_its_id(tmp_path: Path) -> None:
    seen = Seen()
    walked = table("1.3.6.1.2.1.2.2.1", ("1", {2: "eth0", 3: 6, 7: 1, 8: 1}))
    poll = seen.walk(tmp_path, walked, "1.3.6.1.4.1.9839.2606.1")
    assert seen.readings(poll, UP) == {("pdu-7", "eth0"): 1.0}
    (refused,) = poll.refused
    assert refused.reason is Reason.UNSUPPORTED
    assert refused.raw == "no profile: 1.3.6.1.4.1.9839.2606.1"


def test_a_unit_sold_under_another_name_is_known_by_its_objects(tmp_path: Path) -> None:
    seen = Seen()
    walked = {
        **table("1.3.6.1.2.1.2.2.1", ("1", {2: "eth0", 3: 6, 7: 1, 8: 1})),
        **table(f"{RARITAN}.5.2.4.1", ("1.1.1.1", {4: 715})),
        **table(f"{RARITAN}.3.3.6.1", ("1.1.1.1", {7: 3})),
    }
    for _ in range(2):
        poll = seen.walk(tmp_path, walked, "1.3.6.1.4.1.1718.99")
        assert seen.readings(poll, FEED_CURRENT) == {(*FEED, "1"): 0.715}
        assert poll.refused == []


def test_a_walk_without_an_id_is_known_by_its_objects(tmp_path: Path) -> None:
    seen = Seen()
    poll = seen.walk(tmp_path, table(f"{APC}.4.3.1", ("1", {2: 1, 5: 61})))
    assert seen.readings(poll, FEED_POWER) == {FEED: 610.0}


CASE_18 = """about: of a test
evidence: none
systems: [1.3.6.1.4.1.99999]
tables:
  - entry: 1.3.6.1.4.1.99999.1
    index: [inlet]
    read:
      - {column: 1, to: fabric_feed_current_amperes, scale: 0.1, labels: {phase: "1"}}
      - {column: 2, to: fabric_feed_voltage_volts, labels: {phase: "1"}}
      - {column: 3, to: fabric_feed_power_watts}
"""


def test_a_scale_that_is_wrong_by_ten_is_told_and_not_taken(tmp_path: Path) -> None:
    profile = tmp_path / "mine.yaml"
    profile.write_text(CASE_18)
    seen = Seen(mapping=str(profile))
    entry = "1.3.6.1.4.1.99999.1"
    good = seen.walk(tmp_path, table(entry, ("1", {1: 64, 2: 229, 3: 1390})))
    assert seen.readings(good, FEED_CURRENT) == {(*FEED, "1"): 6.4}
    assert good.refused == []
    doubtful = Seen(mapping=str(profile))
    bad = doubtful.walk(tmp_path, table(entry, ("1", {1: 14, 2: 231, 3: 3100})))
    assert doubtful.readings(bad, FEED_CURRENT) == {}
    assert doubtful.readings(bad, FEED_VOLTAGE) == {(*FEED, "1"): 231.0}
    assert {one.reason for one in bad.refused} == {Reason.IMPLAUSIBLE}
    assert "3100 W for 323.4 VA, off by 10" in str(bad.refused[0].raw)


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("scale: 0.1", "scale: -1", 8, "no size of a step"),
        ("fabric_feed_power_watts", "fabric_feed_power", 10, "no metric of the catalogue"),
        ("fabric_feed_power_watts", "fabric_outlet_power_watts", 10, "wants outlet"),
        ("to: fabric_feed_power_watts", "to: fabric_feed_power_watts, unit: bar", 10, "no unit"),
        ("to: fabric_feed_power_watts", "to: fabric_feed_power_watts, digits: d", 10, "fact d"),
        ("entry: 1.3.6.1.4.1.99999.1", "entry: up", 5, "should match"),
    ],
)
def test_a_wrong_profile_is_one_line_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, says: str
) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(CASE_18.replace(old, new))
    with pytest.raises(SiteError, match=r"\A.+\Z") as wrong:
        Seen(mapping=str(file))
    assert str(wrong.value).startswith(f"{file}:{line}: ")
    assert says in str(wrong.value)


def test_a_profile_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(SiteError, match="apc_rpdu2"):
        Seen(mapping="nobody")


COLUMNS = sorted(
    {
        oid
        for profile in snmp_profiles.shipped().values()
        for rows in profile.tables
        for oid in (
            *(f"{rows.entry}.{one.column}" for one in rows.read),
            *(f"{rows.entry}.{one.column}" for one in rows.gates),
            *(rows.fact_oid(name) for name in rows.facts),
        )
    }
)

values = (
    st.integers(-(2**63), 2**64 - 1) | st.binary(max_size=8) | st.none() | st.floats()
    | st.sampled_from(["C", "1.3"]) | st.integers(-2, 30)
)  # fmt: skip
indices = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(lambda n: ".".join(map(str, n)))


@settings(deadline=None)  # a busy machine is no fault
@given(
    rows=st.dictionaries(
        st.tuples(st.sampled_from(COLUMNS), indices), values, min_size=1, max_size=30
    ),
    name=st.sampled_from(snmp_profiles.names()),
)
def test_any_variables_give_readings_or_refusals(
    rows: dict[tuple[str, str], Value], name: str
) -> None:
    series = SeriesTable()
    profiled = Profiled(
        series, Places(Target("pdu-7", "snmp")), snmp_profiles.shipped()[name], again=600.0
    )
    recording = Recording({f"{column}.{index}": value for (column, index), value in rows.items()})
    polls = []
    for at in (AT, AT + 10):
        columns = Columns(series)
        asking.run(profiled.read(at, columns), recording)
        poll = columns.poll(series.clock("snmp", "pdu-7"), at)
        polls.append(checked(poll, Bounds(series), series, at, 300.0))
    first, second = (
        {
            int(one): float(value)
            for batch in poll.batches
            for one, value in zip(batch.series, batch.values, strict=True)
        }
        for poll in polls
    )
    assert first == second  # asked one by one they say the same


@dataclass
class Slow:
    """A PDU whose card takes its time for each answer."""

    pdu: RackPdu

    def mib(self) -> Mib:
        time.sleep(0.03)
        return self.pdu.mib()


class TestAgent:
    """An emulated PDU over SNMP."""

    async def test_is_walked_once_and_then_asked_for_its_values_alone(self) -> None:
        pdu = RackPdu("pdu-7", [Phase(231.0, 6.5), Phase(229.0, 4.0), Phase(230.0, 9.1)],
                      [100.0 + n for n in range(24)], probe=WELL)  # fmt: skip
        agent = SnmpAgent(pdu.mib)
        await agent.start()
        seen = Seen(agent.address)
        first = await seen.source.read(AT)
        walked = agent.asked
        pdu.phases[0].amperes = 7.25
        pdu.advance(30.0)
        second = await seen.source.read(AT + 30)
        asked = agent.asked - walked
        assert first.readings == second.readings
        assert seen.readings(second, FEED_CURRENT) == {
            (*FEED, "1"): 7.2, (*FEED, "2"): 4.0, (*FEED, "3"): 9.1,
        }  # fmt: skip
        assert seen.readings(second, DEVICE_TEMPERATURE) == {("pdu-7", "inlet"): 24.0}
        assert asked <= 4 < walked  # the uptime, and some sixty values by two questions
        pdu.outlets.append(50.0)
        assert len(seen.readings(await seen.source.read(AT + 1000), OUTLET_POWER)) == 24
        assert len(seen.readings(await seen.source.read(AT + 1010), OUTLET_POWER)) == 25
        await agent.stop()
        await seen.source.close()

    async def test_a_slow_card_is_walked_over_several_visits(self) -> None:
        pdu = RackPdu("pdu-7", probe=WELL, outlets=[100.0] * 4)
        agent = SnmpAgent(Slow(pdu).mib)
        await agent.start()
        seen = Seen(agent.address, timeout=0.5)
        visits, poll = 0, Poll()
        while visits < 20 and not seen.readings(poll, FEED_POWER):
            visits += 1
            with contextlib.suppress(SourceUnavailable):  # nothing of its power yet
                poll = await seen.source.read(AT + 30 * visits)
        assert 1 < visits < 20
        assert len(seen.readings(poll, OUTLET_POWER)) == 4
        await agent.stop()
        await seen.source.close()

    async def test_a_probe_that_is_unplugged_is_lost_and_comes_back(self) -> None:
        pdu = RackPdu("pdu-7", probe=WELL)
        agent = SnmpAgent(pdu.mib)
        await agent.start()
        seen = Seen(agent.address)
        assert seen.readings(await seen.source.read(AT), HUMIDITY) == {("pdu-7", "inlet"): 0.42}
        pdu.probe = LOST
        poll = await seen.source.read(AT + 30)
        assert seen.readings(poll, HUMIDITY) == {}
        assert {one.reason for one in poll.refused} == {Reason.SENSOR_FAULT}
        pdu.probe = WELL
        assert seen.readings(await seen.source.read(AT + 60), HUMIDITY)
        await agent.stop()
        await seen.source.close()

    async def test_power_agrees_with_volts_amperes_and_factor(self) -> None:
        pdu = RackPdu("pdu-7", [Phase(231.0, 16.0, 0.97), Phase(229.0, 14.0, 0.95)])
        agent = SnmpAgent(pdu.mib)
        await agent.start()
        seen = Seen(agent.address)
        assert abs(disagreement(seen, await seen.source.read(AT))) < 0.01
        await agent.stop()
        await seen.source.close()

    async def test_one_that_falls_silent_is_unavailable(self) -> None:
        agent = SnmpAgent(RackPdu("pdu-7").mib)
        await agent.start()
        seen = Seen(agent.address)
        await seen.source.read(AT)
        await agent.stop()
        with pytest.raises(SourceUnavailable, match="pdu-7"):
            await seen.source.read(AT + 30)
        await seen.source.close()


def disagreement(seen: Seen, poll: Poll, between_lines: bool = False) -> float:
    """Return by which share power differs from volts x amperes x power factor.

    Volts between the lines count for amperes of a line by the root of three less.
    """
    currents = seen.readings(poll, FEED_CURRENT)
    voltages = seen.readings(poll, FEED_VOLTAGE)
    (feed, power), *_ = seen.readings(poll, FEED_POWER).items()
    apparent = sum(
        amperes * voltages[labels] for labels, amperes in currents.items() if labels[:2] == feed
    )
    apparent /= 3**0.5 if between_lines else 1.0
    return power / (apparent * abs(seen.readings(poll, FEED_POWER_FACTOR)[feed])) - 1.0


WITHIN = {
    "snmp-pdu/apc_ap8853.snmprec": 0.01,
    "snmp-pdu/apc_ap8959eu3.snmprec": 0.10,  # 1.3 A in steps of 0.1 A, 270 W in steps of 10 W
    "snmp-pdu/eatonpdu_2.snmprec": 0.005,
    "snmp-pdu/raritan-pdu_px3.snmprec": 0.01,
    "snmp-pdu/sentry4.snmprec": 0.005,
    "snmp-pdu/vertiv-pdu_mg02e4w1.snmprec": 0.01,
}
"""By how much power may differ from volts x amperes x factor in recorded walks."""


@pytest.mark.skipif(not SAMPLES.exists(), reason="no recorded walks beside this checkout")
@pytest.mark.parametrize(("name", "share"), WITHIN.items())
def test_recorded_walks_agree_with_themselves(name: str, share: float) -> None:
    seen = Seen()
    poll = seen.source.captured([SAMPLES / name], AT)
    assert abs(disagreement(seen, poll, between_lines="sentry4" in name)) < share
