"""Stores that people run, on free ports of loopback, started when a test first asks for one."""

import json
import shutil
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.processes import HOST, Running, fetched, free_port, until
from tests.influx_peer import Peer


def installed(program: str, package: str) -> None:
    """Skip, saying why, where a server is not installed."""
    if shutil.which(program) is None:
        pytest.skip(f"no {program}; install the package {package}")


class Servers:
    """The servers of one test session; each keeps what all its tests wrote, told apart by label."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._peer: Peer | None = None
        self._running: dict[str, tuple[Running, str]] = {}

    def victoria_metrics(self) -> str:
        """Return the address of a VictoriaMetrics."""
        installed("victoria-metrics", "victoria-metrics")

        def started(folder: Path, address: str) -> Running:
            words = ["victoria-metrics", f"-storageDataPath={folder / 'data'}"]
            words += [f"-httpListenAddr={address}", "-retentionPeriod=100y"]
            words += ["-search.latencyOffset=1s"]
            return Running(words, folder / "log")

        return self._once("victoria-metrics", started, "/health")

    def prometheus(self) -> str:
        """Return the address of a Prometheus that takes remote write, late readings too."""
        installed("prometheus", "prometheus")

        def started(folder: Path, address: str) -> Running:
            config = {"storage": {"tsdb": {"out_of_order_time_window": "30d"}}}
            (folder / "prometheus.yml").write_text(json.dumps(config))
            words = ["prometheus", f"--config.file={folder / 'prometheus.yml'}"]
            words += [f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={address}"]
            words += ["--web.enable-remote-write-receiver", "--storage.tsdb.retention.time=90d"]
            return Running(words, folder / "log")

        return self._once("prometheus", started, "/-/ready")

    def influxd(self) -> str:
        """Return the address of an InfluxDB 1."""
        installed("influxd", "influxdb")

        def started(folder: Path, address: str) -> Running:
            (folder / "influx.conf").write_text(
                f'bind-address = "{HOST}:{free_port()}"\nreporting-disabled = true\n'
                f'[meta]\ndir = "{folder / "meta"}"\n'
                f'[data]\ndir = "{folder / "data"}"\nwal-dir = "{folder / "wal"}"\n'
                f'[http]\nbind-address = "{address}"\nlog-enabled = false\n'
            )
            words = ["influxd", "run", "-config", str(folder / "influx.conf")]
            return Running(words, folder / "log")

        return self._once("influxd", started, "/query?q=SHOW%20DATABASES")

    def influx_peer(self) -> Peer:
        """Return what stands for an InfluxDB 2 and 3."""
        if self._peer is None:
            self._peer = Peer()
        return self._peer

    def settle_victoria_metrics(self) -> None:
        """Make everything that VictoriaMetrics has taken visible; nothing to do if none runs."""
        if "victoria-metrics" not in self._running:
            return
        _, address = self._running["victoria-metrics"]
        with urllib.request.urlopen(f"{address}/internal/force_flush", timeout=10):
            pass

    def end(self) -> None:
        """End them all."""
        if self._peer is not None:
            self._peer.close()
        for running, _ in self._running.values():
            running.end(seconds=20.0)

    def _once(self, name: str, started: Callable[[Path, str], Running], ready: str) -> str:
        if name not in self._running:
            folder = self._folder / name
            folder.mkdir()
            place = f"{HOST}:{free_port()}"
            running = started(folder, place)
            self._running[name] = (running, f"http://{place}")
            until(lambda: fetched(f"http://{place}{ready}") or running.process.poll(), name)
            assert running.process.poll() is None, running.said
        return self._running[name][1]
