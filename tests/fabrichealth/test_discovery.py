"""Discovery: what ports say of each other becomes links, and what does not fit is said."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabrichealth.model import Neighbor, Port, link_id
from fabrichealth.topology import (
    Device,
    Discovery,
    Found,
    Link,
    Module,
    PortSaid,
    Topology,
    completed,
    differences,
    own_names,
    read,
    updated,
)
from fabrichealth.topology.claims import KEPT, STALE_AFTER
from fabrichealth.topology.rows import PortFacts
from fabrichealth.topology.writing import text_of

NOW = 1_767_225_600.0

LEAF = Device(
    name="leaf-01",
    role="switch",
    ids=("02:00:00:00:00:01", "leaf-01.dc.example"),
    ports={"Ethernet0": PortFacts(alias="etp1", uid="0xAA")},
)


def said(*rows: str, via: str = "lldp") -> list[Neighbor]:
    """Return neighbours written `device/port > device/port`; the far port may be left out."""
    found = []
    for row in rows:
        here, there = (end.strip().partition("/") for end in row.split(">"))
        found.append(Neighbor(here[0], here[2], there[0], there[2], via))
    return found


def found(*rows: str, written: Topology | None = None, via: str = "lldp") -> Found:
    discovery = Discovery(written or Topology())
    discovery.hear(said(*rows, via=via), NOW)
    return discovery.found(NOW)


def ids(what: Found) -> list[str]:
    return sorted(link.id for link in what.links)


def doubts(what: Found) -> list[tuple[str, str]]:
    return sorted((doubt.kind, str(doubt.about)) for doubt in what.doubts)


class TestTwoEnds:
    def test_that_name_each_other_are_one_link_without_doubt(self) -> None:
        both = found("a/1 > b/2", "b/2 > a/1")
        assert ids(both) == ["a/1--b/2"]
        assert both.links[0].told_by == {Port("a", "1"), Port("b", "2")}
        assert doubts(both) == []

    def test_of_which_one_is_silent_are_a_link_that_is_told_to_be_one_sided(self) -> None:
        one = found("a/1 > b/2", "b/9 > c/1", "c/1 > b/9")
        assert ids(one) == ["a/1--b/2", "b/9--c/1"]
        assert doubts(one) == [("one_sided", "a/1")]
        assert "b/2 says nothing" in one.doubts[0].says

    def test_that_contradict_each_other_are_no_link(self) -> None:
        assert ids(found("a/1 > b/2", "b/2 > a/3")) == []
        assert {kind for kind, _ in doubts(found("a/1 > b/2", "b/2 > a/3"))} == {"contradiction"}

    def test_two_ports_that_claim_one_far_port_are_both_disbelieved(self) -> None:
        both = found("a/1 > s/1", "b/1 > s/1")
        assert ids(both) == []
        assert {kind for kind, _ in doubts(both)} == {"contradiction"}

    def test_the_far_end_decides_between_two_that_claim_it(self) -> None:
        both = found("a/1 > s/1", "b/1 > s/1", "s/1 > b/1")
        assert ids(both) == ["b/1--s/1"]
        assert doubts(both) == [("contradiction", "s/1")]

    def test_a_device_is_believed_before_a_record(self) -> None:
        discovery = Discovery(Topology())
        discovery.hear(said("a/1 > b/2", "b/2 > a/1", via="netbox"), NOW)
        discovery.hear(said("a/1 > b/3"), NOW)
        assert ids(discovery.found(NOW)) == ["a/1--b/3"]
        assert ("contradiction", "a/1") in doubts(discovery.found(NOW))

    def test_where_only_the_device_is_known_there_is_no_link(self) -> None:
        one = found("a/1 > spine-1")
        assert ids(one) == []
        assert doubts(one) == [("port_unknown", "a/1")]

    def test_the_other_end_may_know_the_port_that_one_end_does_not(self) -> None:
        both = found("a/1 > host-1", "host-1/eth0 > a/1")
        assert ids(both) == ["a/1--host-1/eth0"]
        assert ("port_unknown", "a/1") not in doubts(both)


class TestNames:
    TOPOLOGY = Topology([LEAF])

    @pytest.mark.parametrize(
        "name",
        ["leaf-01", "LEAF-01.dc.example", "02:00:00:00:00:01"],
    )
    @pytest.mark.parametrize("port", ["Ethernet0", "etp1", "0xaa"])
    def test_a_written_device_is_known_by_all_its_names(self, name: str, port: str) -> None:
        heard = found(f"host-1/eth0 > {name}/{port}", written=self.TOPOLOGY)
        assert ids(heard) == ["host-1/eth0--leaf-01/Ethernet0"]

    def test_a_name_in_another_domain_is_another_device(self) -> None:
        heard = found("host-1/eth0 > leaf-01.other.example/Ethernet0", written=self.TOPOLOGY)
        assert ids(heard) == ["host-1/eth0--leaf-01.other.example/Ethernet0"]

    def test_a_written_device_without_any_domain_may_be_heard_with_one(self) -> None:
        written = Topology([Device(name="leaf-02", role="switch")])
        heard = found("host-1/eth0 > leaf-02.dc.example/Ethernet0", written=written)
        assert ids(heard) == ["host-1/eth0--leaf-02/Ethernet0"]

    def test_systems_that_are_read_are_known_without_their_domain(self) -> None:
        both = found(
            "leaf-1/Ethernet0 > spine-1.dc.example/Ethernet4",
            "spine-1/Ethernet4 > leaf-1.dc.example/Ethernet0",
        )
        assert ids(both) == ["leaf-1/Ethernet0--spine-1/Ethernet4"]
        assert doubts(both) == []

    def test_two_domains_with_one_short_name_stay_two_devices(self) -> None:
        heard = found("a/1 > spine.x/1", "a/2 > spine.y/1", "spine/7 > b/1")
        assert "a/1--spine.x/1" in ids(heard)
        assert "a/2--spine.y/1" in ids(heard)

    def test_a_port_that_hears_itself_is_told_of_and_no_link(self) -> None:
        alone = found("a/1 > a/1")
        assert ids(alone) == []
        assert doubts(alone) == [("loop", "a/1")]

    def test_a_port_that_thousands_face_is_one_doubt_of_few_words(self) -> None:
        crowd = found(*(f"a/1 > host-{n}/eth0" for n in range(3000)))
        assert ids(crowd) == []
        (doubt,) = [one for one in crowd.doubts if one.kind == "contradiction"]
        assert str(doubt.about) == "a/1"
        assert doubt.says.endswith("and 2997 more")
        assert len(doubt.says) < 200

    def test_a_strange_name_is_made_one_that_may_stand_in_a_link(self) -> None:
        discovery = Discovery(Topology())
        discovery.hear([Neighbor("a", "1", "rack 7/leaf--2", "et--1", "lldp")], NOW)
        assert ids(discovery.found(NOW)) == ["a/1--rack 7_leaf_2/et_1"]


class TestOwnNames:
    """A fabric's tools know ports by GUIDs, their hosts by names; the uid is the same."""

    FABRIC, HOST, UID = Port("0xc1", "1"), Port("host-1", "mlx5_0/1"), "0xC1:1"

    def test_a_port_is_called_as_its_own_system_calls_it(self) -> None:
        facts = {self.FABRIC: PortSaid(uid=self.UID), self.HOST: PortSaid(uid=self.UID.lower())}
        assert own_names(facts) == {self.FABRIC: self.HOST}
        discovery = Discovery(Topology())
        discovery.hear(said("0xa1/7 > 0xc1/1", "0xc1/1 > 0xa1/7", via="ibnetdiscover"), NOW)
        assert ids(discovery.found(NOW, own_names(facts))) == ["0xa1/7--host-1/mlx5_0/1"]

    def test_one_identity_at_two_ports_of_a_name_each_names_none(self) -> None:
        facts = {port: PortSaid(uid="x") for port in (Port("a", "1"), Port("b", "1"), self.FABRIC)}
        assert own_names(facts) == {}


