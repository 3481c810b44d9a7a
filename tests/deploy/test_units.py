"""systemd units: taken by systemd, granted nothing they do not need, and alive when started."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from collectors.privilege import Privilege
from fabrichealth.cli._units import DAEMONS, PROGRAM, USER, privileges
from tests.deploy.shipped import DEPLOY, environment, told, unit, words
from tests.end_to_end.processes import HOST, fabrichealth, fetched, free_port, needs, until

UNITS = sorted(path.name for path in (DEPLOY / "systemd").glob("*.service"))
DROP_INS = sorted((DEPLOY / "systemd/privileges").glob("*.conf"))
PRIVILEGES = {f"{source}-{need.name}": need for source, need in privileges()}

EXPOSED = 15
"""Tenths of systemd's exposure score, of 100, that no unit goes beyond without a drop-in."""

SECURITY = ("security", "--offline=true", "--no-pager", f"--threshold={EXPOSED}")

systemd = needs("systemd-analyze", "systemd")


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units, with a program that is there."""
    for name in UNITS:
        text = (DEPLOY / "systemd" / name).read_text()
        (tmp_path / name).write_text(text.replace(PROGRAM, "/bin/true"))
    return tmp_path


@systemd
def test_systemd_takes_every_unit(units: Path) -> None:
    verified = told("systemd-analyze", "verify", *(units / name for name in UNITS))
    assert verified.returncode == 0, verified.stderr
    assert verified.stderr == ""


@systemd
@pytest.mark.parametrize("name", UNITS)
def test_a_unit_is_exposed_little(name: str, units: Path) -> None:
    judged = told("systemd-analyze", *SECURITY, units / name)
    assert judged.returncode == 0, judged.stdout


@systemd
def test_a_unit_without_its_hardening_would_be_found(units: Path) -> None:
    bare = (units / UNITS[0]).read_text().replace("PrivateDevices=yes\n", "")
    (units / UNITS[0]).write_text(bare.replace("CapabilityBoundingSet=\n", ""))
    assert told("systemd-analyze", *SECURITY, units / UNITS[0]).returncode == 1


@systemd
def test_systemd_takes_every_drop_in(units: Path) -> None:
    for drop_in in DROP_INS:
        lines = drop_in.read_text().partition("[Service]\n")[2]
        text = (units / "fabrichealth-collect.service").read_text()
        both = text.replace("\n[Install]", f"{lines}\n[Install]")
        (units / f"with-{drop_in.stem}.service").write_text(both)
    verified = told("systemd-analyze", "verify", *units.glob("with-*.service"))
    assert verified.returncode == 0, verified.stderr
    assert verified.stderr == ""


def test_there_is_a_unit_a_daemon_and_a_drop_in_a_privilege() -> None:
    assert sorted(f"{daemon.name}.service" for daemon in DAEMONS) == UNITS
    assert {path.stem for path in DROP_INS} == PRIVILEGES.keys()


@pytest.mark.parametrize("name", [daemon.name for daemon in DAEMONS])
def test_a_unit_itself_grants_nothing(name: str) -> None:
    settings = unit(name)
    assert settings["CapabilityBoundingSet"] == settings["AmbientCapabilities"] == [""]
    assert settings["User"] == settings["Group"] == [USER]
    assert settings["PrivateDevices"] == ["yes"]
    assert not {"SupplementaryGroups", "DeviceAllow", "ReadWritePaths"} & settings.keys()


@pytest.mark.parametrize(("name", "need"), PRIVILEGES.items(), ids=PRIVILEGES)
def test_a_drop_in_grants_what_its_source_needs_alone(name: str, need: Privilege) -> None:
    text = (DEPLOY / f"systemd/privileges/{name}.conf").read_text()
    granted = set(text.partition("[Service]\n")[2].split("\n")) - {""}
    assert ("User=root" in granted) == need.root
    for key, values in (
        ("AmbientCapabilities", need.capabilities),
        ("SupplementaryGroups", need.groups),
    ):
        found = [line.partition("=")[2] for line in granted if line.startswith(key)]
        assert found == ([" ".join(values)] if values else [])
    allowed = {line.partition("=")[2] for line in granted if line.startswith("DeviceAllow")}
    assert allowed == set(need.devices)


@pytest.mark.skipif(os.geteuid() != 0, reason="systemd-sysusers wants to be root")
@needs("systemd-sysusers", "systemd")
def test_user_and_folders_are_made(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    for kind, program in (("sysusers.d", ()), ("tmpfiles.d", ("--create",))):
        made = told(
            f"systemd-{kind.removesuffix('.d')}", *program, f"--root={tmp_path}",
            DEPLOY / f"systemd/{kind}/fabrichealth.conf",
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
    assert f"{USER}:" in (tmp_path / "etc/passwd").read_text()
    folder = (tmp_path / "etc/fabrichealth").stat()
    assert (folder.st_uid, folder.st_mode & 0o777) == (0, 0o750)


class Manager:
    """What stands for systemd: starts a unit's command, hears what it says (sd_notify(3))."""

    def __init__(self, folder: Path, name: str, site: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(folder / "notify"))
        self._socket.settimeout(60)
        self.listen = f"{HOST}:{free_port()}"
        self.settings = unit(name)
        given = environment(self.settings, folder / "state", LISTEN=self.listen)
        (folder / "site.yaml").write_text(site)
        command = words(self.settings, folder / "site.yaml", given)
        watched = {"NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": "600000"}
        self.daemon = fabrichealth(folder / "log", *command, given={**given, **watched})

    def heard(self, what: str) -> str:
        """Wait for a message that begins like this, and return it."""
        while True:
            message = self._socket.recv(4096).decode()
            if message.startswith(what):
                return message

    def close(self) -> None:
        """End what was started."""
        self._socket.close()
        self.daemon.end(signal.SIGKILL)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Manager]:
    site = "state: ${STATE_DIRECTORY}\nlisten: ${LISTEN}\ntargets: [{source: host}]\n"
    manager = Manager(tmp_path_factory.mktemp("unit"), "fabrichealth-collect", site)
    yield manager
    manager.close()


def test_a_unit_started_says_that_it_is_ready_and_then_that_it_lives(started: Manager) -> None:
    assert started.settings["Type"] == ["notify"]
    assert started.heard("READY=1")
    assert started.heard("WATCHDOG=1")
    assert started.heard("WATCHDOG=1")
    until(lambda: fetched(f"http://{started.listen}/-/ready"), "the host's first visit")
    assert "fabric_source_up" in fetched(f"http://{started.listen}/metrics")


def test_a_unit_reloads_and_stops_as_it_is_told(started: Manager) -> None:
    assert started.settings["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
    started.daemon.process.send_signal(signal.SIGHUP)
    assert "MONOTONIC_USEC=" in started.heard("RELOADING=1")
    assert started.heard("READY=1")
    started.daemon.process.terminate()
    assert started.heard("STOPPING=1")
    assert started.daemon.end() == 0, started.daemon.said
