"""Slurm's words for hosts and generic resources, and what hosts and jobs have by them."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols.slurm_words import gres, hosts, number, tres
from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import HOST_ALLOCATED, SCHEDULABLE
from fabrichealth.errors import MalformedReply
from fabrichealth.model import Reason
from tests.collectors.schedulers import Seen


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


def resources(seen: Seen, total: str, used: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return which accelerators of host-0 are told to be held, and how many of the host."""
    node = {"name": "host-0", "state": ["MIXED"], "gres": total, "gres_used": used}
    poll = seen.look(json.dumps({"nodes": [node]}))
    return seen.said(poll, ALLOCATED), seen.said(poll, HOST_ALLOCATED)


@pytest.mark.parametrize(
    "used",
    [
        pytest.param("gpu:h100:4(IDX:0-3),bandwidth:lustre:no_consume:4G", id="of another kind"),
        pytest.param("gpu:(null):4(IDX:0-3)", id="of no known type"),
        pytest.param("gpu:h100:no_consume:4(IDX:0-3)", id="that is not used up"),
    ],
)
def test_words_that_slurm_prints_cost_no_host(seen: Seen, used: str) -> None:
    allocated, counted = resources(seen, "gpu:h100:4(S:0-1),bandwidth:lustre:no_consume:4G", used)
    assert counted == {"host-0": 4.0}
    assert set(allocated.values()) == {1.0}


def test_a_count_that_cannot_be_read_costs_the_count_only(seen: Seen) -> None:
    node = {"name": "host-0", "state": ["IDLE"], "gres": "gpu:4", "gres_used": "gpu:4(IDX:x)"}
    poll = seen.look(json.dumps({"nodes": [node]}))
    assert seen.said(poll, SCHEDULABLE) == {"host-0": 1.0}
    assert seen.said(poll, HOST_ALLOCATED) == {}
    assert [(one.reason, one.what) for one in poll.refused] == [(Reason.MALFORMED, "gres")]


def test_an_accelerator_of_which_shards_are_held_is_not_free(seen: Seen) -> None:
    total = "gpu:h100:4(S:0-1),shard:h100:32(S:0-1)"
    allocated, counted = resources(seen, total, "gpu:h100:1(IDX:3),shard:h100:9(8/8,1/8,0/8,0/8)")
    assert allocated == {"host-0-0": 1.0, "host-0-1": 1.0, "host-0-2": 0.0, "host-0-3": 1.0}
    assert counted == {"host-0": 3.0}
    assert resources(seen, total, "gpu:h100:0(IDX:N/A),shard:h100:9") == ({}, {})  # who knows


def test_slices_are_no_whole_accelerators(seen: Seen) -> None:
    sliced = resources(seen, "gpu:1g.10gb:28(S:0-1)", "gpu:1g.10gb:7(IDX:0-6)")
    assert sliced == ({}, {})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("a", ["a"]),
        ("r[1-2]n[01-02],login", ["r1n01", "r1n02", "r2n01", "r2n02", "login"]),
        ("n[08-11,7]", ["n08", "n09", "n10", "n11", "n7"]),
        ("n[0-6:3]x", ["n0x", "n3x", "n6x"]),
    ],
)
def test_lists_of_hosts(text: str, found: list[str]) -> None:
    assert hosts(text) == found


@pytest.mark.parametrize("text", ["n[1-", "n[1-99999999]", "n[a-b]", "n]1[", "n[1-9999]x[1-9999]"])
def test_a_list_of_hosts_that_cannot_be(text: str) -> None:
    with pytest.raises(MalformedReply):
        hosts(text)


KINDS = ("gpu", "npu")


@pytest.mark.parametrize(
    ("asked", "size"),
    [
        pytest.param({"tres_req_str": "cpu=8,gres/gpu=16"}, 16, id="accounted for"),
        pytest.param({"tres_req_str": "cpu=8", "tres_per_job": "gres:gpu:3"}, 3, id="for the job"),
        pytest.param({"tres_per_node": "gres/gpu:h100:4"}, 8, id="for each of two nodes"),
        pytest.param({"tres_per_task": "gres/gpu=1"}, 6, id="for each of six tasks"),
        pytest.param({"tres_per_socket": "gres:gpu:2"}, 4, id="for a socket of each node"),
        pytest.param({"tres_req_str": "cpu=8"}, 0, id="none at all"),
        pytest.param({}, 0, id="not told"),
    ],
)
def test_what_a_job_asks_for_is_told_in_many_ways(
    seen: Seen, asked: dict[str, str], size: int
) -> None:
    two = {"set": True, "infinite": False, "number": 2}
    job = {"job_id": 7, "job_state": ["PENDING"], "node_count": two, "tasks": 6, **asked}
    poll = seen.look(json.dumps({"jobs": [job]}))
    assert seen.pending(poll)["", str(size)] == 1.0


@pytest.mark.parametrize(
    ("text", "count", "indices"),
    [
        ("gpu:h100:8(S:0-1)", 8, None),
        ("gpu:4(IDX:0-1,4-5)", 4, (0, 1, 4, 5)),
        ("gpu:a100:2(IDX:0-1),gpu:v100:1(IDX:4),shard:0", 3, (0, 1, 4)),
        ("gpu:a100:0(IDX:N/A)", 0, ()),
        ("gres:gpu", 1, None),
        ("gpu:1k", 1024, None),
        ("gpu:(null):2(IDX:0,7)", 2, (0, 7)),
        ("tmpdisk:800G,bandwidth:lustre:no_consume:4T,gpu:2", 2, None),
        ("gpu:1g.10gb:7(IDX:0-6),gpu:h100:1(IDX:7)", 1, (7,)),
        ("craynetwork:4", 0, ()),
        ("", 0, ()),
    ],
)
def test_generic_resources(text: str, count: int, indices: tuple[int, ...] | None) -> None:
    held = gres(text, KINDS)
    assert held is not None
    assert (held.count, held.indices) == (count, indices)


def test_resources_that_are_not_told_are_not_zero() -> None:
    assert gres("N/A", KINDS) is None
    assert tres("", KINDS) is None
    assert tres("cpu=1", KINDS) == 0
    assert tres("cpu=8,gres/gpu=64,gres/gpu:h100=64", KINDS) == 64
    assert gres("gpu:1g.10gb:7(IDX:0-6)", KINDS) is None
    assert tres("gres/gpu=9,gres/gpu:1g.10gb=7,gres/gpu:h100=2", KINDS) == 2
    assert tres("gres/gpu=1K", KINDS) == 1024
    assert number({"set": True, "infinite": True, "number": 5}) is None


@given(st.text(st.sampled_from("ghpu:()[]IDX0123,-/=n%kMG."), max_size=40))
def test_any_words_of_slurm_are_read_or_malformed(text: str) -> None:
    for read in (hosts, lambda words: gres(words, KINDS), lambda words: tres(words, KINDS)):
        with suppress(MalformedReply):
            read(text)