class TestTime:
    def test_a_link_of_which_nobody_speaks_any_more_is_kept_as_stale(self) -> None:
        discovery = Discovery(Topology())
        discovery.hear(said("a/1 > b/1", "a/2 > b/2"), NOW)
        assert discovery.hear(said("a/2 > b/2"), NOW + 30)
        later = discovery.found(NOW + 30)
        assert {link.id: link.stale for link in later.links} == {
            "a/1--b/1": True,
            "a/2--b/2": False,
        }

    def test_what_one_end_drops_is_stale_until_the_other_repeats_it(self) -> None:
        discovery = Discovery(Topology())
        discovery.hear(said("b/1 > a/1"), NOW)
        discovery.hear(said("a/1 > b/1", "a/2 > c/1"), NOW)
        discovery.hear(said("a/2 > c/1"), NOW + 30)
        states = [{link.id: link.stale for link in discovery.found(NOW + 30).links}]
        discovery.hear(said("b/1 > a/1"), NOW + 31)
        states += [{link.id: link.stale for link in discovery.found(NOW + 31).links}]
        assert [state["a/1--b/1"] for state in states] == [True, False]

    def test_an_answer_without_any_neighbor_says_nothing(self) -> None:
        discovery = Discovery(Topology())
        discovery.hear(said("a/1 > b/1"), NOW)
        assert not discovery.hear([], NOW + 30)
        assert not discovery.found(NOW + 30).links[0].stale

    def test_what_nobody_repeats_is_stale_in_time_and_forgotten_in_the_end(self) -> None:
        discovery = Discovery(Topology())
        discovery.hear(said("a/1 > b/1"), NOW)
        assert discovery.found(NOW + STALE_AFTER + 1).links[0].stale
        assert discovery.found(NOW + KEPT + 1).links == ()

    def test_a_cable_that_moved_leaves_its_old_place(self) -> None:
        discovery = Discovery(Topology())
        discovery.hear(said("a/1 > b/1", "a/9 > c/1"), NOW)
        discovery.hear(said("a/2 > b/1", "a/9 > c/1"), NOW + 30)
        later = discovery.found(NOW + 30)
        assert ids(later) == ["a/2--b/1", "a/9--c/1"]
        assert ("moved", "b/1") in doubts(later)

    def test_a_port_that_says_something_else_is_believed_at_once(self) -> None:
        discovery = Discovery(Topology())
        discovery.hear(said("a/1 > b/1"), NOW)
        discovery.hear(said("a/1 > c/1"), NOW + 30)
        assert ids(discovery.found(NOW + 30)) == ["a/1--c/1"]

    def test_what_a_record_holds_no_more_is_no_link(self) -> None:
        discovery = Discovery(Topology())
        discovery.hear(said("a/1 > b/1", "a/2 > b/2", via="netbox"), NOW)
        discovery.hear(said("a/1 > b/1", via="netbox"), NOW + 30)
        assert ids(discovery.found(NOW + 30)) == ["a/1--b/1"]

    def test_a_restart_forgets_no_link(self) -> None:
        discovery, other = Discovery(Topology()), Discovery(Topology())
        discovery.hear(said("a/1 > b/1", "b/1 > a/1", "a/2 > c"), NOW)
        other.remember([*discovery.memory(), ["spoiled"], None, [1, 2, 3, 4, 5, 6]])
        again = other.found(NOW + 1)
        assert ids(again) == ids(discovery.found(NOW))
        assert again.links[0].stale  # until it is heard again

    def test_other_written_names_are_taken_up(self) -> None:
        discovery = Discovery(Topology())
        discovery.hear(said("a/1 > 02:00:00:00:00:01/etp1"), NOW)
        assert ids(discovery.under(Topology([LEAF])).found(NOW)) == ["a/1--leaf-01/Ethernet0"]


