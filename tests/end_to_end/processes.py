"""Processes under test and their real peers, on free ports of loopback."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest

Found = TypeVar("Found")

HOST = "127.0.0.1"


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as one:
        one.bind((HOST, 0))
        return int(one.getsockname()[1])


def until(look: Callable[[], Found], what: str, seconds: float = 30.0) -> Found:
    """Return what a look finds once it finds something; fail with `what` after so long."""
    end = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            pytest.fail(f"waited {seconds:g} s for {what}")
        time.sleep(0.2)


def fetched(url: str, headers: Mapping[str, str] | None = None) -> str:
    """Return the body of a page; nothing while nobody answers."""
    try:
        request = urllib.request.Request(url, headers=dict(headers or {}))
        with urllib.request.urlopen(request, timeout=5) as reply:
            return str(reply.read().decode())
    except OSError:
        return ""


def status(url: str, body: object = None, headers: Mapping[str, str] | None = None) -> int:
    """Return the status with which a server answers; a body is posted as JSON."""
    data = None if body is None else json.dumps(body).encode()
    try:
        request = urllib.request.Request(url, data, dict(headers or {}))
        with urllib.request.urlopen(request, timeout=5) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as refused:
        refused.close()
        return refused.code


def answered(url: str) -> Any:
    """Return the JSON that a server answers; None while it does not."""
    body = fetched(url)
    return json.loads(body) if body else None


def needs(program: str, package: str = "") -> pytest.MarkDecorator:
    """Skip a test, saying why, where a real peer is not installed; its package, if called else."""
    package = package or program.replace("promtool", "prometheus")
    reason = f"no {program}; install the package {package}"
    return pytest.mark.skipif(shutil.which(program) is None, reason=reason)


class Running:
    """A process of ours; ended by its number, and its output kept."""

    def __init__(self, words: list[str], log: Path, given: Mapping[str, str] | None = None) -> None:
        """`given` stands in its environment beside ours."""
        self.log = log
        environment = {**os.environ, **(given or {})}
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                words, stdout=out, stderr=out, cwd=log.parent, env=environment
            )

    @property
    def said(self) -> str:
        """What it has said until now."""
        return self.log.read_text(errors="replace")

    def end(self, how: signal.Signals = signal.SIGTERM, seconds: float = 10.0) -> int:
        """Send a signal and wait; return the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            pytest.fail(f"still there {seconds:g} s after {how.name}:\n{self.said[-2000:]}")


def fabrichealth(log: Path, *words: object, given: Mapping[str, str] | None = None) -> Running:
    """Start a command of ours, with this in its environment beside ours."""
    return Running([sys.executable, "-m", "fabrichealth", *map(str, words)], log, given)


def prometheus(folder: Path, scraped: str, rules: Path, alertmanager: str) -> tuple[Running, str]:
    """Start a Prometheus that scrapes one target each second; return it and its address."""
    address = f"{HOST}:{free_port()}"
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(rules)],
        "scrape_configs": [
            {"job_name": "fabrichealth", "static_configs": [{"targets": [scraped]}]}
        ],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
    }
    (folder / "prometheus.yml").write_text(json.dumps(config))
    words = ["prometheus", f"--config.file={folder / 'prometheus.yml'}"]
    words += [f"--storage.tsdb.path={folder / 'tsdb'}", f"--web.listen-address={address}"]
    running = Running(words, folder / "prometheus.log")
    until(lambda: fetched(f"http://{address}/-/ready"), "Prometheus")
    return running, f"http://{address}"


def victoria_metrics(folder: Path, scraped: str) -> tuple[Running, str]:
    """Start a VictoriaMetrics that scrapes one target each second; return it and its address."""
    address = f"{HOST}:{free_port()}"
    config = {
        "global": {"scrape_interval": "1s"},
        "scrape_configs": [
            {"job_name": "fabrichealth", "static_configs": [{"targets": [scraped]}]}
        ],
    }
    (folder / "scraped.yml").write_text(json.dumps(config))
    words = ["victoria-metrics", f"-promscrape.config={folder / 'scraped.yml'}"]
    words += [f"-storageDataPath={folder / 'victoria'}", f"-httpListenAddr={address}"]
    words += ["-search.latencyOffset=1s"]
    running = Running(words, folder / "victoria-metrics.log")
    until(lambda: fetched(f"http://{address}/health"), "VictoriaMetrics")
    return running, f"http://{address}"


def alertmanager(
    folder: Path, address: str = "", plain: Mapping[str, Any] | None = None
) -> tuple[Running, str]:
    """Start an Alertmanager that tells nobody, or whom `plain` says; return it and HOST:PORT."""
    address = address or f"{HOST}:{free_port()}"
    config = plain or {"route": {"receiver": "nobody"}, "receivers": [{"name": "nobody"}]}
    (folder / "alertmanager.yml").write_text(json.dumps(config))
    words = ["prometheus-alertmanager", f"--config.file={folder / 'alertmanager.yml'}"]
    words += [f"--storage.path={folder / 'alerts'}", f"--web.listen-address={address}"]
    words += ["--cluster.listen-address="]
    running = Running(words, folder / "alertmanager.log")
    until(lambda: fetched(f"http://{address}/-/ready"), "Alertmanager")
    return running, address
