"""What `rdma statistic show` prints: each RDMA port's counters by the driver's own names.

JSON (`-j`): a list of flat objects `{"ifname": "mlx5_0", "port": 1, "out_of_sequence": 3}`. Text:
`link mlx5_0/1 rx_write_requests 0 out_of_sequence 3 ..`. Optional counters that are off are not
there.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

NOT_COUNTERS = {"ifname", "ifindex", "port"}


@dataclass(frozen=True, slots=True)
class PortStatistics:
    """Counters of one RDMA port by name."""

    device: str
    port: str
    counters: Mapping[str, int]


def from_json(plain: Any) -> Iterator[PortStatistics]:
    """Yield the ports of a reply; objects of another form are passed over."""
    for found in plain if isinstance(plain, list) else [plain]:
        if not isinstance(found, Mapping):
            continue
        device, port = found.get("ifname"), found.get("port")
        if isinstance(device, str) and device and isinstance(port, int):
            yield PortStatistics(device, str(port), _counts(found.items()))


def from_text(text: str) -> Iterator[PortStatistics]:
    """Yield the ports of a text reply; a link's counters may go on over indented lines."""
    for part in re.split(r"^link ", text, flags=re.MULTILINE)[1:]:
        words = part.split()
        device, slash, port = words[0].rpartition("/") if words else ("", "", "")
        if slash and device and port.isdigit():
            rest = words[1:]
            yield PortStatistics(device, port, _counts(zip(rest[::2], rest[1::2], strict=False)))


def _counts(pairs: Any) -> dict[str, int]:
    found = {}
    for name, said in pairs:
        number = int(said) if isinstance(said, str) and re.fullmatch(r"\d{1,20}", said) else said
        if isinstance(number, int) and not isinstance(number, bool) and number >= 0:
            found[str(name)] = number
    return {name: number for name, number in found.items() if name not in NOT_COUNTERS}
