"""Advice: the ladder learns, no failure is repeated, a return needs proof, parts are known."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.incidents.proving import CONFIDENT, claimed, proof
from analyzer.incidents.repair import HELPS, ladder, named, outcomes
from analyzer.ledger import load, save
from analyzer.past import Past, Repair
from fabrichealth.events import Event
from fabrichealth.kinds import (
    COOLING_LEAK,
    DEVICE_DOWN,
    LINK_DOWN,
    LINK_SUBHEALTHY,
    Cause,
    Severity,
)
from fabrichealth.model import Finding, Incident, Place, Port
from fabrichealth.topology import Device, Link, Module, Topology
from tests.analyzer.stories import HOUR, MINUTE, START, Script, Story, event, finding

NEAR = Port("host-0", "eth0")
DAY = 24 * HOUR


def fabric(medium: str = "optical") -> Topology:
    """Return two links of one leaf; module S1 sits in the first."""
    devices = [Device(name=f"host-{n}", role="host") for n in range(2)]
    devices.append(Device(name="leaf-0", role="switch", silicon="7nm"))
    return Topology(
        devices,
        [
            Link(a=f"host-{n}/eth0", b=f"leaf-0/{n}", technology="ib", generation="ndr",
                 medium=medium, speed_gbps=400, lanes=4, fec="rs544", plr=True,
                 module_b=Module(serial=f"S{n + 1}"))
            for n in range(2)
        ],
    )  # fmt: skip


DIRTY = {Cause.CONTAMINATED_CONNECTOR: 0.8, Cause.DAMAGED_FIBER: 0.2}


def dirty(*spans: tuple[float, float], port: Port = NEAR) -> Script:
    """Return a script that finds dirt at a port within spans of seconds."""

    def script(elapsed: float) -> list[Finding]:
        return [
            replace(finding(LINK_SUBHEALTHY, port, start, elapsed), causes=DIRTY)
            for start, end in spans
            if start <= elapsed < end
        ]

    return script


def incident(causes: dict[Cause, float], severity: Severity = Severity.TICKET) -> Incident:
    first = max(causes, key=lambda cause: causes[cause], default=None)
    place = Place("link", "host-0/eth0--leaf-0/0")
    return Incident("i1", LINK_SUBHEALTHY, severity, START, place, "", "", causes=causes,
                    cause=first)  # fmt: skip


class TestLadder:
    @pytest.mark.parametrize(
        ("cause", "first"),
        [
            (Cause.CONTAMINATED_CONNECTOR, "clean"),
            (Cause.DECAYING_TRANSMITTER, "replace_module"),
            (Cause.DAMAGED_FIBER, "replace_cable"),
            (Cause.LOOSE_OR_BAD_MODULE, "reseat"),
            (Cause.MODULE_OVERHEATING, "cool"),
            (Cause.SHARED_COMPONENT, "replace_shared"),
        ],
    )
    def test_each_cause_has_its_first_step(self, cause: Cause, first: str) -> None:
        assert ladder(incident({cause: 1.0}), Past(), fabric(), START)[0].action == first

    def test_copper_has_no_connector_to_clean_and_light_no_plug_to_replug(self) -> None:
        causes = {Cause.UNKNOWN: 1.0}
        copper = {one.action for one in ladder(incident(causes), Past(), fabric("dac"), START)}
        light = {one.action for one in ladder(incident(causes), Past(), fabric(), START)}
        assert "clean" not in copper
        assert "replug" in copper
        assert "replug" not in light

    def test_no_hands_help_a_loop(self) -> None:
        leak = Incident("i1", COOLING_LEAK, Severity.PAGE, START, Place("loop", "c"), "", "Go.")
        assert ladder(leak, Past(), fabric(), START) == []

    def test_what_failed_on_this_link_within_a_month_is_not_proposed_again(self) -> None:
        one = incident(DIRTY)
        failed = Repair(START, "clean", one.culprit.id, "contaminated_connector", START + HOUR)
        for days, proposed in ((1, False), (31, True)):
            rungs = ladder(one, Past(repairs=[failed]), fabric(), START + days * DAY)
            assert ("clean" in {rung.action for rung in rungs}) is proposed

    def test_what_helped_here_moves_the_chance(self) -> None:
        def chance(failed: bool) -> float:
            repairs = [
                Repair(START + n, "clean", f"link-{n}", "contaminated_connector",
                       START + n + HOUR if failed else None)
                for n in range(20)
            ]  # fmt: skip
            rungs = ladder(incident(DIRTY), Past(repairs=repairs), fabric(), START + 3 * DAY)
            return next(rung.success for rung in rungs if rung.action == "clean")

        assert chance(failed=True) < 0.2
        assert chance(failed=False) > 0.9

    @given(
        st.dictionaries(st.sampled_from(sorted(Cause)), st.floats(0.01, 1.0), min_size=1),
        st.lists(st.tuples(st.sampled_from(["clean", "reseat"]), st.booleans()), max_size=30),
    )
    def test_chances_are_chances(
        self, weights: dict[Cause, float], seen: list[tuple[str, bool]]
    ) -> None:
        whole = sum(weights.values())
        one = incident({cause: share / whole for cause, share in weights.items()})
        cause = one.cause.value if one.cause else ""
        repairs = [Repair(START, action, "x", cause, START + 1 if bad else None)
                   for action, bad in seen]  # fmt: skip
        for rung in ladder(one, Past(repairs=repairs), fabric(), START + 2 * DAY):
            assert 0.0 < rung.success <= 1.0
            assert rung.worked <= rung.tried <= len(seen)

    def test_every_cause_that_hands_can_mend_is_in_the_table(self) -> None:
        beyond_hands = {Cause.PEER_REBOOTED, Cause.MAINTENANCE, Cause.POWER, Cause.CONGESTION,
                        Cause.UNKNOWN}  # fmt: skip
        assert set(Cause) - HELPS.keys() == beyond_hands

    def test_words_of_events_are_understood(self) -> None:
        assert [named(word) for word in ("Clean", "replace module", "replace", "pray")] == [
            "clean", "replace_module", "replace_module", None,
        ]  # fmt: skip


class TestLearning:
    def repaired(self, minute: float, action: str = "clean") -> Event:
        scope = {"link": "host-0/eth0--leaf-0/0"}
        return event("repair_end", minute * MINUTE, scope, action=action)

    def test_a_repair_after_which_the_fault_stays_away_worked(self) -> None:
        story = Story(dirty((60, 1200)), [self.repaired(21)], topology=fabric()).until(25 * HOUR)
        tried, worked = outcomes(story.ledger.past, Cause.CONTAMINATED_CONNECTOR,
                                 START + 25 * HOUR)  # fmt: skip
        assert (tried["clean"], worked["clean"]) == (1, 1)

    def test_one_after_which_it_returns_failed_and_the_next_step_is_told(self) -> None:
        story = Story(dirty((60, 1200), (7200, 9000)), [self.repaired(21)], topology=fabric())
        first = story.until(15 * MINUTE).only
        assert first.action.startswith("Clean the connector")
        again = story.until(130 * MINUTE).ledger.incidents[0]
        (repair,) = story.ledger.past.repairs
        assert repair.failed_at is not None
        assert not again.action.startswith("Clean")
        assert [one.incident for one in again.earlier] == ["i1"]

    def test_hands_at_work_do_not_count_as_its_return(self) -> None:
        story = Story(dirty((60, 25 * 60)), [self.repaired(21)], topology=fabric())
        story.until(60 * MINUTE)
        assert story.ledger.past.repairs[0].failed_at is None

    def test_what_was_learned_survives_a_restart(self, tmp_path: object) -> None:
        story = Story(dirty((60, 1200)), [self.repaired(21)], topology=fabric()).until(2 * HOUR)
        path = tmp_path / "ledger.json"  # type: ignore[operator]  # a Path
        save(story.ledger, path)
        assert load(path).past == story.ledger.past
        assert load(path).past.closed[0].modules == ("S1",)


class TestOffenders:
    def test_a_part_is_known_again_at_another_port_by_its_serial(self) -> None:
        story = Story(dirty((60, 600)), topology=fabric()).until(2 * HOUR)
        moved = fabric()
        links = [
            link.model_copy(
                update={"module_b": Module(serial="S1" if "host-1" in link.a else "S9")}
            )
            for link in moved.links.values()
        ]
        other = Topology(moved.devices.values(), links)
        later = Story(dirty((3 * HOUR, 5 * HOUR), port=Port("host-1", "eth0")), topology=other)
        later.restart(story.ledger)
        (earlier,) = later.until(4 * HOUR).ledger.incidents[0].earlier
        assert (earlier.culprit, earlier.same) == ("host-0/eth0--leaf-0/0", "module S1")

    def test_what_was_suppressed_is_no_record(self) -> None:
        quiet = event("maintenance_start", 0, {"device": "host-0"})
        story = Story(dirty((60, 600), (7200, 9000)), [quiet], topology=fabric()).until(
            130 * MINUTE
        )
        assert story.ledger.incidents[0].earlier == []


class TestProof:
    def test_the_window_is_sized_to_the_claimed_ratio(self) -> None:
        found = proof(incident(DIRTY), fabric(), None)
        assert found is not None
        assert found.limit == 1e-14  # NDR with retry over light
        assert found.bits == pytest.approx(CONFIDENT / 1e-14)
        assert found.seconds == pytest.approx(749, rel=0.01)  # 12.5 min at 400 Gb/s

    def test_it_counts_from_the_repair_or_the_last_error_whichever_is_later(self) -> None:
        one = incident(DIRTY)
        for seen, back in ((100.0, 200.0), (300.0, 200.0)):
            one.last_seen = START + seen
            found = proof(one, fabric(), Event(START + back, "link_returned", {}))
            assert found is not None
            assert found.clean_from == START + max(seen, back)

    def test_a_link_that_is_down_carries_nothing_clean(self) -> None:
        one = incident(DIRTY)
        one.kind = LINK_DOWN
        found = proof(one, fabric(), None)
        assert found is not None
        assert found.clean_from is None

    def test_without_speed_or_limits_no_window_is_promised(self) -> None:
        bare = Topology([], [Link(a="host-0/eth0", b="leaf-0/0", technology="ib")])
        assert proof(incident(DIRTY), bare, None) is None
        assert claimed(Link(a="x/1", b="y/1", technology="ualink"), bare) is not None


class TestDark:
    def test_what_is_back_is_not_drained_as_what_is_down(self) -> None:
        def fell(elapsed: float) -> list[Finding]:
            return [finding(LINK_DOWN, NEAR, 60, elapsed)] if 60 <= elapsed < 600 else []

        story = Story(fell, topology=fabric()).until(9 * MINUTE)
        (down,) = story.ledger.incidents
        assert (down.dark, down.safe_because) == (True, "it is down and carries nothing")
        story.until(20 * MINUTE)  # back for ten minutes, and still open
        (back,) = story.ledger.incidents
        assert (back.dark, back.safe_to_drain) == (False, False)
        assert "0 of 1 uplinks of host-0 would be left" in str(back.safe_because)

    def test_a_switch_that_falls_again_and_again_carries_between(self) -> None:
        def falls(elapsed: float) -> list[Finding]:
            about = Place("device", "leaf-0")
            return [replace(finding(DEVICE_DOWN, about, 60, elapsed), detail={"back": 1.0})]

        (one,) = Story(falls, topology=fabric()).until(9 * MINUTE).ledger.incidents
        assert (one.dark, one.safe_to_drain) == (False, False)
