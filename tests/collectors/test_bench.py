"""Outputs of collective benchmarks."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.protocols.collective_tests import FACTORS, runs
from collectors.source import Target
from collectors.sources.bench import Bench, BenchSettings
from emulator.tools import collective_tests as emulated
from fabrichealth.catalogue.devices import BUS_BANDWIDTH
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Labels, Poll, Reason, SeriesTable
from tests.fixtures import readings

SIZES = (1 << 20, 1 << 30)

HEAD = """# Collective test starting: {operation}_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 128 step: 2(factor) warmup iters: 5 iters: 20
#  Rank  0 Group  0 Pid 1 on host-001 device  0 [0000:40:00] Emulated
#  Rank  1 Group  0 Pid 2 on host-001 device  1 [0000:41:00] Emulated
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
"""  # noqa: E501 - one line of the tool
ROW = "1048576 262144 float sum -1 50.00 20.00 20.00 0 40.00 25.00 25.00 0\n"
HCCL = "data_size(Bytes): | aveg_time(us): | alg_bandwidth(GB/s): | check_result:\n"


def look(*texts: str, name: str = "run.txt", tmp: Path) -> tuple[dict[Labels, float], Poll]:
    """Return bandwidths by (benchmark, operation, bytes, accelerators), and the poll."""
    files = []
    for number, text in enumerate(texts):
        folder = tmp / str(number)
        folder.mkdir()
        files.append(folder / name)
        files[-1].write_text(text)
    table = SeriesTable()
    poll = Bench(BenchSettings(), Target("bench", "bench"), table).captured(files, 0.0)
    return readings(poll, table, BUS_BANDWIDTH), poll


@pytest.mark.parametrize("operation", ["all_reduce", "all_gather", "reduce_scatter", "alltoall"])
def test_both_tools_tell_the_same_of_the_same_wire(operation: str, tmp_path: Path) -> None:
    texts = [tell(operation, 16, SIZES, 400e9) for tell in (emulated.perf, emulated.hccl)]
    found, poll = look(*texts, tmp=tmp_path)
    assert poll.refused == []
    for size in SIZES:
        one = found["nccl-tests", operation, str(size), "16"]
        other = found["hccl_test", operation, str(size), "16"]
        assert one == pytest.approx(other, rel=1e-3)
    assert found["nccl-tests", operation, str(1 << 30), "16"] == pytest.approx(400e9, rel=0.01)


def test_out_of_place_counts_and_in_place_only_beside_it(tmp_path: Path) -> None:
    found, _ = look(HEAD.format(operation="all_reduce") + ROW, tmp=tmp_path)
    assert found == {("nccl-tests", "all_reduce", "1048576", "2"): 20e9}


def test_a_size_with_wrong_results_has_no_bandwidth(tmp_path: Path) -> None:
    text = HEAD.format(operation="all_reduce") + ROW.replace("20.00 0 40", "20.00 7 40")
    hccl = f"mpirun -n 8 all_reduce_test\n{HCCL}8192 | 1.0 | 9.0 | failed\n"
    found, poll = look(text, hccl, tmp=tmp_path)
    assert found == {}
    assert [one.reason for one in poll.refused] == [Reason.FAILED, Reason.FAILED]


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(ROW.replace("20.00 0 40", "20.00 2.68435e+08 40"), id="millions, as %g"),
        pytest.param(ROW.replace("25.00 0", "25.00 3"), id="in place alone"),
    ],
)
def test_results_are_wrong_however_many_and_wherever_they_are(wrong: str, tmp_path: Path) -> None:
    found, poll = look(HEAD.format(operation="all_reduce") + wrong, tmp=tmp_path)
    assert found == {}
    assert [one.reason for one in poll.refused] == [Reason.FAILED]


def test_a_result_that_the_end_of_the_file_cuts_short_is_no_success() -> None:
    (run,) = runs(f"mpirun -n 8 all_reduce_test\n{HCCL}8192 | 1.0 | 9.0 | success\n8 | 1 | 9 | fa")
    assert [row.failed for row in run.rows] == [False, True]


WHAT_IS_NOT_REDUCED = {
    "rccl and older nccl: no word for it": (HEAD, "1048576 262144 float -1"),
    "and no root": (HEAD.replace("    root", ""), "1048576 262144 float"),
    "and root 0": (HEAD, "1048576 262144 float 0"),
    "newer nccl": (HEAD, "1048576 262144 float none -1"),
}


@pytest.mark.parametrize("stamp", ["", " 2027-01-08 08:00:00"], ids=["plain", "stamped"])
@pytest.mark.parametrize(("head", "row"), WHAT_IS_NOT_REDUCED.values(), ids=WHAT_IS_NOT_REDUCED)
def test_rows_of_every_release_are_read(head: str, row: str, stamp: str, tmp_path: Path) -> None:
    if stamp:
        head = head.rstrip("\n") + "  timestamp\n"
    text = (
        f"{head.format(operation='all_gather')}{row} 50.0 20.0 19.0 0 40.0 25.0 24.0 N/A{stamp}\n"
    )
    found, poll = look(text, tmp=tmp_path)
    assert found == {("nccl-tests", "all_gather", "1048576", "2"): 19e9}
    assert poll.refused == []
    cut = text[: text.rindex(" 40.0")] + "\n"  # a file that ends within a row
    assert look(cut, tmp=tmp_path / "0")[0] == {}


def test_groups_that_run_side_by_side_are_no_run_of_all_of_them(tmp_path: Path) -> None:
    text = HEAD.format(operation="all_reduce").replace("1 Group  0", "1 Group  1") + ROW
    found, poll = look(text, tmp=tmp_path)
    assert found == {}
    assert [(one.reason, one.what) for one in poll.refused] == [
        (Reason.UNSUPPORTED, "accelerators")
    ]


def test_several_tables_of_one_file_are_told_apart_by_their_ranks(tmp_path: Path) -> None:
    text = "".join(emulated.perf("all_reduce", ranks, SIZES, 1e11) for ranks in (8, 16, 32))
    found, _ = look(text, tmp=tmp_path)
    assert {labels[3] for labels in found} == {"8", "16", "32"}


@pytest.mark.parametrize(
    ("name", "operation", "ranks"),
    [
        pytest.param("all_reduce_16.txt", "all_reduce", "16", id="operation and ranks"),
        pytest.param("host-001-alltoall_test-n64.log", "alltoall", "64", id="after a host's name"),
        pytest.param("allgather_ranks8.txt", "all_gather", "8", id="another spelling"),
    ],
)
def test_what_the_text_does_not_say_the_name_of_its_file_may(
    name: str, operation: str, ranks: str, tmp_path: Path
) -> None:
    found, _ = look(f"{HCCL}8192 | 10.0 | 8.0 | NULL\n", name=name, tmp=tmp_path)
    (labels,) = found
    assert labels[1:] == (operation, "8192", ranks)


def test_without_operation_or_number_nothing_is_made_up(tmp_path: Path) -> None:
    found, poll = look(f"{HCCL}8192 | 10.0 | 8.0 | success\n", tmp=tmp_path)
    assert found == {}
    assert [(one.reason, one.what) for one in poll.refused] == [(Reason.UNSUPPORTED, "operation")]


def test_two_bandwidths_of_one_size_are_none(tmp_path: Path) -> None:
    text = HEAD.format(operation="all_reduce")
    found, poll = look(text + ROW + ROW.replace("20.00 0", "21.00 0"), tmp=tmp_path)
    assert found == {}
    assert [one.reason for one in poll.refused] == [Reason.DUPLICATE] * 2
    assert len(look(text + ROW + ROW, tmp=tmp_path / "0")[0]) == 1  # equal ones are one


def test_prefixes_of_launchers_do_not_matter(tmp_path: Path) -> None:
    plain = emulated.perf("all_reduce", 8, SIZES, 1e11)
    for prefix in ("", "[1,0]<stdout>:", "[job-7@1,0]<stdout>: ", "[prterun,12]<stderr>:", "0: "):
        (run,) = runs("\n".join(prefix + line for line in plain.splitlines()))
        assert (len(run.rows), run.ranks) == (2, 8), prefix
    assert tmp_path.exists()


def test_processes_of_several_accelerators_are_a_rank_for_each() -> None:
    head = "".join(line for line in HEAD.splitlines(keepends=True) if "Rank" not in line)
    text = head.format(operation="all_reduce").replace("nThread 1 nGpus 1", "nThread 2 nGpus 4")
    (run,) = runs(f"mpirun -np 4 ./all_reduce_perf -t 2 -g 4\n{text}{ROW}")
    assert run.ranks == 32
    (alone,) = runs(text + ROW)
    assert alone.ranks == 0  # of how many processes is not said


@pytest.mark.parametrize(
    "row",
    ["1048576 262144 float", "1048576 1 float sum -1 a b c 0 d e f 0", "0 " + ROW.split(" ", 1)[1]],
    ids=["short", "no numbers", "no size"],
)
def test_a_bad_row_costs_only_itself(row: str, tmp_path: Path) -> None:
    found, poll = look(HEAD.format(operation="all_reduce") + row.strip() + "\n" + ROW, tmp=tmp_path)
    assert len(found) == 1
    assert [one.reason for one in poll.refused] == [Reason.MALFORMED]


@settings(deadline=None)
@given(st.text(st.sampled_from("#|0123456789.-+ eNA/allreduce_perfbuswizetm\n"), max_size=400))
def test_any_text_is_read_or_refused(text: str) -> None:
    for run in runs(HEAD.format(operation="all_reduce") + text + HCCL + text, text[:40]):
        for row in run.rows:
            bus = run.bus(row)
            assert row.size > 0
            assert bus is None or bus >= 0.0


@settings(deadline=None)
@given(st.sampled_from(sorted(FACTORS)), st.integers(1, 100_000))
def test_no_wire_carries_more_than_twice_what_one_rank_holds(operation: str, ranks: int) -> None:
    assert 0.0 <= FACTORS[operation](ranks) < 2.0


async def test_a_folder_is_followed_and_a_file_counts_once_at_its_own_time(tmp_path: Path) -> None:
    table = SeriesTable()
    bench = Bench(BenchSettings(), Target("bench", "bench", str(tmp_path)), table)
    assert (await bench.read(100.0)).readings == 0
    file = tmp_path / "run.txt"
    file.write_text(emulated.perf("all_reduce", 8, SIZES, 1e11))
    os.utime(file, (50.0, 50.0))
    poll = await bench.read(100.0)
    assert [batch.at for batch in poll.batches] == [50.0]
    assert poll.readings == 2
    (tmp_path / "notes.txt").write_text("nothing of the kind")
    again = await bench.read(200.0)
    assert again.readings == 0
    assert len(again.missing) == 1
    assert "notes.txt" in again.missing[0]


async def test_without_a_folder_it_says_what_to_do(tmp_path: Path) -> None:
    for address, says in (("", "give address"), (str(tmp_path / "none"), "check address")):
        bench = Bench(BenchSettings(), Target("bench", "bench", address), SeriesTable())
        with pytest.raises(SourceUnavailable, match=says):
            await bench.read(0.0)
