"""Drivers' own statistics: names as each driver writes them, matched to the catalogue."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.host.statistics import StatisticsLayout
from collectors.maps.driver_statistics import DRIVERS, chosen
from fabrichealth.catalogue.congestion import PFC_RX_DROPPED_PACKETS, PFC_RX_FRAMES, PFC_RX_PAUSE
from fabrichealth.catalogue.ports import (
    FEC_CORRECTED_SYMBOLS,
    LANE_ERRORS,
    RX_BYTES,
    RX_DISCARDS,
    SYMBOL_ERRORS,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, SeriesTable


def read(values: dict[str, int], driver: str = "") -> dict[tuple[Metric, Labels], float]:
    """Return what is made of statistics, by metric and labels after device and port."""
    table = SeriesTable()
    layout = StatisticsLayout(table, "host-001", "eth0", tuple(values), driver)
    numbers = layout.values(np.array(list(values.values()), np.uint64))
    return {
        (table.metric(int(series)), table.labels(int(series))[2:]): float(value)
        for series, value in zip(layout.series, numbers, strict=True)
    }


@pytest.mark.parametrize(
    ("driver", "frames", "pause"),
    [
        ("mlx5_core", "rx_prio3_pause", "rx_prio3_pause_duration"),
        ("bnxt_en", "rx_pfc_ena_frames_pri3", "pfc_pri3_rx_duration_us"),
        ("ice", "rx_priority_3_xoff.nic", ""),
        ("ice", "port-rx-xoff_prio-3_events", ""),
        ("i40e", "port.rx_priority_3_xoff", ""),
        ("hns3", "mac_rx_pfc_pri3_pkt_num", ""),
    ],
)
@pytest.mark.parametrize("told", [True, False], ids=["driver known", "driver told by its names"])
def test_pause_is_counted_by_priority(driver: str, frames: str, pause: str, told: bool) -> None:
    found = read({"other": 1, frames: 40, **({pause: 2_500_000} if pause else {})}, driver * told)
    assert found[PFC_RX_FRAMES, ("3",)] == 40
    assert found.get((PFC_RX_PAUSE, ("3",))) == (pytest.approx(2.5) if pause else None)


def test_a_name_is_matched_as_it_stands() -> None:
    found = read({"port.rx_dropped": 31755, "port-rx-dropped": 5}, "i40e")
    assert found == {(RX_DISCARDS, ()): 31755}


def test_the_physical_port_is_believed_over_the_kernel_s_own_count() -> None:
    found = read({"rx_bytes": 10, "rx_bytes_phy": 99}, "mlx5_core")
    assert found[RX_BYTES, ()] == 99
    assert read({"rx_bytes": 10}, "mlx5_core")[RX_BYTES, ()] == 10


def test_errors_that_fec_left_come_before_those_of_the_mac() -> None:
    both = {"rx_symbol_err_phy": 7, "rx_pcs_symbol_err_phy": 3}
    assert read(both, "mlx5_core")[SYMBOL_ERRORS, ()] == 3


def test_lanes_are_counted_from_one() -> None:
    found = read({"rx_err_lane_0_phy": 5, "rx_err_lane_3_phy": 6}, "mlx5_core")
    assert found == {(LANE_ERRORS, ("1",)): 5, (LANE_ERRORS, ("4",)): 6}


def test_several_names_of_one_total_are_added_up() -> None:
    lanes = {f"fec_corrected_symbols_lane{lane}": 10 + lane for lane in range(4)}
    assert read(lanes, "sfc")[FEC_CORRECTED_SYMBOLS, ()] == 46


def test_drops_count_as_lossless_only_where_pfc_is_on() -> None:
    values = {"rx_prio3_discards": 8, "rx_prio4_discards": 9, "rx_prio3_pause": 0}
    found = read(values, "mlx5_core")
    assert found[PFC_RX_DROPPED_PACKETS, ("3",)] == 8
    assert (PFC_RX_DROPPED_PACKETS, ("4",)) not in found


def test_a_name_that_stands_twice_is_not_taken() -> None:
    assert chosen(["rx_bytes_phy", "rx_bytes_phy", "tx_bytes_phy"], "mlx5_core")[0].place == 2


def test_counters_of_64_bits_are_exact_to_2_to_the_53() -> None:
    assert read({"rx_bytes_phy": 2**53 - 1}, "mlx5_core")[RX_BYTES, ()] == 2**53 - 1
    assert read({"rx_bytes_phy": 2**64 - 1}, "mlx5_core")[RX_BYTES, ()] == 2.0**64


@given(st.lists(st.text(max_size=12), max_size=8), st.sampled_from(["", *DRIVERS, "unheard_of"]))
def test_any_names_give_series_that_are_distinct(names: list[str], driver: str) -> None:
    table = SeriesTable()
    layout = StatisticsLayout(table, "host-001", "eth0", names, driver)
    values = layout.values(np.arange(len(names), dtype=np.uint64))
    assert len(values) == len(layout.series) == len(set(layout.series.tolist()))
