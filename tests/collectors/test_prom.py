"""The prom source: names of other exporters become the catalogue's, and whose they are is right."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from collectors.maps.page_names import Template
from collectors.maps.page_rules import FOLDER, all_maps, read
from collectors.source import Target
from collectors.sources.prom import Prom, PromSettings
from fabrichealth.catalogue import accelerators, congestion, devices, optics, ports
from fabrichealth.errors import SiteError, SourceUnavailable
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Poll, Reason, SeriesTable
from fabrichealth.topology import Device, Topology
from tests.fixtures import readings

AT = 1_764_410_400.0
MS = 1_764_410_396_000
"""A time stamp of an exporter, four seconds before `AT`."""


class Seen:
    """A source and what it says of pages, one after the other."""

    def __init__(self, folder: Path, topology: Topology | None = None, **options: str) -> None:
        self.table = SeriesTable()
        self.folder = folder
        self.count = 0
        target = Target("host-7", "prom", "", "", options, topology or Topology())
        self.source = Prom(PromSettings(), target, self.table)

    def poll(self, page: str, at: float = AT) -> Poll:
        self.count += 1
        file = self.folder / f"{self.count}.prom"
        file.write_text(page)
        return self.source.captured([file], at)

    def of(self, metric: Metric, page: str, at: float = AT) -> dict[Labels, float]:
        return readings(self.poll(page, at), self.table, metric)


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


@pytest.mark.parametrize(
    ("line", "metric", "labels", "value"),
    [
        pytest.param(
            'DCGM_FI_DEV_GPU_UTIL{gpu="3",Hostname="h1"} 95',
            accelerators.UTILIZATION, ("h1-3",), 0.95, id="percent",
        ),
        pytest.param(
            'DCGM_FI_DEV_FB_USED{gpu="0",hostname="h1"} 2',
            accelerators.MEMORY_USED, ("h1-0",), 2_097_152.0, id="mebibytes, newer label",
        ),
        pytest.param(
            'DCGM_FI_DEV_SM_CLOCK{gpu="0"} 1980',
            accelerators.CLOCK, ("host-7-0",), 1.98e9, id="megahertz, no host label",
        ),
        pytest.param(
            'DCGM_FI_DEV_BOARD_POWER_WATTS{gpu="0"} 700.5',
            accelerators.POWER, ("host-7-0",), 700.5, id="a name of version 4.6",
        ),
        pytest.param(
            'DCGM_FI_DEV_NVSWITCH_TEMP_CELSIUS{nvswitch="nvswitch2",Hostname="h1"} 41',
            devices.DEVICE_TEMPERATURE, ("h1-nvswitch2", "chip"), 41.0, id="a switch",
        ),
        pytest.param(
            'DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L12{gpu="1"} 9',
            ports.RX_CRC_ERRORS, ("host-7-1", "nvlink/12"), 9.0, id="one link by its name",
        ),
        pytest.param(
            'DCGM_FI_DEV_NVLINK_COUNT_RX_BYTES{gpu="1",nvlink="5"} 150000000000000',
            ports.RX_BYTES, ("host-7-1", "nvlink/5"), 1.5e14, id="a counter beyond the blanks",
        ),
        pytest.param(
            'DCGM_FI_DEV_NVLINK_COUNT_RX_BYTES{gpu="1"} 4',
            ports.RX_BYTES, ("host-7-1", "nvlink"), 4.0, id="all links of a device",
        ),
        pytest.param(
            'DCGM_FI_DEV_PCIE_REPLAY_COUNTER{gpu="1",pci_bus_id="00000000:9B:00.0"} 4',
            ports.REPLAYS, ("host-7-1", "pcie/0000:9b:00.0"), 4.0, id="a PCI address",
        ),
        pytest.param(
            f'npu_chip_optical_rx_power_0{{id="2"}} 0.5 {MS}',
            optics.RX_POWER, ("host-7-2", "roce/0", "1"), -3.0103, id="milliwatts, lane from 1",
        ),
        pytest.param(
            f'npu_chip_optical_vcc{{id="2"}} 3262 {MS}',
            optics.SUPPLY, ("host-7-2", "roce/0"), 3.262, id="millivolts",
        ),
        pytest.param(
            f'npu_chip_info_hccs_statistic_info_crc_err_cnt_7{{id="2"}} 3 {MS}',
            ports.RX_CRC_ERRORS, ("host-7-2", "hccs/7"), 3.0, id="an HCCS link",
        ),
        pytest.param(
            f'npu_chip_info_bandwidth_rx_1_5{{id="2"}} 40 {MS}',
            ports.RX_BYTES_PER_SECOND, ("host-7-2", "ub/1/5"), 4e7, id="a UB port by its name",
        ),
        pytest.param(
            f'npu_chip_info_crc_error_sum{{id="2",udie_id="1",port_id="5"}} 40 {MS}',
            ports.RX_CRC_ERRORS, ("host-7-2", "ub/1/5"), 40.0, id="a UB port by labels",
        ),
        pytest.param(
            f'npu_chip_mac_rx_pfc_pkt_num{{id="2"}} 40 {MS}',
            congestion.PFC_RX_FRAMES, ("host-7-2", "roce/0", ""), 40.0, id="no priority is said",
        ),
        pytest.param(
            'node_network_speed_bytes{device="eth0"} 5e+10',
            ports.SPEED, ("host-7", "eth0"), 4e11, id="bytes per second are bits",
        ),
        pytest.param(
            'node_infiniband_state_id{device="mlx5_0",port="1"} 2',
            ports.UP, ("host-7", "mlx5_0/1"), 0.0, id="INIT is not up",
        ),
        pytest.param(
            'fabric_port_up{port="Ethernet4",device="leaf-1",job="x"} 1',
            ports.UP, ("leaf-1", "Ethernet4"), 1.0, id="the catalogue's own names",
        ),
        pytest.param(
            'fabric_optics_rx_power_dbm{device="a",port="b",lane="1"} -Inf',
            optics.RX_POWER, ("a", "b", "1"), -40.0, id="no light at all",
        ),
    ],
)  # fmt: skip
def test_names_units_and_owners(
    seen: Seen, line: str, metric: Metric, labels: Labels, value: float
) -> None:
    assert seen.of(metric, line + "\n") == {labels: pytest.approx(value, rel=1e-5)}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(
            'DCGM_FI_DEV_MEMORY_TEMP{gpu="0"} 9.223372036854776e+18',
            Reason.UNSUPPORTED, id="int64 blank, rounded",
        ),
        pytest.param(
            'DCGM_FI_DEV_POWER_USAGE{gpu="0"} 1.40737488355330e+14',
            Reason.UNSUPPORTED, id="double blank",
        ),
        pytest.param(
            'DCGM_FI_DEV_GPU_TEMP{gpu="0"} 2147483634', Reason.UNSUPPORTED, id="int32 blank"
        ),
        pytest.param('npu_chip_info_power{id="0"} 0', Reason.UNSUPPORTED, id="power not collected"),
        pytest.param('npu_chip_info_temperature{id="0"} -1', Reason.FAILED, id="could not be read"),
        pytest.param(
            'npu_chip_info_link_status{id="0"} 7', Reason.IMPLAUSIBLE, id="a state that is none"
        ),
        pytest.param(
            'npu_chip_optical_rx_power_0{id="0"} -3', Reason.IMPLAUSIBLE, id="negative light"
        ),
        pytest.param('fabric_port_lanes{device="a",port="b"} +Inf', Reason.IMPLAUSIBLE, id="Inf"),
        pytest.param("DCGM_FI_DEV_SM_CLOCK 9", Reason.MALFORMED, id="nobody's"),
        pytest.param('node_network_speed_bytes{device="e"} -125000', Reason.UNSUPPORTED, id="-1 M"),
    ],
)  # fmt: skip
def test_what_is_no_reading_is_refused_with_its_reason(
    seen: Seen, line: str, reason: Reason
) -> None:
    poll = seen.poll(f'{line}\nfabric_port_up{{device="z",port="1"}} 1\n')
    assert {refused.reason for refused in poll.refused} == {reason}
    assert readings(poll, seen.table, ports.UP) == {("z", "1"): 1.0}


def test_names_that_no_map_knows_are_nobodys_business(seen: Seen) -> None:
    poll = seen.poll('go_goroutines 9\nfabric_port_up{device="z",port="1"} 1\nlo NaN\n')
    assert (poll.readings, poll.refused, poll.missing) == (1, [], [])
    assert seen.poll("go_goroutines 9\n").missing


def test_virtual_interfaces_are_no_ports(seen: Seen) -> None:
    page = "".join(f'node_network_up{{device="{name}"}} 1\n' for name in ("lo", "veth1a", "eth0"))
    assert seen.of(ports.UP, page) == {("host-7", "eth0"): 1.0}


def test_waiting_takes_its_unit_from_the_rate_beside_it(seen: Seen) -> None:
    wait = 'node_infiniband_port_transmit_wait_total{device="mlx5_0",port="1"} 5e9\n'
    rate = 'node_infiniband_rate_bytes_per_second{device="mlx5_0",port="1"} 5e10\n'
    assert seen.of(ports.TRANSMIT_WAIT, wait + rate) == {("host-7", "mlx5_0/1"): 0.4}
    assert seen.of(ports.TRANSMIT_WAIT, wait) == {}  # unknown rate: absent


def test_a_rate_is_taken_only_where_no_counter_is_given(seen: Seen) -> None:
    rate = 'DCGM_FI_PROF_NVLINK_RX_BYTES{gpu="0"} 5\n'
    counter = 'DCGM_FI_DEV_NVLINK_COUNT_RX_BYTES{gpu="0"} 5\n'
    assert seen.of(ports.RX_BYTES_PER_SECOND, rate) == {("host-7-0", "nvlink"): 5.0}
    assert seen.of(ports.RX_BYTES_PER_SECOND, rate + counter) == {}


def test_the_topology_knows_devices_by_their_ids(tmp_path: Path) -> None:
    topology = Topology(
        [
            Device(name="host-a", role="host", ids=("gpu-a.example",), rack="r1", domain="pod"),
            Device(name="acc-a-0", role="accelerator", host="host-a", ids=("GPU-77",)),
            Device(name="acc-a-1", role="accelerator", host="host-a", ids=("0000:9b:00.0",)),
        ]
    )
    seen = Seen(tmp_path, topology)
    page = (
        'DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-77",Hostname="gpu-a.example",modelName="X9"} 51\n'
        'DCGM_FI_DEV_GPU_TEMP{gpu="1",pci_bus_id="00000000:9B:00.0",Hostname="gpu-a.example"} 52\n'
        'DCGM_FI_DEV_GPU_TEMP{gpu="2",Hostname="gpu-a.example"} 53\n'
    )
    poll = seen.poll(page)
    temperatures = readings(poll, seen.table, accelerators.TEMPERATURE)
    assert temperatures == {("acc-a-0",): 51.0, ("acc-a-1",): 52.0, ("host-a-2",): 53.0}
    infos = readings(poll, seen.table, accelerators.ACCELERATOR_INFO)
    assert infos["acc-a-0", "X9", "host-a", "r1", "pod", ""] == 1.0


def test_equal_twins_are_one_reading_and_old_and_new_names_too(seen: Seen) -> None:
    page = (
        'DCGM_FI_DEV_GPU_TEMP{gpu="0",pod="a"} 51\nDCGM_FI_DEV_GPU_TEMP{gpu="0",pod="b"} 51\n'
        'DCGM_FI_DEV_GPU_TEMP_CELSIUS{gpu="0"} 51\n'
    )
    poll = seen.poll(page)
    assert readings(poll, seen.table, accelerators.TEMPERATURE) == {("host-7-0",): 51.0}
    assert (poll.refused, poll.missing) == ([], [])


def test_batches_follow_the_exporters_time_stamps_and_old_ones_are_stale(seen: Seen) -> None:
    page = (
        f'npu_chip_info_temperature{{id="0"}} 50 {MS}\n'
        f'npu_chip_info_temperature{{id="1"}} 51 {MS - 60_000}\n'
        'npu_chip_info_temperature{id="2"} 52\n'
        f'npu_chip_info_temperature{{id="3"}} 53 {MS - 900_000}\n'
    )
    poll = seen.poll(page)
    at = {batch.at for batch in poll.batches}
    assert at == {AT - 64.0, AT - 4.0, AT}
    assert [refused.reason for refused in poll.refused if "temp" in refused.what] == [Reason.STALE]
    assert ("host-7-3",) not in readings(poll, seen.table, accelerators.TEMPERATURE)


def test_the_moment_of_a_capture_is_its_newest_time_stamp(seen: Seen, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(f"x 1 {MS - 500}\ny 2 {MS}\nz 3\n")
    (tmp_path / "b").write_text("x 1\n")
    assert seen.source.moment([tmp_path / "a"]) == MS / 1000
    assert seen.source.moment([tmp_path / "b"]) is None


def test_dark_light_is_minus_forty_and_flagged(seen: Seen) -> None:
    poll = seen.poll(
        'npu_chip_optical_rx_power_1{id="0"} 0\nnpu_chip_optical_rx_power_2{id="0"} 1\n'
    )
    light = readings(poll, seen.table, optics.RX_POWER)
    assert light == {("host-7-0", "roce/0", "2"): -40.0, ("host-7-0", "roce/0", "3"): 0.0}
    assert readings(poll, seen.table, optics.LOS) == {("host-7-0", "roce/0", "2", "media"): 1.0}


def npu_codes(*codes: int) -> str:
    return "".join(
        f'npu_chip_info_error_code{f"_{slot}" if slot else ""}{{id="0"}} {code}\n'
        for slot, code in enumerate(codes)
    )


def test_error_codes_that_change_slots_are_not_new(seen: Seen) -> None:
    first = seen.of(accelerators.ERRORS, npu_codes(0x80E01801, 0))
    assert first["host-7-0", "ascend:80E01801"] == 0.0  # how old it is, nobody knows
    poll = seen.poll(npu_codes(0x8C03A000, 0x80E01801))
    errors = readings(poll, seen.table, accelerators.ERRORS)
    assert errors["host-7-0", "ascend:8C03A000"] == 1.0
    assert errors["host-7-0", "ascend:80E01801"] == 0.0
    assert [event.more["code"] for event in poll.events] == ["ascend:8C03A000"]
    # A slot that could not be read says nothing of what it held.
    assert not seen.poll(npu_codes(0x8C03A000, -1)).events
    assert not seen.poll(npu_codes(0x8C03A000, 0x80E01801)).events


OWN = """about: a chiller
devices: [{name: "{host}"}]
rules:
  - from: chiller_flow
    to: fabric_coolant_flow_liters_per_minute
    labels: {loop: "{host}", branch: "", point: supply}
    scale: 60
