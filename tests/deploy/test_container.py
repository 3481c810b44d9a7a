"""The container file: taken by hadolint, pinned, unprivileged, with a health check that tells."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from fabrichealth import __version__
from fabrichealth.cli._units import LISTEN
from tests.deploy.shipped import DEPLOY, told, tool
from tests.end_to_end.processes import HOST, free_port
from tests.house.checkout import PACKAGES, ROOT, named, tracked

FILE = DEPLOY / "container/Containerfile"
PORT = LISTEN.rpartition(":")[2]
PINS = ("requirements.txt", "build-requirements.txt")


def instructions() -> list[tuple[str, str]]:
    """Return (instruction, its words) in order."""
    text = re.sub(r"\\\n", "", FILE.read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def pins(path: Path) -> dict[str, str]:
    """Return the version of each package that a file of requirements names."""
    found = re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==(\S+)", path.read_text(), re.MULTILINE)
    return dict(found)


def test_hadolint_finds_no_fault() -> None:
    linted = told(tool("hadolint"), FILE)
    assert linted.returncode == 0, linted.stdout
    assert linted.stdout == ""


@pytest.mark.parametrize("name", PINS)
def test_its_packages_are_those_that_are_tested_with_and_hashed(name: str) -> None:
    ours = pins(DEPLOY / "container" / name)
    assert ours
    assert ours.items() <= pins(ROOT / "requirements.txt").items()
    text = (DEPLOY / "container" / name).read_text()
    assert text.count("==") == len(re.findall(r"==[^\n]*\\\n +--hash=sha256:", text))
    installs = [rest for word, rest in instructions() if word == "RUN" and f"pins/{name}" in rest]
    assert all("--require-hashes" in rest for rest in installs)
    assert installs


def test_what_is_only_for_tests_is_not_in_it() -> None:
    held = pins(DEPLOY / "container/requirements.txt")
    assert {"aiohttp", "numpy", "scikit-learn", "grpcio", "gufo-snmp"} <= held.keys()
    assert not {"pytest", "mypy", "playwright", "duckdb"} & held.keys()


def test_every_package_of_ours_is_copied_and_may_be() -> None:
    copied = {rest.split()[0] for word, rest in instructions() if word == "COPY"}
    assert set(PACKAGES) <= copied
    sent = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    }
    assert {*PACKAGES, "pyproject.toml", "README.md", "deploy/container"} == sent
    assert {named(file) for file in tracked(*sent)}


def test_it_runs_as_nobody_with_a_state_of_its_own() -> None:
    last = dict(instructions())
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", last["USER"])
    user = last["USER"].partition(":")[0]
    (made,) = [rest for word, rest in instructions() if word == "RUN" and "install -d" in rest]
    assert f"-o {user} -g {user}" in made
    given = dict(one.split("=", 1) for one in shlex.split(last["ENV"]))
    assert json.loads(last["VOLUME"]) == [given["STATE_DIRECTORY"]]
    assert given["LISTEN"] == f"0.0.0.0:{PORT}"
    assert last["EXPOSE"] == PORT


def test_its_health_check_tells_life_from_silence(serving: str) -> None:
    words = json.loads(dict(instructions())["HEALTHCHECK"].partition("CMD ")[2])
    assert words[0] == "python"

    def healthy(address: str) -> bool:
        asked = [word.replace(f"{HOST}:{PORT}", address) for word in words[1:]]
        assert asked != words[1:]
        return told(sys.executable, *asked).returncode == 0

    assert healthy(serving)
    assert not healthy(f"{HOST}:{free_port()}")


def test_the_image_has_the_name_of_this_release() -> None:
    assert f"-t fabrichealth:{__version__} ." in FILE.read_text()
