"""Who counts among those that idle: cards that do not count their use, new ones, former names."""

import numpy as np

from fabrichealth.catalogue.accelerators import POWER, UTILIZATION
from tests.analyzer.domain.pods import POLLS, busy, each, names, pod, said

EVERY = names()


def test_cards_without_a_counter_of_use_are_neither_idle_nor_silent() -> None:
    power = each(POWER, EVERY, 600.0)  # as of cards that are cut in slices
    assert said("domain_hidden_idle", busy(EVERY[:20]), power) == []
    (finding,) = said(
        "domain_hidden_idle", busy(EVERY[:16]), each(UTILIZATION, EVERY[16:24], 0.0), power
    )
    assert "8 of 24 accelerators (8 more do not say how busy they are) idle" in finding.because


def test_cards_that_have_just_begun_to_speak_did_not_idle_all_along() -> None:
    fresh = np.where(np.arange(POLLS) < POLLS - 4, np.nan, 0.9)
    assert said("domain_hidden_idle", busy(EVERY[:20]), each(UTILIZATION, EVERY[20:],
                lambda _: fresh)) == []  # fmt: skip


def test_a_former_name_of_an_accelerator_is_no_accelerator_that_is_silent() -> None:
    once = np.where(np.arange(POLLS) < 1, 0.9, np.nan)
    parts = busy(EVERY), each(UTILIZATION, [f"host-7-{n}" for n in range(10, 22)], lambda _: once)
    (finding,) = said("domain_hidden_idle", *parts)
    assert "12 of 44 accelerators idle all along (12 silent)" in finding.because
    assert said("domain_hidden_idle", *parts, topology=pod(declared=32)) == []
