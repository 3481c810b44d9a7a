"""Where the rows of a profile's tables stand: facts of a row, and the series that a reading is.

A number is unique within what holds it: outlet 5 of the first unit is `5`, of the second `2.5`.
Inlets that have a name of their own (I1, AA) go by that in a topology too.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from collectors.maps.names import port_name
from collectors.maps.places import Places
from collectors.maps.snmp_profiles import DEFAULT_LABELS, Profile, Reading, filled
from fabrichealth.metric import Metric
from fabrichealth.model import Labels

HOLDERS = ("unit", "inlet")
"""What holds other things, from the outside."""

NUMBERED = ("inlet", "circuit", "outlet", "sensor")
"""What is counted within its holders."""

FIRST = "1"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: what its index and its columns say of it."""

    index: str
    facts: Mapping[str, str]


def applies(reading: Reading, row: Row) -> bool:
    """Return whether a reading is of a row."""
    return all(row.facts.get(fact, "") in texts for fact, texts in reading.where.items())


def series_of(
    profile: Profile, reading: Reading, row: Row, places: Places
) -> tuple[Metric, Labels]:
    """Return metric and labels of a reading of a row."""
    first = {"unit": str(profile.first_unit), "inlet": FIRST}
    facts = dict(row.facts)
    aliases = [facts["inlet_name"]] if facts.get("inlet_name") else []
    for name in NUMBERED:
        if name not in row.facts:
            continue
        holders = [one for one in HOLDERS if one in row.facts and one != name]
        if name == "inlet":
            unit = int(row.facts.get("unit", FIRST)) - profile.first_unit + 1
            aliases.append(f"{unit}.{row.facts[name]}")
        if any(row.facts[one] != first[one] for one in holders):
            facts[name] = ".".join(row.facts[one] for one in (*holders, name))
    metric = reading.to
    rack, feed = places.rack, ""
    if "feed" in metric.labels:
        rack, feed = places.feed(facts.get("inlet", FIRST), *aliases)
    own = {"device": places.device, "rack": rack, "feed": feed, "loop": places.loop}
    if "zone" not in reading.labels:
        own["zone"] = places.rack
    return metric, tuple(
        own[label] if label in own else _label(reading, label, facts) for label in metric.labels
    )


def _label(reading: Reading, label: str, facts: Mapping[str, str]) -> str:
    template = reading.labels.get(label, DEFAULT_LABELS.get(label, ""))
    return port_name(filled(template, facts))
