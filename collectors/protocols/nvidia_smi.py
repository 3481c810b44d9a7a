"""nvidia-smi: the XML of `-q -x` (DTD v10 to v13), and the text of `nvlink -s`, `-e` and `-R`.

Numbers carry their unit (`34 C`, `55.1 W`, `81920 MiB`); `N/A`, `[Unknown Error]`, `ERR!` and the
like are no value. Power moved between schemas: v12 has `gpu_power_readings`, older ones
`power_readings`. nvlink prints a heading per GPU and lines per link; NVLink 5 has other counters
than older ones, under their own names.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from fabrichealth.errors import MalformedReply

NO_VALUE = {
    "n/a", "[n/a]", "[unknown error]", "unknown error", "err!", "not supported", "[not supported]",
    "requested functionality has been deprecated", "none", "unknown", "insufficient permissions",
    "gpu requires reset", "[gpu requires reset]", "gpu is lost",
}  # fmt: skip

UNITS = {"C": 1.0, "W": 1.0, "MiB": 2.0**20, "MHz": 1e6, "%": 0.01, "x": 1.0, "": 1.0}

QUANTITIES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "temperature": (("temperature/gpu_temp", "C"),),
    "memory_temperature": (("temperature/memory_temp", "C"),),
    "power": (
        ("gpu_power_readings/power_draw", "W"),
        ("gpu_power_readings/instant_power_draw", "W"),
        ("gpu_power_readings/average_power_draw", "W"),
        ("power_readings/power_draw", "W"),
    ),
    "utilization": (("utilization/gpu_util", "%"),),
    "memory_used": (("fb_memory_usage/used", "MiB"),),
    "memory_total": (("fb_memory_usage/total", "MiB"),),
    "clock": (("clocks/sm_clock", "MHz"),),
    "pcie_replays": (("pci/replay_counter", ""),),
    "pcie_lanes": (("pci/pci_gpu_link_info/link_widths/current_link_width", "x"),),
    "pcie_max_lanes": (("pci/pci_gpu_link_info/link_widths/max_link_width", "x"),),
}
"""Paths by quantity, with the unit the tool writes; the first that has a value counts."""

THROTTLES = ("clocks_event_reasons", "clocks_throttle_reasons")

_NUMBER = re.compile(r"(-?\d{1,20}(?:\.\d{1,6})?) ?([A-Za-z%]*)")


@dataclass(frozen=True, slots=True)
class Gpu:
    """One accelerator, in SI; what it does not have is in `unsupported`."""

    uuid: str
    pci: str
    index: str
    """Its place among the GPUs, where all that are attached are listed."""
    model: str
    values: Mapping[str, float] = field(default_factory=dict)
    throttled: Mapping[str, bool] = field(default_factory=dict)
    """By the tool's own reason (`hw_thermal_slowdown`)."""
    reset_required: bool | None = None
    fabric: str = ""
    """State of its NVLink fabric, with the status behind a slash; empty where it has none."""
    unsupported: tuple[tuple[str, str], ...] = ()
    malformed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Log:
    """Everything one call says."""

    gpus: tuple[Gpu, ...]
    driver: str
    at: float | None
    """Local time of the host, taken for UTC."""


def log(text: str) -> Log | None:
    """Read the XML; None where the text is none.

    Raises:
        MalformedReply: XML that is broken, declares entities, or is another tool's.
    """
    if not text.lstrip()[:5].startswith(("<?xml", "<nvid")):
        return None
    if "<!ENTITY" in text:
        raise MalformedReply("XML that declares entities, which nvidia-smi never does")
    try:
        root = ET.fromstring(text)  # noqa: S314 - no entities, as checked above
    except (ET.ParseError, ValueError) as wrong:
        raise MalformedReply(f"XML that is broken ({wrong})") from None
    if root.tag != "nvidia_smi_log":
        raise MalformedReply(f"XML of {root.tag[:40]}, not of nvidia-smi")
    gpus = root.findall("gpu")
    whole = _said(root, "attached_gpus") == str(len(gpus))
    found = tuple(_gpu(gpu, str(place) if whole else "") for place, gpu in enumerate(gpus))
    return Log(found, _said(root, "driver_version"), _time(_said(root, "timestamp")))


def _said(node: ET.Element, path: str) -> str:
    return (node.findtext(path) or "").strip()


