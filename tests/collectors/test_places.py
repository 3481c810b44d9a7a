"""Names of racks, feeds and loops, by what is written and by the contract where nothing is."""

from collectors.maps.places import Places
from collectors.source import Target
from fabrichealth.topology import Device, Feed, Loop, Rack, Topology


def places(topology: Topology | None = None, **options: str) -> Places:
    return Places(Target("unit-7", "modbus", options=options, topology=topology or Topology()))


def meter(name: str, inlet: str, rack: str = "r01", device: str = "unit-7") -> Feed:
    return Feed(name=name, rack=rack, meter={"device": device, "inlet": inlet})


def test_where_nothing_says_the_device_gives_the_name() -> None:
    found = places()
    assert (found.rack, found.loop, found.facility) == ("unit-7", "unit-7", "unit-7-facility")
    assert found.feed("2") == ("unit-7", "unit-7/2")
    assert found.has_rack_alone


def test_the_targets_own_words_win() -> None:
    topology = Topology(devices=[Device(name="unit-7", role="pdu", rack="r01")])
    found = places(topology, rack="r09", loop="tcs-9", feed="r09-B")
    assert (found.rack, found.loop) == ("r09", "tcs-9")
    assert found.feed("1") == ("r09", "r09-B")
    assert found.feed("2") == ("r09", "unit-7/2")


def test_a_meter_may_be_written_by_any_name_of_its_inlet() -> None:
    found = places(Topology(feeds=[meter("r01-A", "I1"), meter("r02-B", "2.1", "r02")]))
    assert found.feed("1", "I1", "1.1") == ("r01", "r01-A")
    assert found.feed("2.1", "I2") == ("r02", "r02-B")


def test_a_rack_with_another_feed_is_not_the_devices_alone() -> None:
    both = [meter("r01-A", "1"), meter("r01-B", "2")]
    assert places(Topology(feeds=both)).has_rack_alone
    assert not places(Topology(feeds=[both[0], meter("r01-B", "1", device="b")])).has_rack_alone


def test_the_loop_of_a_cdu_is_the_one_that_is_nobodys_facility() -> None:
    topology = Topology(
        loops=[
            Loop(name="fws", device="unit-7", kind="facility"),
            Loop(name="tcs", device="unit-7", facility="fws"),
        ]
    )
    found = places(topology)
    assert (found.loop, found.facility) == ("tcs", "fws")


def test_a_pdu_speaks_of_the_loop_that_cools_its_rack() -> None:
    rack = Rack(name="r01", loop="tcs")
    devices = [Device(name="unit-7", role="pdu", rack="r01")]
    assert places(Topology(devices=devices, racks=[rack])).loop == "tcs"
    cooled = Loop(name="tcs-2", racks=("r01",))
    assert places(Topology(devices=devices, loops=[cooled])).loop == "tcs-2"
