"""What logs say of which device, live and captured."""

import asyncio
import os
import socket
from collections.abc import Iterable
from pathlib import Path

import pytest

from analyzer.evidence.xid import FATAL
from collectors.logs.counts import LogCounts
from collectors.logs.quota import Quota
from collectors.logs.watch import LogWatch
from collectors.maps.log_rules import matched, rules, speakers
from collectors.protocols.log_line import Line
from collectors.source import Target
from collectors.sources.kernlog import Kernlog, KernlogSettings
from fabrichealth.catalogue.accelerators import ERRORS
from fabrichealth.catalogue.devices import LOG_EVENTS
from fabrichealth.cli._site import load
from fabrichealth.errors import SiteError, SourceUnavailable
from fabrichealth.model import Poll, SeriesTable
from fabrichealth.topology import Topology
from fabrichealth.topology.rows import Device
from tests.fixtures import readings

AT = 1_800_000_000.0
XID = "NVRM: Xid (PCI:0000:9B:00): {}, pid=1, name=train, something"
GPU = "host-001-0000:9b:00.0"


def source(address: str = "", topology: Topology | None = None, **given: object) -> Kernlog:
    settings = KernlogSettings.model_validate(given)
    options = {"root": str(given.pop("root"))} if "root" in given else {}
    target = Target("host-001", "kernlog", address, "", options, topology or Topology())
    return Kernlog(settings, target, SeriesTable())


def counted(poll: Poll, of: Kernlog) -> dict[tuple[str, ...], float]:
    """Return the counters that are not 0."""
    found = {**readings(poll, of.table, ERRORS), **readings(poll, of.table, LOG_EVENTS)}
    return {labels: value for labels, value in found.items() if value}


def told(poll: Poll) -> list[tuple[str, str]]:
    return [(event.scope["device"], str(event.more["code"])) for event in poll.events]


@pytest.mark.parametrize(
    ("text", "code", "port", "fatal"),
    [
        pytest.param(XID.format(79), "xid:79", "", True, id="fallen off the bus"),
        pytest.param(XID.format(31), "xid:31", "", False, id="an application's own fault"),
        pytest.param(XID.format(999), "xid:999", "", None, id="a code that nobody knows"),
        pytest.param(
            "NVRM: Xid (PCI:0000:9b:00): 74, pid=1, NVLink: fatal error on link 6(0x1)",
            "xid:74",
            "nvlink/6",
            None,
            id="NVLink",
        ),
        pytest.param(
            "NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT Nonfatal XC0 i0 Link 09 (0x4)",
            "xid:149",
            "nvlink/9",
            False,
            id="NVLink that says non-fatal",
        ),
        pytest.param(
            "NVRM: Xid (PCI:0000:9b:00 GPU-I:05): 94, Contained",
            "xid:94",
            "",
            False,
            id="an instance of an accelerator",
        ),
        pytest.param(
            "nvidia-nvswitch1: SXid (PCI:0000:c4:00.0): 20034, Non-fatal, Link 30 LTSSM",
            "sxid:20034",
            "nvlink/30",
            False,
            id="NVSwitch",
        ),
        pytest.param(
            "[ERROR] [tid 7] detected NVSwitch fatal error 20034 on device 1",
            "fm:nvswitch_fatal",
            "",
            True,
            id="fabric manager",
        ),
        pytest.param(
            "mlx5_core 0000:3b:00.0: Port module event[error]: module 0, "
            "Cable error, High Temperature",
            "module:high_temperature",
            "",
            False,
            id="hot module",
        ),
        pytest.param(
            "mlx5_core 0000:3b:00.0: Port module event: module 1, Cable unplugged",
            "module:unplugged",
            "",
            False,
            id="pulled module",
        ),
        pytest.param(
            "bnxt_en 0000:5e:00.0 eth1: NIC Link is Down", "link:down", "eth1", False, id="link"
        ),
        pytest.param(
            ":- updatePortOperStatus: Port Ethernet8 oper state set from up to down",
            "link:down",
            "Ethernet8",
            False,
            id="switch port",
        ),
        pytest.param(
            "nvme 0000:01:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer",
            "aer:corrected",
            "pcie/0000:01:00.0",
            False,
            id="corrected",
        ),
        pytest.param(
            "pcieport 0000:00:01.0: AER: PCIe Bus Error: severity=Uncorrectable (Fatal), type=X",
            "aer:fatal",
            "pcie/0000:00:01.0",
            True,
            id="fatal",
        ),
        pytest.param(
            "pcieport 0000:00:01.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=X",
            "aer:nonfatal",
            "pcie/0000:00:01.0",
            False,
            id="non-fatal",
        ),
        pytest.param(
            "log_notice: Reporting Generic Notice type:1 num:128 (Link state change) from LID:5",
            "ib:link_change",
            "",
            False,
            id="subnet manager",
        ),
    ],
)
def test_a_line_has_a_code_and_a_verdict(
    text: str, code: str, port: str, fatal: bool | None
) -> None:
    hits = [hit for one in speakers() if (hit := matched(text, one)) is not None]
    assert len(set(hits)) == 1
    (hit, *_) = hits
    assert (hit.code, hit.port, hit.fatal) == (code, port, fatal)


