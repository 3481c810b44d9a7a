"""Outputs of collective benchmarks: nccl-tests and rccl-tests (`X_perf`), hccl_test (`X_test`).

nccl-tests prints a comment per rank, two lines of heading and a line per size: out of place first,
then in place. Where nothing is reduced older ones, and rccl-tests to this day, leave `redop` empty,
so that a row is a word short of its heading; `-S` adds a time of two words. Wrong results are
counted as `%g`, so that a million of them read `1e+06`.

hccl_test prints `data_size(Bytes): | aveg_time(us): | alg_bandwidth(GB/s): | check_result:` and
says neither the operation nor the number of ranks: both stand on the line that started it
(`mpirun -n 16 .. all_reduce_test`), or in the name of the file. GB are 1e9 bytes.

Bus bandwidth is what the slowest wire must have carried: size over time, times a factor by
operation and ranks (nccl-tests, doc/PERFORMANCE.md). The bases of hccl_test are the same: of a
gathering operation the whole, of others one rank's buffer (CANN, HCCL Test).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

GB = 1e9

Factor = Callable[[int], float]


def _all_but_own(ranks: int) -> float:
    return (ranks - 1) / ranks


def _once(ranks: int) -> float:
    del ranks
    return 1.0


FACTORS: Mapping[str, Factor] = {
    "all_reduce": lambda ranks: 2.0 * (ranks - 1) / ranks,
    "all_gather": _all_but_own,
    "reduce_scatter": _all_but_own,
    "alltoall": _all_but_own,
    "alltoallv": _all_but_own,
    "gather": _all_but_own,
    "scatter": _all_but_own,
    "broadcast": _once,
    "reduce": _once,
    "sendrecv": _once,
}
"""Bus bandwidth over algorithm bandwidth, by operation; hypercube tests have their own law."""

SPELLINGS = {"brocast": "broadcast", "all_to_all": "alltoall", "all_to_allv": "alltoallv",
             "allreduce": "all_reduce", "allgather": "all_gather",
             "reducescatter": "reduce_scatter"}  # fmt: skip

MOST_RANKS = 1_000_000
LONGEST = 4096
"""Characters of a line; no tool prints a longer one, and no expression need be tried on it."""

MOST_DIGITS = 18
"""Of a size in bytes: none is larger, and a longer number is no size."""

COUNTS = frozenset({"#wrong", "#bitdiff"})
"""Columns of nccl-tests that count wrong results; `error` of old ones is a distance, no count."""

FAILED = "failed"
"""What hccl_test says of a size whose results are wrong; else success, or NULL: not checked."""

_PERF = re.compile(r"([a-z_]+)_perf(?:\.\w+)?\b")
_HCCL = re.compile(r"\b([a-z_]+)_test\b(?!/)")
_MPI = re.compile(r"\b(?:mpirun|mpiexec|srun)\b.*?\s(?:-np?|--np?|--ntasks)[ =](\d{1,7})\b")
_EACH = re.compile(r"#\s*nThread\s+(\d{1,4})\s+nGpus\s+(\d{1,4})\b")
"""Threads of a process of nccl-tests, and accelerators of a thread: a rank each."""
_RANK = re.compile(r"#\s+Rank\s+(\d{1,7})\b(?:\s+Group\s+(\d{1,7})\b)?")
_NAMED = re.compile(r"(?:^|[^0-9a-z])([a-z_]+?)(?:_perf|_test)?[-_. ](?:n|np|ranks?)?(\d{1,7})\b")
_PREFIX = re.compile(r"^(?:\[[\w.@-]+,\d+\]<\w+>:|\d+:\s)\s*")
"""What Open MPI (`--tag-output`) and srun (`-l`) put before each line."""


@dataclass(frozen=True, slots=True)
class Row:
    """One size: bytes per second, or what stands there instead of a number."""

    size: int
    algorithm: float | None
    bus: float | None
    failed: bool
    """Whether the tool itself says that results were wrong, out of place or in place."""
    line: str


@dataclass(slots=True)
class Run:
    """One table: which tool, which operation (empty: not said), how many ranks (0: not said)."""

    tool: str
    operation: str = ""
    ranks: int = 0
    rows: list[Row] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    """Lines that begin like a row and are none."""
    split: bool = False
    """Whether it is of several groups that ran side by side (`NCCL_TESTS_SPLIT`)."""

    def bus(self, row: Row) -> float | None:
        """Return the bus bandwidth of a row; None where it is neither said nor follows."""
        if row.bus is not None:
            return row.bus
        factor = FACTORS.get(self.operation)
        if row.algorithm is None or factor is None or self.ranks < 1:
            return None
        return row.algorithm * factor(self.ranks)


def runs(text: str, name: str = "") -> list[Run]:
    """Return the tables that a text holds, in order; none where it is of no such tool.

    `name` is the file's own, asked where the text lacks operation or number of ranks.
    """
    found = list(_runs(text))
    named = [(_operation(one[1]), int(one[2])) for one in _NAMED.finditer(name.casefold())]
    told = [(operation, ranks) for operation, ranks in named if operation in FACTORS]
    told.append((_operation(name.casefold().partition(".")[0]), 0))
    for run in found:
        if told[0][0] in FACTORS:
            run.operation = run.operation or told[0][0]
            run.ranks = run.ranks or told[0][1]
        run.ranks = run.ranks if run.ranks <= MOST_RANKS else 0
    return found


def _runs(text: str) -> Iterator[Run]:
    operation, tool, mpi, each = "", "nccl-tests", 0, 1
    ranks: dict[int, str] = {}
    run: Run | None = None
    columns: list[str] = []
    for plain in text.splitlines():
        if len(plain) > LONGEST:
            continue
        line = _PREFIX.sub("", plain).strip()
        if started := _MPI.search(line):
            mpi = int(started[1])
        if "rccl-tests" in line or "rccl_" in line:
            tool = "rccl-tests"
        if line.startswith("# nThread") or "Collective test starting" in line:
            run, ranks = None, {} if run is not None else ranks
            each = _of_a_process(line) or each
        if named := _PERF.search(line) or (_HCCL.search(line) if run is None else None):
            operation = _operation(named[1])
        if ranked := _RANK.match(line):
            ranks[int(ranked[1])] = ranked[2] or ""
        elif line.startswith("#") and "busbw" in line and "size" in line:
            columns = line[1:].split()
            run = Run(tool, operation, len(ranks) or mpi * each)
            run.split = len(set(ranks.values())) > 1
            yield run
        elif "|" in line and "data_size" in line and "alg_bandwidth" in line:
            columns = [one.strip().rstrip(":").partition("(")[0] for one in line.split("|")]
            run = Run("hccl_test", operation, mpi)
            yield run
        elif run is not None and line[:1].isdigit():
            row = _bars(line, columns) if run.tool == "hccl_test" else _words(line, columns)
            if row is None:
                run.malformed.append(line[:200])
            else:
                run.rows.append(row)


def _of_a_process(line: str) -> int:
    """Return how many ranks each process has, as the line of settings says; 0 if it is none."""
    told = _EACH.match(line)
    return int(told[1]) * int(told[2]) if told else 0


def _words(line: str, columns: Sequence[str]) -> Row | None:
    """Read a row of nccl-tests: of two groups of measures the first is out of place."""
    words, names = line.split(), list(columns)
    if names[-1:] == ["timestamp"]:
        words, names = words[:-2], names[:-1]
    if len(words) == len(names) - 1 and "redop" in names:
        place = names.index("redop")
        if _number(words[place].lstrip("-")) is not None:  # the root, or a time: nothing is reduced
            del names[place]
    if len(words) != len(names):
        return None
    told: dict[str, str] = {}
    failed = False
    for column, word in zip(names, words, strict=True):
        told.setdefault(column, word)
        failed |= column in COUNTS and bool(_number(word))
    return _row(told.get("size", ""), told.get("algbw", ""), told.get("busbw", ""), failed, line)


def _bars(line: str, columns: Sequence[str]) -> Row | None:
    words = [word.strip() for word in line.split("|")]
    if len(words) != len(columns):
        return None
    told = dict(zip(columns, words, strict=True))
    size, rate = told.get("data_size", ""), told.get("alg_bandwidth", "")
    result = told.get("check_result", "")
    failed = bool(result) and FAILED.startswith(result)  # the file may end within the word
    return _row(size, rate, "", failed, line)


def _row(size: str, algorithm: str, bus: str, failed: bool, line: str) -> Row | None:
    if not (size.isdecimal() and len(size) <= MOST_DIGITS and int(size) > 0):
        return None
    rates = [_number(algorithm), _number(bus)]
    if rates == [None, None]:
        return None
    return Row(int(size), rates[0], rates[1], failed, line[:200])


def _number(word: str) -> float | None:
    """Return GB/s as bytes per second."""
    try:
        value = float(word) * GB
    except ValueError:
        return None
    return value if isfinite(value) and value >= 0 else None


def _operation(word: str) -> str:
    name = word.strip("_").removesuffix("_perf").removesuffix("_test")
    return SPELLINGS.get(name, name)
