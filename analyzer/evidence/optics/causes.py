"""From what both modules of a link show to its causes and the ill side, by the one table."""

from collections.abc import Mapping

from analyzer.evidence.causes.signatures import kind_of_link
from analyzer.evidence.causes.weighing import Diagnosis, diagnose
from analyzer.evidence.optics.features import OpticsEvidence
from analyzer.evidence.optics.symptoms import light_signs
from fabrichealth.model import Port
from fabrichealth.topology import Link


def diagnose_light(
    link: Link | None,
    ends: Mapping[Port, OpticsEvidence | None],
    dim_banks: Mapping[Port, bool] | None = None,
) -> tuple[Diagnosis, dict[str, bool]]:
    """Return the diagnosis of a link by its modules alone, and the signs that it rests on.

    A module that says it is copper is believed before what is written.
    """
    signs = light_signs(ends, dim_banks)
    copper = any(one is not None and one.identity.copper for one in ends.values())
    medium, technology = (link.medium, link.technology) if link is not None else ("", "")
    return diagnose(signs, tuple(ends), kind_of_link(medium, technology, copper=copper)), signs
