"""Built: what ports were built for, from what is written of a cable and said by its ends."""

from dataclasses import dataclass, replace
from functools import lru_cache

from analyzer.evidence.link.fec import CODES, KP4, RATE_OF_CODE
from analyzer.evidence.link.limits import Facts, Limits, limits_of
from fabrichealth.topology import Device, Link

LENGTHS = (3.0, 30.0, 500.0)
"""Metres that part the classes of length: in the rack, in the row, in the hall, beyond."""

LANE_LINE_RATES = {10: 10.3125, 25: 25.78125, 50: 53.125, 100: 106.25, 200: 212.5}
"""Gb/s of one lane, coding included (IEEE 802.3, InfiniBand alike), by its payload rate."""

KIND_OF_LINK = ("technology", "speed", "code", "medium")
"""What a stratum ends with, after the roles and the length."""


@dataclass(frozen=True, eq=False, slots=True)
class Built:
    """What a port was built for."""

    payload: float
    """Written speed in bit/s; NaN where nothing is written."""
    line_over_payload: float
    word_bits: float
    """Bits of a codeword; those of KP4 where the code is not known."""
    limits: Limits | None
    facts: Facts
    stratum: tuple[str, ...]
    """Who its peers are: role, technology, speed, code, medium, length, role at the far end."""


def of_cable(link: Link, here: Device | None, there: Device | None, medium: str, fec: str) -> Built:
    """Return what a port of a cable was built for, with what it says of itself."""
    silicon = (here.silicon if here else "") or (there.silicon if there else "")
    speed, lanes = float(link.speed_gbps or 0.0), int(link.lanes or 0)
    facts = facts_of(link, silicon, fec, medium)
    roles = (here.role if here else "", there.role if there else "", _length(link))
    return worked_out(facts, speed or float("nan"), link.line_rate_gbps or 0.0, lanes, roles)


def facts_of(link: Link, silicon: str, fec: str = "", medium: str = "") -> Facts:
    """Return what is known of a link: as written, and the code and medium that a port says."""
    lane = (link.speed_gbps or 0.0) / link.lanes if link.lanes else 0.0
    retry = link.plr if "plr" in link.model_fields_set else None
    return Facts(
        link.technology, link.generation, silicon, lane, fec or link.fec, retry,
        link.medium or medium,
    )  # fmt: skip


@lru_cache(maxsize=4096)
def worked_out(
    facts: Facts, speed: float, line_rate: float, lanes: int, roles: tuple[str, ...]
) -> Built:
    """Return what all ports with the same facts have in common."""
    factor = 1.0
    if line_rate and speed > 0:
        factor = line_rate / speed
    elif lanes and round(facts.lane_gbps) in LANE_LINE_RATES and facts.technology != "pcie":
        factor = LANE_LINE_RATES[round(facts.lane_gbps)] / facts.lane_gbps
    elif facts.fec in RATE_OF_CODE:
        factor = RATE_OF_CODE[facts.fec]
    code = CODES.get(facts.fec, KP4)
    stratum = (*roles, facts.technology, f"{speed:g}", facts.fec, facts.medium)
    return Built(speed * 1e9, factor, float(code.bits), limits_of(facts), facts, stratum)


def _length(link: Link) -> str:
    if link.length_m is None:
        return ""
    return str(sum(link.length_m > edge for edge in LENGTHS))


def with_lane(before: Built, gbps: float, lanes: int) -> Built:
    """Return the same of a port that told how many Gb/s each of its lanes carries."""
    facts = replace(before.facts, lane_gbps=gbps)
    roles = before.stratum[: -len(KIND_OF_LINK)]
    return worked_out(facts, before.payload / 1e9, 0.0, lanes, roles)
