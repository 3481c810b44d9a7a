"""Shards: every target is read by one collector, and a new collector takes only its share."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.sharding import Shard, holder

NAMES = st.sets(st.text(max_size=12), max_size=40)
MANY = [f"leaf-{n:05d}" for n in range(20_000)]


@given(names=NAMES, count=st.integers(1, 12))
def test_the_shares_are_a_partition(names: set[str], count: int) -> None:
    shards = [Shard(number, count) for number in range(1, count + 1)]
    held = [name for shard in shards for name in names if shard.holds(name)]
    assert sorted(held) == sorted(names)


@given(names=NAMES, count=st.integers(1, 12))
def test_one_shard_more_moves_targets_to_itself_only(names: set[str], count: int) -> None:
    for name in names:
        assert holder(name, count + 1) in {holder(name, count), count + 1}


@pytest.mark.parametrize("count", [1, 2, 3, 7, 16])
def test_the_shares_are_about_equal_and_about_one_in_n_moves(count: int) -> None:
    shares = [0] * (count + 1)
    for name in MANY:
        shares[holder(name, count)] += 1
    fair = len(MANY) / count
    assert all(abs(share - fair) < 5 * fair**0.5 for share in shares[1:])
    moved = sum(holder(name, count + 1) != holder(name, count) for name in MANY)
    fair = len(MANY) / (count + 1)
    assert abs(moved - fair) < 5 * fair**0.5


def test_every_process_draws_alike() -> None:
    code = "from collectors.sharding import holder; print([holder(f'h{n}', 5) for n in range(50)])"
    said = {
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert said == {f"{[holder(f'h{n}', 5) for n in range(50)]}\n"}


def test_a_shard_is_written_i_of_n() -> None:
    assert Shard.parse("2/3") == Shard(2, 3)
    assert str(Shard(2, 3)) == "2/3"


@pytest.mark.parametrize("text", ["0/3", "4/3", "x", "", "1", "1/", "/3", "1/0", "-1/3", "1/3/5",
                                  "1.0/3", "²/3", "1/99999999"])  # fmt: skip
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="i"):
        Shard.parse(text)
