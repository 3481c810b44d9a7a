"""One source lights several engines; a laser that fails is dark in each of them."""

import pytest

from emulator.laser_bank import LaserBank
from emulator.light import DARK_DBM
from emulator.modules.image import image
from emulator.optics import ModuleState


def bank(*, dead: int | None = None) -> LaserBank:
    """Return a bank that has lit two engines for a while; one laser may be dead."""
    wear = [60.0 if lane == dead else 0.0 for lane in range(8)]
    source = ModuleState("ELS1", 8, kind="els", wear_db=wear)
    made = LaserBank(source, [ModuleState(name, 16, kind="cpo") for name in ("E1", "E2")])
    for _ in range(100):
        made.shine(30.0)
    return made


def test_engines_of_a_healthy_source_are_as_bright_as_built() -> None:
    for engine in bank().engines:
        assert engine.tx_dbm == pytest.approx([engine.built.sent_dbm] * 16)


def test_a_dead_laser_takes_its_lanes_of_every_engine() -> None:
    lit = bank(dead=3)
    for engine in lit.engines:
        dark = [lane for lane, dbm in enumerate(engine.tx_dbm) if dbm == DARK_DBM]
        assert dark == [6, 7]
        assert [lit.laser_of(engine, lane) for lane in dark] == [3, 3]
        assert image(engine)["11"][135 - 128] == 0b1100_0000  # transmitters that fail
    assert image(lit.source)["1a"][166 - 128] == 0b1000  # and the laser that is to blame


def test_only_what_is_lit_from_elsewhere_can_be_fed() -> None:
    with pytest.raises(ValueError, match="dr4 has light of its own"):
        LaserBank(ModuleState("E", 8, kind="els"), [ModuleState("D")])
    with pytest.raises(ValueError, match="cpo has no lasers"):
        LaserBank(ModuleState("C", 16, kind="cpo"), [])