@pytest.mark.parametrize(
    "text",
    [
        "NVRM: GPU4 RPC history (CPU -> GSP):",
        "mlx5_core 0000:3b:00.0 eth0: Link up",
        "pcieport 0000:00:01.0: AER: Corrected error received: 0000:01:00.0",
        "[INFO] [tid 7] multicast group 0 is freed.",
        "user said: Xid (PCI:0000:9b:00): 79",
        "mlx5_core 0000:3b:00.0: Port module event: module 0, A new thing",
    ],
)
def test_other_lines_have_none(text: str) -> None:
    assert [one for one in speakers() if matched(text, one) is not None] == []


def test_every_code_has_a_meaning_and_a_name_of_its_own() -> None:
    for rule in rules():
        assert rule.known
        assert all(meaning.means for meaning in rule.codes.values()) or rule.means


def test_log_and_judge_call_the_same_codes_fatal() -> None:
    table = {code: meaning.fatal for rule in rules() for code, meaning in rule.codes.items()}
    named = {f"xid:{code}" for code, fatal in table.items() if fatal and code.isdigit()}
    assert named == FATAL
    assert [table[code] for code in ("13", "31", "43", "45", "63", "94")] == [False] * 6


def write(path: Path, *texts: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"Jan 15 08:00:00 h1 kernel: {text}\n" for text in texts)


async def test_a_capture_counts_its_lines(tmp_path: Path) -> None:
    log = tmp_path / "kern.log"
    write(log, XID.format(79), XID.format(79), "mlx5_core 0000:3b:00.0 eth0: Link down")
    one = source()
    for _ in range(2):  # the same file again is not twice as many
        poll = one.captured([log], AT)
        expected = {(GPU, "xid:79"): 2.0, ("host-001", "link:down"): 1.0}
        assert counted(poll, one) == expected
    assert told(poll) == [(GPU, "xid:79"), (GPU, "xid:79"), ("host-001", "link:down")]
    assert poll.events[0].more["fatal"] is True
    assert readings(poll, one.table, ERRORS)[GPU, "xid:74"] == 0.0


def test_names_are_the_topologys(tmp_path: Path) -> None:
    devices = [
        Device(name="gpu-7", role="accelerator", host="host-001", ids=("00000000:9B:00.0",)),
        Device(name="gpu-8", role="accelerator", host="host-001", ids=("GPU-00000000-1111",)),
    ]
    log = tmp_path / "dmesg"
    write(
        log,
        XID.format(79),
        "NVRM: GPU at PCI:0000:c1:00: GPU-00000000-1111",
        "NVRM: Xid (PCI:0000:c1:00): 48, x",
    )
    one = source(topology=Topology(devices))
    assert counted(one.captured([log], AT), one) == {("gpu-7", "xid:79"): 1, ("gpu-8", "xid:48"): 1}


