"""A recorded fleet: the same twice, quiet when well, and readable as a corpus."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emulator.optics_fleet.__main__ import main
from emulator.optics_fleet.corpus import START, Corpus, Order
from fabrichealth import history, topology
from fabrichealth.store.embedded import EmbeddedStore

SMALL = {"days": 1.0, "step": 600.0, "modules": 8, "ill": 1}
FILES = ("history.jsonl.gz", "topology.yaml", "truth.jsonl", "events.jsonl", "meta.json")


def corpus(folder: Path, **asked: Any) -> Path:
    """Write a small corpus."""
    Corpus(Order(**{**SMALL, **asked})).write(folder)
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines."""
    raw = path.read_bytes()
    text = gzip.decompress(raw) if path.suffix == ".gz" else raw
    return [json.loads(line) for line in text.splitlines()]


def series(folder: Path, name: str) -> dict[tuple[str, ...], np.ndarray[Any, Any]]:
    """Return values by (device, port, lane)."""
    return {
        tuple(row["metric"].get(label, "") for label in ("device", "port", "lane")): np.array(
            row["values"], float
        )
        for row in lines(folder / "history.jsonl.gz")
        if row["metric"]["__name__"] == f"fabric_{name}"
    }


def test_the_same_order_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    one = corpus(tmp_path / "one", fault="loose")
    two = corpus(tmp_path / "two", fault="loose")
    other = corpus(tmp_path / "other", fault="loose", seed=2)
    for name in FILES:
        assert (one / name).read_bytes() == (two / name).read_bytes()
    assert (one / FILES[0]).read_bytes() != (other / FILES[0]).read_bytes()


@pytest.mark.parametrize("kind", ["dr4", "2xfr4", "sr8", "lpo", "aec"])
def test_two_weeks_of_healthy_modules_stay_within_their_limits(kind: str, tmp_path: Path) -> None:
    folder = corpus(tmp_path, kind=kind, days=14.0, step=3600.0)
    assert lines(folder / "truth.jsonl") == [{"quiet": True}]
    for name in ("optics_alarm", "optics_los", "port_link_down_total"):
        for labels, values in series(folder, name).items():
            assert not values.any(), (name, labels)
    heat = np.array(list(series(folder, "optics_temperature_celsius").values()))
    daily = heat[:, :24].max(axis=1) - heat[:, :24].min(axis=1)
    assert (daily > 4).all()
    assert (daily < 16).all()


def test_what_a_module_without_a_dsp_cannot_know_is_not_there(tmp_path: Path) -> None:
    folder = corpus(tmp_path, kind="lpo")
    names = {row["metric"]["__name__"] for row in lines(folder / "history.jsonl.gz")}
    assert "fabric_optics_rx_power_dbm" in names
    assert not {"fabric_optics_snr_db", "fabric_optics_pre_fec_bit_error_ratio"} & names
    assert "fabric_port_fec_corrected_bits_total" in names


def test_copper_has_heat_and_noise_but_no_light(tmp_path: Path) -> None:
    folder = corpus(tmp_path, kind="aec")
    assert series(folder, "optics_snr_db")
    assert series(folder, "optics_temperature_celsius")
    for name in ("optics_rx_power_dbm", "optics_tx_power_dbm", "optics_tx_bias_amperes"):
        assert series(folder, name) == {}


def test_the_truth_names_the_receiver_of_dirt_and_when_it_began(tmp_path: Path) -> None:
    folder = corpus(tmp_path, fault="dirt", strength=2.5)
    (truth,) = lines(folder / "truth.jsonl")
    device, _, port = truth["culprit"]["side"].partition("/")
    light = series(folder, "optics_rx_power_dbm")
    hit = [row for key, row in light.items() if key[:2] == (device, port)]
    place = round((truth["from"] - START) / SMALL["step"]) + 1
    fallen = [row[:place].mean() - row[place:].mean() for row in hit]
    assert max(fallen) > 3
    well = [row for key, row in light.items() if key[:2] != (device, port)]
    assert max(abs(row[:place].mean() - row[place:].mean()) for row in well) < 0.1
    assert truth["cause"] == "contaminated_connector"
    assert truth["evident"] >= truth["from"]
    (event,) = lines(folder / "events.jsonl")
    assert (event["at"], event["kind"]) == (truth["from"], "part_touched")


def test_a_dim_bank_is_one_truth_with_its_ports(tmp_path: Path) -> None:
    folder = corpus(tmp_path, kind="cpo", fault="bank")
    (truth,) = lines(folder / "truth.jsonl")
    assert truth["kind"] == "parts.shared_component"
    assert truth["culprit"] == {"type": "card", "id": "leaf-01/els-1"}
    assert len(truth["victims"]) == 4


def test_history_and_topology_are_read_without_a_word(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "corpus", fault="failed", strength=3)
    assert len(topology.read(folder / "topology.yaml").links) == 4
    store = EmbeddedStore.open(tmp_path / "store")
    report = history.read([folder / "history.jsonl.gz"], store)
    store.close()
    assert (report.malformed, report.missing, report.clashes) == (0, 0, 0)
    assert (sum(report.refused.values()), sum(report.unknown.values())) == (0, 0)
    assert report.warnings == []
    assert report.samples == sum(len(row["values"]) for row in lines(folder / FILES[0]))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--kind", "aec", "--fault", "dirt"], "choose one of cable, firmware, heat, host"),
        (["--modules", "2"], "too few links"),
        (["--days", "0"], "more days"),
    ],
)
def test_what_cannot_be_made_is_one_line(
    words: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "corpus"), *words]) == 1
    told = capsys.readouterr().err
    assert says in told
    assert told.count("\n") == 1
    assert not (tmp_path / "corpus").exists()