"""


def test_a_site_may_bring_its_own_map(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(OWN)
    seen = Seen(tmp_path, mapping=str(own))
    poll = seen.poll('chiller_flow 2\nDCGM_FI_DEV_GPU_TEMP{gpu="0"} 51\n')
    (batch,) = poll.batches
    assert seen.table.labels(int(batch.series[0])) == ("host-7", "", "supply")
    assert batch.values.tolist() == [120.0]
    with pytest.raises(SiteError, match="dcgm, node, npu"):
        Seen(tmp_path, mapping="nothing-of-the-kind")


@pytest.mark.parametrize(
    ("right", "wrong", "line", "says"),
    [
        pytest.param("flow_liters", "flow_gallons", 5, "not in the catalogue", id="metric"),
        pytest.param("point: supply", "pint: supply", 6, "no label pint", id="label"),
        pytest.param(', branch: ""', "", 5, "needs a label branch", id="label missing"),
        pytest.param("scale: 60", "scale: x", 7, "valid number", id="number"),
        pytest.param("scale: 60", "scal: 60", 7, "unknown key", id="key"),
        pytest.param("supply}", '"{a|x}"}', 6, "no filter x", id="filter"),
        pytest.param('"{host}"}]', '"{host"}]', 2, "write a field", id="brace"),
    ],
)
def test_a_fault_in_a_map_is_named_by_file_line_and_key(
    tmp_path: Path, right: str, wrong: str, line: int, says: str
) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(OWN.replace(right, wrong, 1))
    with pytest.raises(SiteError, match=says) as error:
        read(own)
    assert str(error.value).startswith(f"{own}:{line}: ")
    assert "\n" not in str(error.value)


def test_every_map_of_the_product_fits_the_catalogue() -> None:
    assert len(all_maps()) == len(list(FOLDER.glob("*.yaml"))) > 0
    assert set(Prom.metrics) >= {rule.metric for page in all_maps() for rule in page.rules} - {None}


@given(st.text(max_size=20), st.dictionaries(st.sampled_from("abc"), st.text(max_size=5)))
def test_a_template_fills_or_does_not_apply(text: str, words: dict[str, str]) -> None:
    assert Template("-{a}-{b|number}").fill(words) in {None, *_expected(words)}
    try:
        template = Template(text)
    except ValueError:
        assert "{" in text or "}" in text
    else:
        assert template.fill(words) is None or template.fields or template.fill(words) == text


def _expected(words: dict[str, str]) -> set[str]:
    digits = words.get("b", "")
    tail = digits[len(digits.rstrip("0123456789")) :]
    return {f"-{words.get('a')}-{tail}", f"-{words.get('a')}-{digits}"}


@given(st.binary(max_size=80))
def test_any_page_gives_a_poll_or_is_unavailable(
    tmp_path_factory: pytest.TempPathFactory, body: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.prom"
    file.write_bytes(b'DCGM_FI_DEV_GPU_TEMP{gpu="0"} ' + body)
    source = Prom(PromSettings(), Target("t", "prom"), SeriesTable())
    with suppress(SourceUnavailable):
        poll = source.captured([file], AT)
        assert all(np.isfinite(batch.values).all() for batch in poll.batches)


Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
USUAL = PromSettings()
PAGE = 'DCGM_FI_DEV_GPU_TEMP{gpu="0"} 51\n'


@pytest.fixture
async def served() -> AsyncIterator[Callable[[Answer], Awaitable[str]]]:
    """Serve answers on loopback, each at an address of its own."""
    runners: list[web.AppRunner] = []

    async def serve(answer: Answer) -> str:
        app = web.Application()
        app.router.add_get("/metrics", answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        runners.append(runner)
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}/metrics"

    yield serve
    for runner in runners:
        await runner.cleanup()


async def visit(address: str, settings: PromSettings = USUAL, **options: str) -> Poll:
    target = Target("host-7", "prom", address, "", options)
    source = Prom(settings, target, SeriesTable())
    try:
        return await source.read(AT)
    finally:
        await source.close()


async def test_a_page_is_read_over_http_packed_or_not(
    served: Callable[[Answer], Awaitable[str]],
) -> None:
    async def packed(request: web.Request) -> web.Response:
        assert "gzip" in request.headers["Accept-Encoding"]
        body = gzip.compress(PAGE.encode())
        return web.Response(body=body, headers={"Content-Encoding": "gzip"})

    async def plain(request: web.Request) -> web.Response:
        assert request.headers["Accept"].startswith("text/plain;version=0.0.4")
        return web.Response(text=PAGE)

    async def long(_: web.Request) -> web.Response:
        text = "".join(f'fabric_port_up{{device="d",port="{at}"}} 1\n' for at in range(20_000))
        return web.Response(text=text)

    async def open_metrics(_: web.Request) -> web.Response:
        headers = {"Content-Type": "application/openmetrics-text; version=1.0.0"}
        return web.Response(body=PAGE.encode(), headers=headers)

    assert (await visit(await served(packed))).readings == 2
    assert (await visit(await served(plain))).readings == 2
    assert (await visit(await served(long))).readings == 20_000
    assert (await visit(await served(open_metrics))).missing == ["the end of the page (# EOF)"]


async def test_what_is_no_page_is_unavailable_in_one_line(
    served: Callable[[Answer], Awaitable[str]],
) -> None:
    async def html(_: web.Request) -> web.Response:
        return web.Response(text="<html>login</html>", content_type="text/html")

    async def cut(_: web.Request) -> web.Response:
        body = gzip.compress(PAGE.encode() * 50)[:-12]
        return web.Response(body=body, headers={"Content-Encoding": "gzip"})

    async def bomb(_: web.Request) -> web.Response:
        body = gzip.compress(b"#" * 4_000_000)
        return web.Response(body=body, headers={"Content-Encoding": "gzip"})

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"# still here\n")
            await asyncio.sleep(0.02)

    async def denied(_: web.Request) -> web.Response:
        return web.Response(status=401)

    async def moved(_: web.Request) -> web.Response:
        raise web.HTTPFound("http://127.0.0.1:1/elsewhere")

    async def empty(_: web.Request) -> web.Response:
        return web.Response(text="# nothing\n")

    small = PromSettings.model_validate({"max_bytes": "1MiB", "timeout": "300ms"})
    for answer, says in (
        (html, "text/html"),
        (cut, "ends in the middle"),
        (bomb, "more than 1048576 bytes"),
        (endless, "within 0.3 s"),
        (denied, "401"),
        (moved, "302, moved"),
        (empty, "no sample"),
    ):
        with pytest.raises(SourceUnavailable, match=says) as error:
            await visit(await served(answer), small)
        assert "host-7" in str(error.value)
        assert "\n" not in str(error.value)
    with pytest.raises(SourceUnavailable, match="cannot connect"):
        await visit("http://127.0.0.1:1/metrics", small)


async def test_credentials_are_sent_and_never_told(
    served: Callable[[Answer], Awaitable[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []

    async def refuse(request: web.Request) -> web.Response:
        given.append(request.headers.get("Authorization", ""))
        return web.Response(status=403)

    address = await served(refuse)
    secret = tmp_path / "s"
    secret.write_text("pa55word\n")
    monkeypatch.setenv("PAGE_TOKEN", "t0ken")
    for options in (
        {"user": "u", "secret_file": str(secret)},
        {"secret_env": "PAGE_TOKEN"},
        {"secret_env": "NOT_SET_ANYWHERE"},
        {"secret_file": str(tmp_path / "gone")},
    ):
        with pytest.raises(SourceUnavailable) as error:
            await visit(address, USUAL, **options)
        assert not any(word in str(error.value) for word in ("pa55word", "t0ken", "cGE1NXdvcmQ"))
    assert given == ["Basic dTpwYTU1d29yZA==", "Bearer t0ken"]
    with pytest.raises(SiteError, match="secret_file") as said:
        await visit("http://u:pa55word@127.0.0.1:1/")
    assert "pa55word" not in str(said.value)


async def test_user_and_query_of_an_address_are_never_told() -> None:
    address = "http://hunter2@127.0.0.1:9/metrics?token=hunter2#hunter2"
    source = Prom(PromSettings(), Target("t", "prom", address), SeriesTable())
    with pytest.raises(SourceUnavailable) as wrong:
        await source.read(0.0)
    await source.close()
    assert "t: http://127.0.0.1:9/metrics: cannot connect" in str(wrong.value)
    assert "hunter2" not in str(wrong.value)


def test_addresses_and_certificates_are_checked_before_the_first_visit(tmp_path: Path) -> None:
    table = SeriesTable()
    for address, options, says in (
        ("ftp://h/", {}, "http"),
        ("https://h/", {"ca_file": str(tmp_path / "none.pem")}, "ca_file"),
        ("https://h/", {"fingerprint": "zz"}, "fingerprint"),
        ("https://h/", {"fingerprint": "00" * 32, "ca_file": "x"}, "not both"),
    ):
        with pytest.raises(SiteError, match=says):
            Prom(PromSettings(), Target("t", "prom", address, "", options), table)