def test_a_log_of_many_hosts_names_each(tmp_path: Path) -> None:
    log = tmp_path / "central.log"
    log.write_text(
        "Jan 15 08:00:00 a/b kernel: i40e 0000:01:00.0 eth0: NIC Link is Down\n"
        "Jan 15 08:00:00 leaf-2.example kernel: i40e 0000:01:00.0 eth0: NIC Link is Down\n"
    )
    known = Topology([Device(name="leaf-2", role="switch", ids=("leaf-2.example",))])
    one = source(topology=known)
    assert told(one.captured([log], AT)) == [("a_b", "link:down"), ("leaf-2", "link:down")]


def test_a_flood_is_counted_whole_and_told_in_few_events(tmp_path: Path) -> None:
    log = tmp_path / "kern.log"
    write(log, *[XID.format(31)] * 5000, XID.format(79))
    one = source(quota=3)
    poll = one.captured([log], AT)
    assert counted(poll, one) == {(GPU, "xid:31"): 5000.0, (GPU, "xid:79"): 1.0}
    assert told(poll) == [(GPU, "xid:31")] * 3 + [(GPU, "xid:79"), (GPU, "xid:31")]
    assert poll.events[-1].more["lines"] == 4997


async def test_a_file_is_followed_through_rotation_and_truncation(tmp_path: Path) -> None:
    log = tmp_path / "kern.log"
    log.touch()
    one = source(str(log))
    seen = []
    for step in range(5):
        if step == 1:
            write(log, XID.format(13))
            log.rename(tmp_path / "kern.log.1")
            write(tmp_path / "kern.log.1", XID.format(31))  # the writer has not noticed yet
            write(log, XID.format(43))
        elif step == 2:
            with log.open("a") as file:
                file.write("Jan 15 08:00:00 h1 kernel: " + XID.format(48)[:20])
        elif step == 3:
            with log.open("a") as file:
                file.write(XID.format(48)[20:] + "\n")
        elif step == 4:
            log.write_text("")
            write(log, XID.format(63))
        poll = await one.read(AT + step)
        seen.append([str(event.more["code"]) for event in poll.events])
    await one.close()
    assert seen == [[], ["xid:13", "xid:31", "xid:43"], [], ["xid:48"], ["xid:63"]]


@pytest.mark.parametrize("rotated", [False, True])
async def test_a_restart_goes_on_where_it_stopped(tmp_path: Path, rotated: bool) -> None:
    log = tmp_path / "kern.log"
    write(log, XID.format(31))
    one = source(str(log))
    await one.read(AT)
    await one.close()
    write(log, XID.format(48))
    if rotated:
        log.rename(tmp_path / "kern.log.1")
        write(log, XID.format(63))
    other = source(str(log))
    other.remember(one.memory())
    poll = await other.read(AT + 60)
    await other.close()
    expected = {(GPU, "xid:31"): 1.0, (GPU, "xid:48"): 1.0}
    assert counted(poll, other) == expected | ({(GPU, "xid:63"): 1.0} if rotated else {})
    assert told(poll) == [(GPU, "xid:48")] + ([(GPU, "xid:63")] if rotated else [])


async def test_the_first_error_of_an_accelerator_not_met_before_is_a_rise(tmp_path: Path) -> None:
    log = tmp_path / "kern.log"
    log.touch()
    one = source(str(log))
    await one.read(AT)
    write(log, XID.format(79))
    poll = await one.read(AT + 10)
    await one.close()
    series = one.table.find(ERRORS, (GPU, "xid:79"))
    found = [
        (batch.at, batch.values[batch.series == series].tolist())
        for batch in poll.batches
        if series in batch.series
    ]
    assert found == [(AT, [0.0]), (AT + 10, [1.0])]


@pytest.mark.parametrize(
    ("address", "wrong"),
    [
        pytest.param("", "", id="this host"),
        pytest.param("/var/log/kern.log", "", id="a file"),
        pytest.param("syslog+udp://0.0.0.0:5514", "", id="a receiver"),
        pytest.param("http://host-001/log", "targets.0.address", id="no way to read a log"),
        pytest.param("var/log/kern.log", "targets.0.address", id="a path that is not whole"),
    ],
)
def test_a_site_file_names_this_host_a_path_or_a_receiver(
    tmp_path: Path, address: str, wrong: str
) -> None:
    site = tmp_path / "site.yaml"
    line = f"    address: '{address}'\n" if address else ""
    site.write_text(f"targets:\n  - name: host-001\n    source: kernlog\n{line}")
    if wrong:
        with pytest.raises(SiteError, match=rf"site.yaml:4: {wrong}"):
            load(site)
    else:
        (one,) = load(site).sources(SeriesTable())
        assert one.target.address == address


