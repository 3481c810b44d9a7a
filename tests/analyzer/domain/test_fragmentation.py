"""What of the free accelerators jobs of a size could have, and what FGD makes of whole clusters."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.evidence.domain import fgd
from analyzer.evidence.domain.fragmentation import Units, by_demand

OPENB = Path(__file__).parents[4] / "shared" / "datasets" / "openb-gpu-fragmentation"


def trays(free: list[int], size: int = 8) -> Units:
    return Units(np.full(len(free), size), np.array(free, np.int64))


@pytest.mark.parametrize(
    ("free", "job", "placeable"),
    [
        pytest.param([8, 8, 0], 8, 16, id="whole trays"),
        pytest.param([4, 4, 4], 8, 0, id="half of each is nothing to a job of a tray"),
        pytest.param([7, 5, 3], 2, 12, id="pairs, tray by tray"),
        pytest.param([7, 5, 3], 1, 15, id="single ones are always had"),
        pytest.param([8, 8, 8, 4], 16, 16, id="two whole trays, the third alone is too few"),
        pytest.param([8, 8, 4, 4], 24, 0, id="halves do not make a third tray"),
        pytest.param([], 4, 0, id="no trays"),
    ],
)
def test_jobs_take_of_one_tray_or_whole_trays(free: list[int], job: int, placeable: int) -> None:
    assert trays(free).placeable(job) == placeable


def test_what_is_free_and_cannot_be_had_is_lost() -> None:
    assert trays([8, 4, 4]).lost(8) == pytest.approx(0.5)
    assert trays([8, 8]).lost(8) == 0.0


def test_nothing_free_is_no_fragmentation_at_all() -> None:
    assert trays([0, 0]).lost(8) is None
    assert by_demand(trays([0, 0]), {8: 1}) is None
    assert by_demand(trays([8]), {}) is None


def test_what_waits_weighs_by_what_it_wants() -> None:
    units = trays([4, 4, 8])  # half lost to a job of 8, nothing to one of 4
    assert by_demand(units, {8: 1, 4: 2}) == pytest.approx(0.25)


def test_stranded_is_what_is_left_in_too_small_pieces() -> None:
    assert trays([3, 8, 5]).stranded(4) == 3
    assert trays([3, 8, 5]).stranded(64) == 8  # a larger job takes whole trays


def test_trays_that_lack_one_are_never_whole() -> None:
    units = Units(np.array([8, 8, 7]), np.array([8, 7, 7]))
    assert (units.usual, units.whole, units.largest) == (8, 15, 15)


@pytest.mark.parametrize(
    ("free", "job", "placeable"),
    [
        pytest.param([0, 0, 0, 6], 6, 6, id="of six in the one that is large enough"),
        pytest.param([4, 4, 0, 6], 6, 12, id="and of six in two that are whole"),
        pytest.param([4, 4, 4, 8], 12, 12, id="large and small ones that are whole"),
        pytest.param([4, 3, 2, 7], 8, 0, id="nor one nor several"),
        pytest.param([0, 0, 0, 8], 4, 8, id="two in the large one"),
    ],
)
def test_hosts_of_several_sizes(free: list[int], job: int, placeable: int) -> None:
    units = Units(np.array([4, 4, 4, 8]), np.array(free))
    assert units.placeable(job) == placeable
    assert (units.largest >= job) == (placeable > 0)


@given(
    st.lists(st.tuples(st.integers(1, 8), st.integers(0, 8)), min_size=1, max_size=12),
    st.integers(1, 30),
)
def test_the_largest_job_that_fits_is_the_largest_that_can_be_placed(
    every: list[tuple[int, int]], job: int
) -> None:
    size = np.array([size for size, _ in every])
    units = Units(size, np.minimum([free for _, free in every], size))
    had = units.placeable(job)
    assert had % job == 0
    assert had <= units.total
    assert (had >= job) == (units.largest >= job)


def test_a_job_of_none_is_refused() -> None:
    with pytest.raises(ValueError, match="give 1 or more"):
        trays([8]).placeable(0)


@given(st.lists(st.integers(0, 8), min_size=1, max_size=20), st.integers(1, 40))
def test_placeable_is_whole_jobs_of_what_is_free(free: list[int], job: int) -> None:
    units = trays(free)
    had = units.placeable(job)
    assert had % job == 0
    assert 0 <= had <= units.total
    assert units.placeable(1) == units.total
    assert (had >= job) == (units.largest >= job)


def nodes(accelerators: list[list[float]], cpu: float = 64, memory: float = 512) -> fgd.Nodes:
    many = len(accelerators)
    return fgd.Nodes(np.full(many, cpu), np.full(many, memory), np.array(accelerators))


def task(accelerators: int, share: float = 1.0, cpu: float = 1, memory: float = 1) -> fgd.Tasks:
    return fgd.classes(
        np.array([cpu]), np.array([memory]), np.array([accelerators]), np.array([share])
    )


@pytest.mark.parametrize(
    ("left", "tasks", "lost"),
    [
        pytest.param([1.0, 0.4], task(1), 0.4, id="what is too little for a whole one"),
        pytest.param([1.0, 0.4], task(1, 0.4), 0.0, id="enough for a share on both"),
        pytest.param([1.0, 0.4], task(2), 1.4, id="two whole ones: it cannot run here at all"),
        pytest.param([1.0, 1.0], task(1, cpu=65), 2.0, id="not enough processors"),
        pytest.param([1.0, 1.0], task(1, memory=513), 2.0, id="not enough memory"),
        pytest.param([1.0, 1.0], task(0), 2.0, id="a task that wants none leaves all"),
        pytest.param([0.0, 0.0], task(1), 0.0, id="nothing left, nothing lost"),
    ],
)
def test_a_class_cannot_use_what_does_not_suffice(
    left: list[float], tasks: fgd.Tasks, lost: float
) -> None:
    assert fgd.expected(nodes([left]), tasks).tolist() == pytest.approx([lost])


def test_classes_weigh_as_common_as_they_are() -> None:
    tasks = fgd.classes(np.ones(4), np.ones(4), np.array([1, 1, 1, 4]), np.ones(4))
    assert fgd.ratio(nodes([[1.0, 1.0]]), tasks) == pytest.approx(0.25)


def test_a_full_cluster_has_no_fragmentation() -> None:
    assert fgd.ratio(nodes([[0.0, 0.0]]), task(1)) is None


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=4, max_size=4),
        min_size=1, max_size=5,
    ),
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from([0.25, 0.5, 1.0]), st.integers(1, 80)),
        min_size=1, max_size=6,
    ),
)  # fmt: skip
def test_it_is_what_the_definition_says_one_by_one(
    left: list[list[float]], rows: list[tuple[int, float, int]]
) -> None:
    every = [(cpu, wanted, share if wanted == 1 else 1.0) for wanted, share, cpu in rows]
    expected = []
    for own in left:
        total = 0.0
        for cpu, wanted, share in every:
            fitting = [one for one in own if one >= share]
            runs = wanted > 0 and cpu <= 64 and len(fitting) >= wanted
            total += sum(one for one in own if one < share) if runs else sum(own)
        expected.append(total / len(every))
    table = np.array(every, np.float64)
    counts = table[:, 1].astype(np.int64)
    tasks = fgd.classes(table[:, 0], np.ones(len(every)), counts, table[:, 2])
    assert fgd.expected(nodes(left), tasks).tolist() == pytest.approx(expected)


@pytest.mark.skipif(not OPENB.exists(), reason="the openb lists are not beside this checkout")
@pytest.mark.parametrize(("pods", "percent"), [("default", 13.894), ("multigpu20", 14.012)])
def test_openb_empty(pods: str, percent: float) -> None:
    def column(name: str, *keys: str) -> list[list[float]]:
        with gzip.open(OPENB / f"{name}.csv.gz", "rt", encoding="utf-8") as lines:
            return [[float(row[key] or 0) for key in keys] for row in csv.DictReader(lines)]

    has = np.array(column("openb_node_list_gpu_node", "cpu_milli", "memory_mib", "gpu"))
    wants = np.array(
        column(f"openb_pod_list_{pods}", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
    )
    whole = np.arange(8) < has[:, 2:3]
    cluster = fgd.Nodes(has[:, 0], has[:, 1], whole.astype(np.float64))
    shares = np.where(wants[:, 2] == 1, wants[:, 3] / 1000, 1.0)
    tasks = fgd.classes(wants[:, 0], wants[:, 1], wants[:, 2].astype(np.int64), shares)
    found = fgd.ratio(cluster, tasks)
    assert found is not None
    assert 100 * found == pytest.approx(percent, abs=0.001)
