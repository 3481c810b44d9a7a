"""Pages of exporters that once broke a tool of this kind, with names and numbers made up."""

import json
from pathlib import Path

import pytest

from collectors.source import Target
from collectors.sources.prom import Prom, PromSettings
from fabrichealth.catalogue import accelerators, devices, optics, ports
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Poll, Reason, SeriesTable
from tests.fixtures import readings

START = 1_770_000_000.0


class Exporter:
    """Reads what one exporter serves, poll by poll; `restart` is a new process of ours."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "page.prom"
        self.table = SeriesTable()
        self.source = self.started()

    def started(self) -> Prom:
        return Prom(PromSettings(), Target("n12", "prom"), self.table)

    def restart(self) -> None:
        kept = json.loads(json.dumps(self.source.memory()))
        self.source = self.started()
        self.source.remember(kept)

    def poll(self, page: str, at: float) -> Poll:
        self.file.write_text(page)
        return self.source.captured([self.file], at)

    def values(self, poll: Poll, metric: Metric) -> dict[Labels, float]:
        return readings(poll, self.table, metric)


@pytest.fixture
def exporter(tmp_path: Path) -> Exporter:
    return Exporter(tmp_path)


def test_c01_four_switches_under_one_name_are_none_of_them(exporter: Exporter) -> None:
    page = "".join(
        f'DCGM_FI_DEV_NVSWITCH_TEMP_CELSIUS{{nvswitch="nvswitch1",Hostname="n12"}} {celsius}\n'
        for celsius in (39, 44, 39, 91)
    ) + "".join(
        f'DCGM_FI_DEV_GPU_TEMP{{gpu="{gpu}",Hostname="n12"}} {celsius}\n'
        for gpu, celsius in ((4, 57), (5, 48))
    )
    poll = exporter.poll(page, START)
    gpus = exporter.values(poll, accelerators.TEMPERATURE)
    assert gpus == {("n12-4",): 57.0, ("n12-5",): 48.0}
    assert exporter.values(poll, devices.DEVICE_TEMPERATURE) == {}
    assert [(r.reason, r.raw) for r in poll.refused] == [
        (Reason.DUPLICATE, celsius) for celsius in (39.0, 44.0, 39.0, 91.0)
    ]
    assert poll.missing  # partial, not failed


def test_c02_impossible_utilisation_is_no_utilisation(exporter: Exporter) -> None:
    low, high = accelerators.UTILIZATION.valid
    kept, lost = [], 0
    for step, percent in enumerate((91, 4294967295, 93, 2890, 512000777, 92)):
        page = f'DCGM_FI_DEV_GPU_UTIL{{gpu="2",node="n12"}} {percent}\n'
        poll = exporter.poll(page, START + 60 * step)
        values = exporter.values(poll, accelerators.UTILIZATION).values()
        # What is left out of range here, the poller's intake refuses as implausible.
        kept += [value for value in values if low <= value <= high]
        lost += sum(low <= value <= high for value in values) == 0
    assert kept == [0.91, 0.93, 0.92]
    assert lost == 3


def test_c03_a_sticky_last_code_is_one_event_over_a_restart(exporter: Exporter) -> None:
    events, counts = [], []
    for step, code in enumerate((0, 0, 43, 43, 43, 43, 0, 43)):
        if step == 4:
            exporter.restart()
        page = f'DCGM_FI_DEV_XID_ERRORS{{gpu="6",node="n12"}} {code}\n'
        poll = exporter.poll(page, START + 60 * step)
        events += [(event.at, event.scope["device"], event.more["code"]) for event in poll.events]
        counts.append(exporter.values(poll, accelerators.ERRORS)["n12-6", "xid:43"])
    # The second is proven only because the gauge went back in between.
    assert events == [(START + 120, "n12-6", "xid:43"), (START + 420, "n12-6", "xid:43")]
    assert counts == [0, 0, 1, 1, 1, 1, 1, 2]


def test_c03_every_code_of_the_table_starts_at_zero(exporter: Exporter) -> None:
    poll = exporter.poll('DCGM_FI_DEV_XID_ERRORS{gpu="6",node="n12"} 79\n', START)
    counts = exporter.values(poll, accelerators.ERRORS)
    assert set(counts.values()) == {0.0}
    assert {("n12-6", f"xid:{code}") for code in (13, 48, 74, 79, 95, 119, 144)} <= counts.keys()
    assert not poll.events


def test_c04_odd_text_is_read_and_one_broken_line_costs_itself(exporter: Exporter) -> None:
    page = (
        'site_info{rack="row 3, \\"south\\" {B}",path="ib\\\\y0",note="first\\nsecond",} 1\n'
        'fabric_optics_rx_power_dbm{device="d",port="p1",lane="1"} NaN\n'
        'fabric_port_post_fec_bit_error_ratio{device="d",port="p1"} NaN\n'
        f'fabric_port_up {{device="d",port="p,1={{}}"}}   1   {int(START * 1000) - 2000}\n'
        'fabric_port_up{device="d",port="p2} 1\n'
        'fabric_port_lanes{device="d",port="p3"} 4.0e+00\n'
    )
    poll = exporter.poll(page, START)
    assert exporter.values(poll, ports.UP) == {("d", "p,1={}"): 1.0}
    assert exporter.values(poll, ports.LANES) == {("d", "p3"): 4.0}
    assert {batch.at for batch in poll.batches} == {START - 2, START}
    assert poll.readings == 2
    assert [(r.reason, r.what) for r in poll.refused] == [(Reason.MALFORMED, "line 5")]


def npu(at: float, crc: int, bandwidth: float) -> str:
    """Return a page of four NPUs: one well, one unread, one without module, one long silent."""
    ms = int(at * 1000) - 3000
    return (
        f'npu_chip_optical_state{{id="4"}} 1 {ms}\nnpu_chip_optical_temp{{id="4"}} 51 {ms}\n'
        f'npu_chip_optical_state{{id="5"}} -1 {ms}\nnpu_chip_optical_temp{{id="5"}} -1 {ms}\n'
        f'npu_chip_optical_state{{id="6"}} 0 {ms}\nnpu_chip_optical_temp{{id="6"}} 0 {ms}\n'
        f'npu_chip_info_network_status{{id="5"}} -1 {ms}\n'
        f'npu_chip_info_network_status{{id="7"}} 0 {int(START * 1000) - 1_600_000}\n'
        f'npu_chip_info_hccs_statistic_info_crc_err_cnt_3{{id="4"}} {crc} {ms}\n'
        f'npu_chip_info_hccs_bandwidth_info_total_rx{{id="4"}} {bandwidth} {ms}\n'
    )


def test_c05_minus_one_is_no_value_and_an_old_one_is_no_news(exporter: Exporter) -> None:
    counts, rates = [], []
    for step, (crc, bandwidth) in enumerate(((700, 81.5), (-1, -1), (704, 80.25))):
        at = START + 30 * step
        poll = exporter.poll(npu(at, crc, bandwidth), at)
        assert exporter.values(poll, optics.TEMPERATURE) == {("n12-4", "roce/0"): 51.0}
        assert exporter.values(poll, ports.NETWORK_HEALTHY) == {}
        counts.append(exporter.values(poll, ports.RX_CRC_ERRORS).get(("n12-4", "hccs/3")))
        rates.append(exporter.values(poll, ports.RX_BYTES_PER_SECOND).get(("n12-4", "hccs")))
        reasons = [refused.reason for refused in poll.refused]
        assert reasons.count(Reason.STALE) == 1
        assert reasons.count(Reason.FAILED) == (5 if step == 1 else 3)
    assert counts == [700.0, None, 704.0]
    assert rates == [81.5e9, None, 80.25e9]