PORTS = st.builds("{}/{}".format, st.sampled_from("abcd"), st.sampled_from("123"))
ROWS = st.lists(st.builds("{} > {}".format, PORTS, PORTS | st.sampled_from("abcd")), max_size=10)


@given(polls=st.lists(st.tuples(ROWS, st.sampled_from(["lldp", "netbox", "ufm"])), max_size=4))
def test_whatever_is_claimed_no_port_is_ever_in_two_links(
    polls: list[tuple[list[str], str]],
) -> None:
    written = Topology(
        [Device(name=name, role="switch") for name in "ab"], [Link(a="a/1", b="b/1")]
    )
    discovery = Discovery(written)
    for number, (rows, via) in enumerate(polls):
        discovery.hear(said(*rows, via=via), NOW + 30 * number)
    seen = discovery.found(NOW + 100)
    whole = completed(written, seen, {})
    assert written.links.items() <= whole.links.items()
    ends = Counter(end for link in whole.links.values() for end in link.ends)
    assert set(ends.values()) <= {1}
    assert {end.device for end in ends} <= set(whole.devices)
    claimed = {link_id(claim.here, claim.there) for claim in seen.claims if claim.there is not None}
    for link in seen.links:
        assert link.id in claimed


WRITTEN = Topology(
    [LEAF, Device(name="host-1", role="host"), Device(name="host-2", role="host")],
    [
        Link(
            a="leaf-01/Ethernet0", b="host-1/eth0", speed_gbps=400, lanes=4, fec="rs544",
            length_m=30, medium="optical", module_a=Module(vendor="V", serial="S1", lot="7"),
        ),
        Link(a="leaf-01/Ethernet8", b="host-2/eth0"),
    ],
)  # fmt: skip

