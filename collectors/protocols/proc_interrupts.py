"""/proc/interrupts and what goes with it: how often each CPU served each interrupt.

A header names the CPUs that are online; each line is `NUMBER:`, one count a CPU, then chip and
name. Which interrupts are a device's is in its `msi_irqs`; which CPUs are a node's in
`nodeN/cpulist`.
"""

import re
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from fabrichealth.errors import MalformedReply

MOST_CPUS = 1 << 16


def cpus(raw: bytes) -> list[int]:
    """Read the header: the numbers of the CPUs, in the order of the columns.

    Raises:
        MalformedReply: there is no header.
    """
    words = raw.partition(b"\n")[0].split()
    found = [re.fullmatch(rb"CPU(\d{1,6})", word) for word in words]
    if not found or not all(found):
        raise MalformedReply("/proc/interrupts without its header of CPUs")
    return [int(match[1]) for match in found if match]


def served(raw: bytes, wanted: Collection[int]) -> dict[int, NDArray[np.float64]]:
    """Read the counts of some interrupts, each [CPU] as `cpus` orders them.

    Lines of other interrupts are not looked into: a large host has thousands.

    Raises:
        MalformedReply: there is no header.
    """
    columns = len(cpus(raw))
    found: dict[int, NDArray[np.float64]] = {}
    for line in raw.splitlines()[1:]:
        number, colon, rest = line.partition(b":")
        number = number.strip()
        if not colon or not number.isdigit() or len(number) > 9 or int(number) not in wanted:
            continue
        counts = rest.split(None, columns)[:columns]
        if len(counts) == columns and all(word.isdigit() and len(word) < 20 for word in counts):
            found[int(number)] = np.array([float(word) for word in counts])
    return found


def cpu_list(raw: bytes) -> set[int]:
    """Read a list of CPUs: `0-31,64-95`.

    Raises:
        MalformedReply: another form, or more CPUs than any host has.
    """
    found: set[int] = set()
    for part in raw.strip().split(b",") if raw.strip() else []:
        ends = re.fullmatch(rb"(\d{1,6})(?:-(\d{1,6}))?", part)
        if not ends:
            raise MalformedReply(f"not a list of CPUs: {raw[:40]!r}")
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if last >= MOST_CPUS:
            raise MalformedReply(f"not a list of CPUs: {raw[:40]!r}")
        found.update(range(first, last + 1))
    return found