async def test_a_log_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match=r"host-001: .*none: No such file"):
        await source(str(tmp_path / "none")).read(AT)


def free_port(kind: socket.SocketKind) -> int:
    with socket.socket(type=kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("scheme", ["syslog+udp", "syslog+tcp"])
async def test_other_hosts_send_their_lines(scheme: str) -> None:
    kind = socket.SOCK_DGRAM if scheme == "syslog+udp" else socket.SOCK_STREAM
    port = free_port(kind)
    one = source(f"{scheme}://127.0.0.1:{port}")
    assert (await one.read(AT)).batches == []
    message = f"<2>Jan 15 08:00:00 host-9 kernel: {XID.format(79)}\n".encode()
    with socket.socket(type=kind) as sender:
        sender.connect(("127.0.0.1", port))
        sender.send(message)
        for _ in range(100):
            await asyncio.sleep(0.01)
            poll = await one.read(AT + 10)
            if poll.events:
                break
    await one.close()
    assert told(poll) == [("host-9-0000:9b:00.0", "xid:79")]


FORGED = "Invalid user " + XID.format(79)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(f"Jan 15 08:00:00 h1 sshd[3]: {FORGED}", id="a login"),
        pytest.param(f"Jan 15 08:00:00 h1 sshd[3]: {XID.format(79)}", id="from the start"),
        pytest.param(f"Jan 15 08:00:00 h1 logger: {XID.format(79)}", id="logger"),
        pytest.param(f"<13>Jan 15 08:00:00 h1 kernel: {XID.format(79)}", id="logger -t kernel"),
        pytest.param(f"Jan 15 08:00:00 h1 kernel: usb 1-1: Product: {XID.format(79)}", id="a name"),
        pytest.param(
            "Jan 15 08:00:00 h1 cron[1]: [ERROR] [tid 7] detected NVSwitch fatal error 1", id="cron"
        ),
        pytest.param(f"<86>1 2026-01-15T08:00:00Z h1 sshd 3 - - {XID.format(79)}", id="RFC 5424"),
        pytest.param(
            f'{{"MESSAGE":"{XID.format(79)}","_TRANSPORT":"syslog","SYSLOG_IDENTIFIER":"sshd"}}',
            id="journal",
        ),
        pytest.param(f"2026-01-15T08:00:00Z h1 app[1]: {XID.format(79)}", id="rsyslog"),
    ],
)
def test_no_program_can_speak_for_the_kernel(tmp_path: Path, line: str) -> None:
    log = tmp_path / "messages"
    log.write_text(line + "\n")
    one = source()
    poll = one.captured([log], AT)
    assert (told(poll), counted(poll, one)) == ([], {})


def test_a_line_of_a_day_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "kern.log"
    log.write_text(f"Feb 30 08:00:00 h1 kernel: {XID.format(79)}\n")
    poll = source().captured([log], AT)
    assert [(str(one.reason), one.raw) for one in poll.refused] == [
        ("malformed", "1 lines of a day that does not exist")
    ]


def test_a_host_that_calls_itself_by_an_escape_sequence_is_named_in_plain_text(
    tmp_path: Path,
) -> None:
    log = tmp_path / "central.log"
    log.write_text(
        f"Jan 15 08:00:00 h--1/x kernel: {XID.format(79)}\n"
        f"Jan 15 08:00:00 h2\x1b[31m kernel: {XID.format(79)}\n"
    )
    assert [device for device, _ in told(source().captured([log], AT))] == [
        "h_1_x-0000:9b:00.0",
        "h2_[31m-0000:9b:00.0",
    ]


def heard(watch: LogWatch, hosts: Iterable[str], at: float, text: str) -> list[str]:
    """Return which devices events tell of."""
    lines = [Line(text, at, host) for host in hosts]
    return [event.scope["device"] for event in watch.hear(lines, at, None)]


