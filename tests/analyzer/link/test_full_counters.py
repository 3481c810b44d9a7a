"""A counter that stands at its end tells nothing more, least of all that all is well."""

import numpy as np
import pytest

from analyzer.judge import detectors
from analyzer.replaying import Replay
from fabrichealth.catalogue.ports import SPEED, SYMBOL_ERRORS, UP
from fabrichealth.model import Incident
from tests.analyzer.views import History, small_pod, store_of

PORT = ("host-0", "eth0")


def replayed(errors: list[float], up: list[float] | None = None) -> Incident:
    polls = len(errors)
    history: History = {
        (SPEED, PORT): [4e11] * polls,
        (UP, PORT): up or [1.0] * polls,
        (SYMBOL_ERRORS, PORT): errors,
    }
    chosen = {"link_subhealthy": detectors()["link_subhealthy"]}
    (incident,) = Replay(store_of(history, 120.0), small_pod(), chosen, every=120.0).run()
    return incident


RISING = np.minimum(np.arange(200.0) * 2500.0, 65_535.0).tolist()


def test_what_was_ill_when_its_counter_filled_up_stays_so_and_says_why() -> None:
    incident = replayed(RISING)
    assert incident.closed_at is None
    assert "counter is full" in incident.because


@pytest.mark.parametrize("witness", ["cleared", "came up anew", "stopped short of its end"])
def test_it_closes_once_the_counter_or_the_link_begins_anew(witness: str) -> None:
    errors, up = list(RISING), [1.0] * 200
    if witness == "cleared":
        errors[60:] = [0.0] * 140
    elif witness == "came up anew":
        up[60:63] = [0.0] * 3
    else:
        errors = np.minimum(errors, 65_000.0).tolist()
    assert replayed(errors, up).closed_at is not None
