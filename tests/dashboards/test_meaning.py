"""Labels and unit of a query's answer follow from the catalogue."""

import pytest

from dashboards.board import Query, Question
from fabrichealth.catalogue.accelerators import POWER, TEMPERATURE
from fabrichealth.catalogue.congestion import PFC_RX_PAUSE
from fabrichealth.catalogue.cooling import FLOW
from fabrichealth.catalogue.optics import RX_POWER
from fabrichealth.catalogue.ports import PORT_INFO, RX_BYTES, SPEED, SYMBOL_ERRORS, UP
from fabrichealth.catalogue.power import FEED_CURRENT, FEED_POWER, FEED_VOLTAGE
from fabrichealth.catalogue.verdicts import (
    INCIDENT_INFO,
    LINK_HEALTH,
    RECOVERY_BUCKET,
    RECOVERY_COUNT,
)
from fabrichealth.catalogue.watchers import LAST_SUCCESS, POLL_SECONDS

UNITS = {
    str(TEMPERATURE): "celsius",
    str(FLOW): "flowlpm",
    f"rate({RX_BYTES}[5m])": "Bps",
    f"8 * rate({RX_BYTES}[5m])": "bps",
    f"rate({RX_BYTES}[5m]) * 8 / on (device, port) {SPEED}": "percentunit",
    f"increase({RX_BYTES}[1h])": "bytes",
    f"rate({SYMBOL_ERRORS}[5m])": "cps",
    f"increase({SYMBOL_ERRORS}[1h])": "short",
    f"topk(10, sum by (device) (rate({PFC_RX_PAUSE}[5m])))": "percentunit",
    f"{FEED_VOLTAGE} * {FEED_CURRENT}": "watt",
    f"{FEED_POWER} / on (rack, feed) ({FEED_VOLTAGE} * {FEED_CURRENT}) - 1": "percentunit",
    f"{RX_POWER} - {RX_POWER} offset 7d": "dB",
    f"time() - {LAST_SUCCESS}": "s",
    f"{POLL_SECONDS} / 86400": "d",
    f"count({UP} == 0) or vector(0)": "short",
    f"histogram_quantile(0.5, sum by (le) (rate({RECOVERY_BUCKET}[1d])))": "s",
    f"increase({RECOVERY_COUNT}[1d])": "short",
    f"avg_over_time({LINK_HEALTH}[1h])": "percentunit",
    f"-{TEMPERATURE}": "celsius",
    f"{RX_BYTES} * on (device, port) group_left (domain) {PORT_INFO}": "bytes",
}


@pytest.mark.parametrize(("query", "unit"), UNITS.items(), ids=UNITS)
def test_a_unit_follows_from_the_catalogue(query: str, unit: str) -> None:
    assert Query(query).meaning.unit == unit


LABELS = {
    str(UP): {"device", "port"},
    f"sum by (device) (rate({RX_BYTES}[5m]))": {"device"},
    f"max without (lane) ({RX_POWER})": {"device", "port"},
    f"topk(5, {UP})": {"device", "port"},
    f"{UP} * on (device, port) group_left (domain) {PORT_INFO}": {"device", "port", "domain"},
    f"{UP} unless on (device) {TEMPERATURE}": {"device", "port"},
    f"sum({UP})": set(),
    f"histogram_quantile(0.9, sum by (phase, le) (rate({RECOVERY_BUCKET}[1d])))": {"phase"},
    f'label_replace(max by (culprit) ({INCIDENT_INFO}), "loop", "$1", "culprit", "(.+)")': {
        "culprit",
        "loop",
    },
    f"{FEED_CURRENT} / ignoring (phase) group_left () {FEED_POWER}": {"rack", "feed", "phase"},
    f"{RX_BYTES} / on (device) {TEMPERATURE}": {"device"},
}


@pytest.mark.parametrize(("query", "labels"), LABELS.items(), ids=LABELS)
def test_labels_follow_from_the_catalogue(query: str, labels: set[str]) -> None:
    assert Query(query).meaning.labels == labels


def test_a_panel_whose_unit_has_no_name_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="no unit of Grafana's"):
        Question("Contact", [Query(f"{TEMPERATURE} / {POWER}")], "About.")
    assert Question("Contact", [Query(f"{TEMPERATURE} / {POWER}")], "About.", unit="none")


def test_a_panel_of_a_metric_that_nobody_exports_cannot_be_built() -> None:
    with pytest.raises(KeyError, match="fabric_port_xmit_total is not in the catalogue"):
        Question("Sent", [Query("rate(fabric_port_xmit_total[5m])")], "About.")


def test_a_panel_that_is_no_promql_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="expected type matrix"):
        Question("Sent", [Query(f"rate({RX_BYTES})")], "About.")