@pytest.fixture
def receiver() -> LogWatch:
    """Return the watch of a receiver whose topology lists gpu-01."""
    table = SeriesTable()
    known = Topology([Device(name="gpu-01", role="host")])
    target = Target("logs", "kernlog", "syslog+udp://127.0.0.1", "", {}, known)
    counts = LogCounts(table, table.clock("kernlog", "logs"))
    return LogWatch(target, counts, Quota(10, 600.0), many=True)


def test_made_up_hosts_take_nothing_from_those_of_the_topology(
    receiver: LogWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collectors.logs.counts.MOST_UNLISTED", 50)
    made_up = [f"fake{number}" for number in range(500)]
    assert heard(receiver, made_up, AT, "hello") == []
    assert receiver.strange == 0
    heard(receiver, made_up, AT, XID.format(79))
    assert receiver.strange == 450
    assert heard(receiver, ["gpu-01"], AT, XID.format(79)) == ["gpu-01-0000:9b:00.0"]


def test_idle_hosts_that_nobody_listed_make_room(
    receiver: LogWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collectors.logs.counts.MOST_UNLISTED", 2)
    assert len(heard(receiver, ["a", "b", "c"], AT, XID.format(79))) == 2
    assert heard(receiver, ["b"], AT + 1800, XID.format(79)) == ["b-0000:9b:00.0"]
    assert heard(receiver, ["c"], AT + 3600, XID.format(79)) == ["c-0000:9b:00.0"]
    rows = receiver.counts.memory()["counts"]
    assert [(device, count) for _, device, _, count in rows] == [
        ("b-0000:9b:00.0", 2),
        ("c-0000:9b:00.0", 1),
    ]


def test_the_series_of_made_up_hosts_are_bounded_for_good(
    receiver: LogWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collectors.logs.counts.MOST_UNLISTED", 5)
    monkeypatch.setattr("collectors.logs.counts.MOST_SERIES", 20)
    for hour in range(10):
        names = [f"fake{hour}-{number}" for number in range(5)]
        heard(receiver, names, AT + 3600 * hour, XID.format(79))
    assert len(receiver.counts.memory()["counts"]) == 0  # the last ones found no number left
    assert receiver.strange == 30


JOURNALCTL = """#!/bin/sh
echo "$@" >> {asked}
echo '{{"MESSAGE":"{text}","__REALTIME_TIMESTAMP":"1799999990000000","__CURSOR":"s=1;i=2"}}'
exec sleep 60
"""


async def test_the_journal_is_followed_from_its_cursor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, asked = tmp_path / "journalctl", tmp_path / "asked"
    script.write_text(JOURNALCTL.format(asked=asked, text=XID.format(79)))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    one = source(log="journal")
    poll = await one.read(AT)
    await one.close()
    assert (told(poll), poll.events[0].at) == ([(GPU, "xid:79")], 1799999990.0)
    other = source(log="journal")
    other.remember(one.memory())
    await other.read(AT + 10)
    await other.close()
    first, second = asked.read_text().splitlines()
    assert "--after-cursor s=1;i=2" in second
    assert "-b" in first.split()


async def test_a_journal_that_may_not_be_read_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "journalctl"
    script.write_text("#!/bin/sh\necho 'No journal files were opened' >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    one = source(log="journal")
    with pytest.raises(SourceUnavailable, match=r"host-001: .*No journal files were opened"):
        await one.read(AT)
    await one.close()


async def test_this_hosts_kernel_is_read() -> None:
    if not os.access("/dev/kmsg", os.R_OK):
        pytest.skip("/dev/kmsg may not be read here")
    one = source(log="kmsg")
    try:
        await one.read(AT)
        poll = await one.read(AT + 10)
    except SourceUnavailable as wrong:
        pytest.skip(f"the kernel shows no records here: {wrong}")
    finally:
        await one.close()
    assert readings(poll, one.table, LOG_EVENTS)["host-001", "link:down"] >= 0.0
    cursor = one.memory()["cursor"]
    assert isinstance(cursor, dict)
    assert cursor["next"] >= 0
