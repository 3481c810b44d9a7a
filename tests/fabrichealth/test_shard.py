"""`collect --shard`: a share of the site file's targets, told on the command line."""

from pathlib import Path

import pytest

from collectors.sharding import Shard
from fabrichealth.cli._site import load
from fabrichealth.errors import SiteError
from fabrichealth.model import SeriesTable
from tests.fabrichealth.terminal import Terminal


def site(folder: Path, more: str = "") -> Path:
    rows = [
        f'  - {{name: host-{n}, source: prom, address: "http://127.0.0.1:1/"}}\n' for n in range(40)
    ]
    path = folder / "site.yaml"
    path.write_text(f"state: {folder}\ntargets:\n{''.join(rows)}{more}")
    return path


@pytest.mark.parametrize("count", [1, 3])
def test_together_the_shards_read_every_target_once(tmp_path: Path, count: int) -> None:
    path = site(tmp_path)
    names = []
    for number in range(1, count + 1):
        setup = load(path, Shard(number, count))
        built = setup.sources(SeriesTable())
        assert setup.held() == len(built)
        names += [source.target.name for source in built]
    assert sorted(names) == sorted(f"host-{n}" for n in range(40))


def test_a_target_that_cannot_be_built_is_named_by_its_own_line(tmp_path: Path) -> None:
    more = '  - {name: bad, source: prom, address: "http://x/", ca_file: none.pem}\n'
    path = site(tmp_path, more)
    said = []
    for number in (1, 2):
        try:
            load(path, Shard(number, 2)).sources(SeriesTable())
        except SiteError as wrong:
            said.append(str(wrong))
    (only,) = said  # the other shard has nothing to do with it
    assert ":43: targets.40: " in only


@pytest.mark.parametrize("text", ["0/3", "4/3", "x", "1/0", "-1/3"])
def test_what_is_no_shard_is_wrong_usage(tmp_path: Path, terminal: Terminal, text: str) -> None:
    said = terminal("collect", "-c", site(tmp_path), f"--shard={text}")
    assert said.status == 2
    assert text in said.err
