"""nccl-tests and hccl_test as they print: collectives over a wire that takes a while to fill.

Written from the tools' own documentation (nccl-tests, README and doc/PERFORMANCE.md; CANN, HCCL
Test). A collective of n ranks takes a fixed time and that of the bytes its slowest wire carries.
"""

from collections.abc import Sequence

LATENCY = 20e-6
"""Seconds that the smallest collective takes."""

WIRES = {"all_reduce": 2.0, "all_gather": 1.0, "reduce_scatter": 1.0, "alltoall": 1.0}
"""How often each byte but one's own share crosses the wire."""


def seconds(operation: str, size: int, ranks: int, wire: float) -> float:
    """Return how long a collective takes over wires of so many bytes per second."""
    return LATENCY + WIRES[operation] * size * (ranks - 1) / ranks / wire


def perf(operation: str, ranks: int, sizes: Sequence[int], wire: float) -> str:
    """Return what `OPERATION_perf` of nccl-tests prints."""
    lines = [
        "# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807",
        f"# Collective test starting: {operation}_perf",
        f"# nThread 1 nGpus 1 minBytes {sizes[0]} maxBytes {sizes[-1]} step: 2(factor) warmup "
        "iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0",
        "#",
        "# Using devices",
        *(
            f"#  Rank {rank:2d} Group  0 Pid {7000 + rank} on host-{rank // 8 + 1:03d} device "
            f"{rank % 8:2d} [0000:{0x40 + rank % 8:02x}:00] Emulated"
            for rank in range(ranks)
        ),
        "#",
        "#                                                              out-of-place"
        "                       in-place          ",
        "#       size         count      type   redop    root     time   algbw   busbw  #wrong"
        "     time   algbw   busbw  #wrong ",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)        "
        "     (us)  (GB/s)  (GB/s)         ",
    ]
    total = 0.0
    for size in sizes:
        spent = seconds(operation, size, ranks, wire)
        algorithm = size / spent / 1e9
        bus = algorithm * WIRES[operation] * (ranks - 1) / ranks
        total += bus
        measured = f"{spent * 1e6:8.2f} {algorithm:7.2f} {bus:7.2f}       0"
        lines.append(f"{size:12d} {size // 4:13d}     float     sum      -1 {measured} {measured}")
    lines += ["# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {total / len(sizes):g}"]
    return "\n".join([*lines, "#", ""])


def hccl(operation: str, ranks: int, sizes: Sequence[int], wire: float) -> str:
    """Return a shell's copy of starting `OPERATION_test`, and what it printed."""
    lines = [
        f"$ mpirun -f hostfile -n {ranks} ./bin/{operation}_test -b {sizes[0]} -e {sizes[-1]} -p 8",
        f"the minbytes is {sizes[0]}, maxbytes is {sizes[-1]}, iters is 20, warmup_iters is 10",
        "data_size(Bytes): | aveg_time(us): | alg_bandwidth(GB/s): | check_result:",
    ]
    for size in sizes:
        spent = seconds(operation, size, ranks, wire)
        lines.append(f"{size:<17d} | {spent * 1e6:<14.2f} | {size / spent / 1e9:<20.5f} | success")
    return "\n".join([*lines, ""])
