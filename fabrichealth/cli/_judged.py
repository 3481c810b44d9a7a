"""What the judging process goes by: the validated site, as `run` wrote it into `state:`.

The files of the site are not read again when a judge is started again: somebody may be in the
middle of editing them, and an unfinished edit must not end judging.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import ValidationError

from analyzer.detector import Detector, DetectorSettings
from analyzer.incidents.lifecycle import Policy as JudgePolicy
from fabrichealth.cli._site import DETECTORS, Setup
from fabrichealth.config import Policy
from fabrichealth.errors import SiteError
from fabrichealth.plugins import item
from fabrichealth.store.engine import AnyEngine, engine, engine_type
from fabrichealth.topology import Topology
from fabrichealth.topology.contradictions import Written

log = logging.getLogger(__name__)


class Judged(NamedTuple):
    """What is judged, by which rules, and where its readings are."""

    topology: Topology
    detectors: dict[str, DetectorSettings]
    policy: Policy
    store: AnyEngine
    domains: tuple[str, ...]
    """Whose incidents are judged here; of every domain if none is named."""


def write(setup: Setup, path: Path) -> None:
    """Write what is judged by; if that fails, what was written before stays, and it is told."""
    topology, site = setup.topology, setup.site
    rows: dict[str, Mapping[str, Any]] = {
        "devices": topology.devices, "links": topology.links, "domains": topology.domains,
        "racks": topology.racks, "loops": topology.loops, "feeds": topology.feeds,
    }  # fmt: skip
    plain: dict[str, Any] = {
        "topology": {key: [_said(row) for row in known.values()] for key, known in rows.items()},
        "detectors": {name: _plain(section) for name, section in site.detectors.items()},
        "policy": _plain(site.policy),
        "store": _plain(site.store),
        "domains": setup.domains,
    }
    plain["topology"]["routing"] = [_said(route) for route in topology.routing]
    draft = path.with_suffix(".draft")
    try:
        draft.write_bytes(orjson.dumps(plain))
        draft.replace(path)
    except OSError as wrong:
        log.error("%s: cannot be written (%s); check state:", draft, wrong.strerror)


def read(path: Path) -> Judged:
    """Return what was written in the folder of a site's state.

    Raises:
        SiteError: the file cannot be read, or is of another version.
    """
    try:
        plain = orjson.loads(path.read_bytes())
        written = Written.model_validate(plain["topology"])
        sections = {
            name: item(DETECTORS, name, Detector).settings_type.model_validate(section)
            for name, section in plain["detectors"].items()
        }
        policy = Policy.model_validate(plain["policy"])
        section = engine_type(plain["store"]["kind"]).settings_type.model_validate(plain["store"])
        domains = tuple(map(str, plain["domains"]))
    except OSError as wrong:
        raise SiteError(f"{path}: cannot be read ({wrong.strerror}); check state:") from None
    except (ValidationError, ValueError, KeyError, TypeError, AttributeError):
        raise SiteError(f"{path}: not what run writes there; restart run") from None
    topology = Topology(
        written.devices, written.links, written.domains, written.racks,
        written.loops, written.feeds, written.routing,
    )  # fmt: skip
    return Judged(topology, sections, policy, engine(section, path.parent), domains)


def policy_of(policy: Policy) -> JudgePolicy:
    """Return what a site's policy says of incidents."""
    return JudgePolicy(
        policy.hold_down,
        policy.grace,
        policy.capacity_floor,
        policy.page_budget_per_week_per_10k_links,
        policy.pages_accepted_per_week_per_10k_links,
        policy.false_holds,
    )


def _plain(model: Any) -> dict[str, Any]:
    return dict(model.model_dump(mode="json", by_alias=True))


def _said(row: Any) -> dict[str, Any]:
    """Return what is written in a row and no more: a link's `plr` that nobody wrote is unknown."""
    return dict(row.model_dump(mode="json", by_alias=True, exclude_unset=True))