BOTH = ("leaf-01/Ethernet0 > host-1/eth0", "host-1/eth0 > leaf-01/Ethernet0")
OTHER = ("leaf-01/Ethernet8 > host-2/eth0", "host-2/eth0 > leaf-01/Ethernet8")


def differs(*rows: str, facts: dict[Port, PortSaid] | None = None) -> list[tuple[str, str]]:
    heard = found(*rows, written=WRITTEN)
    return [(one.kind, one.about) for one in differences(WRITTEN, heard, facts or {})]


class TestDifferences:
    def test_there_are_none_where_all_is_as_it_is_written(self) -> None:
        assert differs(*BOTH, *OTHER) == []

    def test_what_nobody_looked_at_is_none(self) -> None:
        assert differs() == []

    def test_a_written_link_that_nobody_hears_of_is_missing(self) -> None:
        assert differs(*BOTH) == [("missing", "host-2/eth0--leaf-01/Ethernet8")]

    def test_a_cable_to_another_port_is_told_at_both_places(self) -> None:
        kinds = differs(*BOTH, "leaf-01/Ethernet8 > host-2/eth1", "host-2/eth1 > leaf-01/Ethernet8")
        assert ("other_far_end", "leaf-01/Ethernet8") in kinds

    def test_a_link_that_is_not_written_is_extra(self) -> None:
        kinds = differs(*BOTH, *OTHER, "leaf-01/Ethernet16 > x/1", "x/1 > leaf-01/Ethernet16")
        assert kinds == [("extra", "leaf-01/Ethernet16--x/1")]

    @pytest.mark.parametrize(
        ("said", "kind"),
        [
            pytest.param(PortSaid(speed_gbps=200.0), "speed", id="slower"),
            pytest.param(PortSaid(lanes=2), "lanes", id="narrower"),
            pytest.param(PortSaid(fec="rs528"), "fec", id="other FEC"),
            pytest.param(PortSaid(technology="ib"), "technology", id="InfiniBand"),
            pytest.param(PortSaid(medium="dac"), "medium", id="copper"),
            pytest.param(PortSaid(length_m=50.0), "length", id="longer"),
            pytest.param(PortSaid(module=Module(serial="S2")), "module", id="replaced module"),
        ],
    )
    def test_what_the_device_says_otherwise_is_told(self, said: PortSaid, kind: str) -> None:
        port = Port("leaf-01", "Ethernet0")
        assert (kind, str(port)) in differs(*BOTH, *OTHER, facts={port: said})

    def test_the_same_in_other_words_is_no_difference(self) -> None:
        alike = PortSaid(
            400.0, 4, "rs544", "roce", "optical", "switch", "", 30.2, Module(vendor="v ")
        )
        assert differs(*BOTH, *OTHER, facts={Port("leaf-01", "Ethernet0"): alike}) == []

    def test_ends_of_unequal_speed_are_told(self) -> None:
        facts = {
            Port("leaf-01", "Ethernet8"): PortSaid(speed_gbps=400.0),
            Port("host-2", "eth0"): PortSaid(speed_gbps=200.0),
        }
        kinds = differs(*BOTH, *OTHER, facts=facts)
        assert kinds == [("ends_differ", "host-2/eth0--leaf-01/Ethernet8")]


