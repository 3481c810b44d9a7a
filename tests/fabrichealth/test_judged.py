"""What `run` writes for its judging process is what that process reads."""

from pathlib import Path

import pytest

from fabrichealth.cli import _judged as judged
from fabrichealth.cli._collecting import JUDGE_PATIENCE, Collecting
from fabrichealth.cli._site import Setup, load
from fabrichealth.errors import SiteError
from fabrichealth.runtime.clock import Clock

TOPOLOGY = """\
domains: [{name: d, technology: nvlink}]
racks: [{name: r01, domain: d}]
devices:
  - {name: leaf-01, role: switch, rack: r01, ids: ["00:11"], ports: {1: {alias: one, uid: "7"}}}
  - {name: h, role: host, rack: r01, model: 0012}
links: [{a: leaf-01/1, b: h/eth0, speed_gbps: 400, medium: optical}]
"""


def setup_in(folder: Path) -> Setup:
    (folder / "topology.yaml").write_text(TOPOLOGY)
    (folder / "site.yaml").write_text(
        "topology: topology.yaml\nstate: state\nlisten: 127.0.0.1:0\n"
        "detectors: {link_down: {settle: 5s}}\npolicy: {hold_down: 5m, judge_every: 2s}\n"
    )
    return load(folder / "site.yaml")


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    setup = setup_in(tmp_path)
    judged.write(setup, tmp_path / "judged.json")
    (tmp_path / "topology.yaml").write_text("devices: [unfinish")
    read = judged.read(tmp_path / "judged.json")
    assert read.topology.same_as(setup.topology)
    assert read.detectors == setup.site.detectors
    assert read.policy == setup.site.policy
    assert (read.store.settings, read.store.state) == (setup.site.store, tmp_path)
    assert read.domains == ()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"topology": {"devices": [1]}}'])
def test_another_file_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "judged.json").write_text(text)
    with pytest.raises(SiteError, match="not what run writes"):
        judged.read(tmp_path / "judged.json")


async def test_who_hears_no_judge_is_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collecting = Collecting(setup_in(tmp_path), Clock(), keep=False)
    await collecting.start()
    assert collecting.waiting_for() == ""  # nobody is to judge
    collecting.hear({"open": []})
    assert collecting.waiting_for() == ""
    monkeypatch.setattr("fabrichealth.cli._collecting.JUDGE_PATIENCE", -JUDGE_PATIENCE)
    assert collecting.waiting_for() == "nothing judges"
    await collecting.stop()
