"""What is shipped, as an installation would use it: units with their instances, site files."""

import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from fabrichealth.cli._units import CONFIG, PROGRAM
from tests.house.checkout import ROOT

DEPLOY = ROOT / "deploy"


def unit(name: str, instance: str = "") -> dict[str, list[str]]:
    """Return the settings of a unit's service section, with an instance put in for %i and %I."""
    text = (DEPLOY / f"systemd/{name}.service").read_text()
    text = text.replace("%I", instance.replace("-", "/")).replace("%i", instance)
    settings: dict[str, list[str]] = {}
    for line in text.partition("[Service]")[2].partition("[Install]")[0].splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            settings.setdefault(key, []).append(value)
    return settings


def environment(settings: Mapping[str, list[str]], state: Path, **more: str) -> dict[str, str]:
    """Return what systemd would set for a unit, `more` standing for its environment file."""
    given = dict(one.split("=", 1) for one in settings["Environment"])
    return {**given, "STATE_DIRECTORY": str(state), **more}


def words(settings: Mapping[str, list[str]], site: Path, given: Mapping[str, str]) -> list[str]:
    """Return the words after the program that a unit starts, for another site file."""
    program, *rest = shlex.split(settings["ExecStart"][0])
    assert program == PROGRAM
    found = [word.replace(f"{CONFIG}/site.yaml", str(site)) for word in rest]
    for name, value in given.items():
        found = [word.replace(f"${{{name}}}", value) for word in found]
    assert not any("$" in word or "%" in word for word in found)
    return found


def site(name: str) -> dict[str, Any]:
    """Return what a shipped site file says."""
    return dict(yaml.safe_load((DEPLOY / f"sites/{name}.yaml").read_text()))


def told(*command: object, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Return what a tool says."""
    said = [str(word) for word in command]
    return subprocess.run(said, cwd=folder, capture_output=True, text=True, check=False)


def tool(name: str) -> str:
    """Return the path of a program of this environment."""
    return str(Path(sys.executable).parent / name)
