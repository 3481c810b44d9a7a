"""The public corpus: its formulas against published numbers, its folders against contract 6."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from analyzer.scoring import truths
from benchmarks.corpus.cases import cases, one_fault, write
from benchmarks.corpus.codes import count, wrong_bits
from benchmarks.corpus.faults import FAULTS
from benchmarks.corpus.groups import GROUPS
from benchmarks.corpus.scene import scene
from benchmarks.corpus.technologies import KP4, TECHNOLOGIES
from benchmarks.corpus.traps import TRAPS
from fabrichealth.catalogue.ports import FEC_CODEWORDS, FEC_UNCORRECTABLE_CODEWORDS
from fabrichealth.cli._corpus import folders
from fabrichealth.cli._events import read_events
from fabrichealth.history import read as read_history
from fabrichealth.kinds import KINDS, Cause
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import read as read_topology


@pytest.mark.parametrize(
    ("ratio", "snr_db"), [(1e-3, 16.5), (2.4e-4, 17.7), (1e-5, 19.5), (1e-8, 21.9), (1e-12, 23.9)]
)
def test_noise_gives_the_published_ratio_of_wrong_bits(ratio: float, snr_db: float) -> None:
    found = float(wrong_bits(np.array([snr_db]))[0])
    assert np.log10(found) == pytest.approx(np.log10(ratio), abs=0.25)


def test_a_receiver_counts_what_its_code_foretells() -> None:
    chance = np.random.default_rng(1)
    ratio, words = np.full(400, 5e-4), np.full(400, 1e9)
    seen = count(KP4, ratio, np.zeros(400), words, chance)
    spoiled = 1 - (1 - 5e-4) ** 10
    assert seen.lost.mean() == pytest.approx(binom.sf(15, 544, spoiled) * 1e9, rel=0.1)
    assert seen.bits.mean() == pytest.approx(5e-4 * 5440e9, rel=0.01)
    assert (seen.histogram.sum(axis=0) + seen.lost).mean() == pytest.approx(1e9, rel=1e-3)


def test_bursts_lose_codewords_that_noise_would_not() -> None:
    chance = np.random.default_rng(1)
    quiet = count(KP4, np.full(200, 1e-8), np.zeros(200), np.full(200, 1e9), chance)
    burst = count(KP4, np.full(200, 1e-8), np.full(200, 50.0), np.full(200, 1e9), chance)
    assert quiet.lost.sum() == 0
    assert burst.lost.sum() > 50


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_a_healthy_hall_stays_below_every_warning(technology: str) -> None:
    made = scene(technology, 5, days=0.5, period=300.0)
    worst = max(float(cable.ratio().max()) for cable in made.cables)
    assert worst < TECHNOLOGIES[technology].warning / 2


@pytest.mark.parametrize(
    ("fault", "technology"),
    [(name, one.on[0]) for name, one in FAULTS.items() if one.kind == "optics.degrading"],
)
def test_a_stronger_fault_deserves_no_lighter_name(fault: str, technology: str) -> None:
    made = one_fault(fault, technology, 3)
    gravity = [KINDS[truth["kind"]].gravity for truth in made.truths]
    assert len(gravity) == 6
    assert max(gravity[:2]) <= max(gravity[-2:])
    assert all(truth["from"] <= truth.get("evident", truth["from"]) for truth in made.truths)


def test_dirt_dims_one_direction_and_a_bend_both() -> None:
    for name, directions in (("dirt", 1), ("bend", 2)):
        made = scene("roce", 2, days=0.5, period=300.0)
        run, cable = made.hall.runs[7], made.cables[7]
        before = cable.received[:, :, 0].mean(axis=1)
        truth = made.spoil_one(run, name, 2, made.moment(0.5), made.moment(2.0), 1)
        after = cable.received[:, :, -1].mean(axis=1)
        assert int((before - after > 2.0).sum()) == directions
        assert truth["culprit"].get("side") == (run.ports[1] if directions == 1 else None)


def test_the_names_of_cases_cover_every_fault_group_and_trap() -> None:
    names = " ".join(cases())
    for room in (FAULTS, GROUPS, TRAPS):
        assert [one for one in room if one not in names] == []


@pytest.mark.parametrize(
    "name", ["roce-trap-disorder", "nvlink-group-chain", "roce-trap-wrong_cable", "ub-group-rack"]
)
def test_a_folder_is_what_the_contract_says(name: str, tmp_path: Path) -> None:
    samples = write(name, tmp_path, 7)
    (folder,) = folders([tmp_path])
    topology = read_topology(folder / "topology.yaml")
    store = EmbeddedStore.open(tmp_path / "store")
    report = read_history([folder / "history.jsonl.gz"], store)
    assert (report.malformed, report.unknown, sum(report.refused.values())) == (0, {}, 0)
    assert report.samples >= 0.9 * samples
    meta = json.loads((folder / "meta.json").read_text())
    assert meta["links"] == len(topology.links)
    for device, port in [
        store.table.labels(int(number))[:2]
        for number in store.table.of(FEC_UNCORRECTABLE_CODEWORDS)
    ]:
        assert device in topology.devices, port
    store.close()
    read_events(folder / "events.jsonl")
    for truth in truths((folder / "truth.jsonl").read_text().splitlines()):
        assert truth.kind in KINDS
        assert truth.cause is None or truth.cause in set(Cause)
        assert truth.began <= truth.ended


def test_a_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    written = {}
    for label, seed in (("a", 1), ("b", 1), ("c", 2)):
        write("roce-trap-one_blip", tmp_path / label, seed)
        folder = tmp_path / label / "roce-trap-one_blip"
        written[label] = [file.read_bytes() for file in sorted(folder.iterdir())]
    assert written["a"] == written["b"]
    assert written["a"] != written["c"]


def test_the_histogram_of_a_switch_adds_up(tmp_path: Path) -> None:
    made = scene("roce", 1, days=0.1, period=300.0)
    bins = [
        values
        for metric, labels, values in made.series()
        if metric is FEC_CODEWORDS and labels["device"] == "leaf-0" and labels["port"] == "p0"
    ]
    words = np.diff(np.sum(bins, axis=0))
    rate = 425e9 / 5440 * np.diff(made.at)
    assert np.allclose(words, rate, rtol=0.01)