FACTS = {
    Port("leaf-01", "Ethernet0"): PortSaid(
        200.0, 2, "rs528", "ib", "dac", "", "", 99.0, Module(serial="S2", firmware="9")
    ),
    Port("x", "1"): PortSaid(100.0, technology="ub", length_m=3.0, medium="unheard of"),
}
HEARD = found(*BOTH, "leaf-01/Ethernet16 > x/1", written=WRITTEN)


class TestMerging:
    def test_what_is_judged_by_keeps_what_is_written(self) -> None:
        whole = completed(WRITTEN, HEARD, FACTS)
        assert WRITTEN.links.items() <= whole.links.items()
        assert WRITTEN.devices.items() <= whole.devices.items()
        (fresh,) = whole.links.keys() - WRITTEN.links.keys()
        assert whole.links[fresh].technology == "ub"
        assert whole.links[fresh].length_m == 3.0
        assert whole.links[fresh].speed_gbps is None
        assert whole.devices["x"].role == "switch"

    def test_what_is_shown_has_the_devices_word_where_it_knows_better(self) -> None:
        shown = updated(completed(WRITTEN, HEARD, FACTS), FACTS)
        link = shown.links[link_id("leaf-01/Ethernet0", "host-1/eth0")]
        assert (link.speed_gbps, link.lanes, link.fec) == (200.0, 2, "rs528")
        assert (link.technology, link.medium, link.length_m) == ("roce", "optical", 30)
        module = Module(vendor="V", serial="S2", lot="7", firmware="9")
        assert link.module_a == module

    def test_what_is_printed_reads_back_as_it_was(self, tmp_path: Path) -> None:
        shown = updated(completed(WRITTEN, HEARD, FACTS), FACTS)
        file = tmp_path / "topology.yaml"
        file.write_text(text_of(shown, {"x": "not\nwritten"}), encoding="utf-8")
        assert read(file).same_as(shown)

    @pytest.mark.parametrize(
        ("port", "role"),
        [("eth0", "host"), ("mlx5_0/1", "host"), ("Ethernet0", "switch"), ("swp1s0", "switch")],
    )
    def test_a_stranger_is_taken_for_what_it_names_its_ports_like(
        self, port: str, role: str
    ) -> None:
        heard = found(f"leaf-01/Ethernet16 > x/{port}", written=WRITTEN)
        assert completed(WRITTEN, heard, {}).devices["x"].role == role


@given(
    names=st.lists(
        st.text(min_size=1, max_size=8).map(lambda text: text.replace("/", "").replace("--", ""))
        .filter(lambda text: bool(text.strip()) and "--" not in text and text.isprintable()),
        min_size=2, max_size=2, unique_by=str.casefold,
    ),
    lot=st.text(max_size=6).filter(str.isprintable),
)  # fmt: skip
def test_any_name_reads_back(
    names: list[str], lot: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    one, other = names
    link = Link(a=f"{one}/1", b=f"{other}/1", module_a=Module(lot=lot))
    shown = Topology([Device(name=name, role="host") for name in names], [link])
    file = tmp_path_factory.mktemp("any") / "topology.yaml"
    file.write_text(text_of(shown), encoding="utf-8")
    assert read(file).same_as(shown)


WORDS = st.text(st.characters() | st.sampled_from("aA1-/ .:#'\n\t"), max_size=6)


@given(
    heard=st.lists(
        st.builds(Neighbor, WORDS, WORDS, WORDS, WORDS, st.sampled_from(["lldp", "ufm", "netbox"])),
        max_size=6,
    ),
    words=WORDS,
)
def test_whatever_names_are_heard_the_topology_reads_back(
    heard: list[Neighbor], words: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    discovery = Discovery(WRITTEN)
    discovery.hear(heard, NOW)
    seen = discovery.found(NOW)
    facts = {
        end: PortSaid(100.0, 4, words, words, words, words, words, 1.0, Module(lot=words))
        for link in seen.links
        for end in link.ends
    }
    for one in differences(WRITTEN, seen, facts):
        assert str(one).isprintable()
    shown = updated(completed(WRITTEN, seen, facts), facts)
    file = tmp_path_factory.mktemp("heard") / "topology.yaml"
    file.write_text(text_of(shown), encoding="utf-8")
    assert read(file).same_as(shown)