def _gpu(node: ET.Element, index: str) -> Gpu:
    values: dict[str, float] = {}
    unsupported: list[tuple[str, str]] = []
    malformed: list[tuple[str, str]] = []
    for quantity, places in QUANTITIES.items():
        words = ""
        for path, unit in places:
            words = _said(node, path)
            number = _number(words, unit)
            if number is not None:
                values[quantity] = number
                break
        else:
            if words.casefold() in NO_VALUE:
                unsupported.append((quantity, words))
            elif words:
                malformed.append((quantity, words[:80]))
    state, status = _said(node, "fabric/state"), _said(node, "fabric/status")
    has_fabric = bool(state) and state.casefold() not in NO_VALUE
    reset = _said(node, "gpu_reset_status/reset_required").casefold()
    return Gpu(
        uuid=_said(node, "uuid"),
        pci=_said(node, "pci/pci_bus_id") or node.get("id", ""),
        index=index,
        model=_said(node, "product_name"),
        values=values,
        throttled=dict(_throttles(node)),
        reset_required={"yes": True, "no": False}.get(reset),
        fabric=f"{state}/{status}" if has_fabric else "",
        unsupported=tuple(unsupported),
        malformed=tuple(malformed),
    )


def _throttles(node: ET.Element) -> Iterator[tuple[str, bool]]:
    for group in THROTTLES:
        for reason in node.findall(f"{group}/*"):
            active = {"active": True, "not active": False}.get((reason.text or "").strip().lower())
            if active is not None:
                yield re.sub(r"^clocks_(event|throttle)_reasons?_", "", reason.tag), active


def _number(words: str, unit: str) -> float | None:
    found = _NUMBER.fullmatch(words)
    if found is None or found[2] != unit:
        return None
    return float(found[1]) * UNITS[unit]


def _time(words: str) -> float | None:
    try:
        return datetime.strptime(words, "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return None


# -- nvlink -s, nvlink -e

_HEADING = re.compile(r"GPU (?P<index>\d{1,3}): (?P<model>.*?)(?: \(UUID: (?P<uuid>[^)]*)\))?")
_LINK = re.compile(r"Link (?P<link>\d{1,3}): (?P<rest>.*)")
_COUNTER = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9 /-]{1,60}?)(?: ?- ?(?P<bin>\d{1,2}))?: (?P<value>\S+)"
)
_FAR = re.compile(
    r"(?:Remote Device:? )?(?:[A-Za-z]{1,20} )?"
    r"(?P<pci>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7F])"
    r"(?:[:,]? *Link (?P<link>\d{1,3}))?"
)
_RATE = re.compile(r"(\d{1,5}(?:\.\d{1,4})?) GB/s")


@dataclass(frozen=True, slots=True)
class NvLink:
    """One link: its rate in bytes per second a direction, or its counters by name in lower case."""

    link: str
    up: bool | None = None
    bytes_per_second: float | None = None
    counters: Mapping[str, float] = field(default_factory=dict)
    histogram: Mapping[str, float] = field(default_factory=dict)
    unsupported: tuple[str, ...] = ()
    far: tuple[str, str] = ("", "")
    """PCI address and number of the link at the far end, as far as they are told."""


@dataclass(slots=True)
class NvLinks:
    """The links of one GPU."""

    index: str
    uuid: str
    model: str
    links: dict[str, NvLink] = field(default_factory=dict)


def nvlinks(text: str) -> list[NvLinks]:
    """Read `nvlink -s`, `-e`, `-R` or `-p`; nothing where it is something else."""
    found: list[NvLinks] = []
    for raw in text.splitlines():
        line = raw[:500].strip()
        if heading := _HEADING.fullmatch(line):
            found.append(NvLinks(heading["index"], heading["uuid"] or "", heading["model"]))
        elif found and (link := _LINK.fullmatch(line)):
            number = str(int(link["link"]))
            before = found[-1].links.get(number, NvLink(number))
            found[-1].links[number] = _link(before, link["rest"].strip())
    return [gpu for gpu in found if gpu.links]


def _link(link: NvLink, rest: str) -> NvLink:
    if rest == "<inactive>":
        return replace(link, up=False, bytes_per_second=None)
    if rate := _RATE.fullmatch(rest):
        speed = float(rate[1]) * 1e9
        return replace(link, up=True, bytes_per_second=speed)
    if (far := _FAR.fullmatch(rest)) and far["pci"].strip("fF:."):
        return replace(link, far=(far["pci"].lower(), far["link"] or ""))
    counters, histogram = dict(link.counters), dict(link.histogram)
    unsupported = list(link.unsupported)
    for part in re.split(r" / | , ", rest):
        counter = _COUNTER.fullmatch(part.strip())
        if counter is None:
            continue
        name, value = counter["name"].casefold(), counter["value"]
        number = re.fullmatch(r"\d{1,20}(?:\.\d{1,9})?(?:[eE][+-]?\d{1,3})?", value)
        if number is None:
            unsupported.append(name)
        elif counter["bin"] is None:
            counters[name] = float(value)
        else:
            histogram[str(int(counter["bin"]))] = float(value)
    return replace(link, counters=counters, histogram=histogram, unsupported=tuple(unsupported))
