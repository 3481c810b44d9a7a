"""Captured files of a host, told apart by content: trees, and what ethtool and rdma printed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from collectors.captures import content, may_be_file
from collectors.protocols import (
    ethtool_json,
    ethtool_text,
    lldpcli,
    module_text,
    rdma_statistic,
    sysfs,
)
from collectors.protocols.ethtool_json import Groups
from collectors.protocols.ethtool_netlink import Fec, Pause
from collectors.protocols.ethtool_text import DriverInfo, Settings, Statistics
from collectors.protocols.lldpcli import Neighbors
from collectors.protocols.module import Module
from collectors.protocols.rdma_statistic import PortStatistics
from collectors.transports.tree import FolderTree, Tree, map_tree
from fabrichealth.errors import MalformedReply

Said = Statistics | Groups | Fec | Pause | Settings | DriverInfo | Module | PortStatistics

STDERR = ".stderr"
WITHIN_DEVICE = {"counters", "hw_counters", "ports", "statistics", "gid_attrs", "device"}
"""Folders below a device: the tree's root lies further up."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One thing said: by which file, about which interface (empty: it does not say)."""

    file: str
    interface: str
    said: Said


@dataclass(frozen=True, slots=True)
class Failure:
    """What a tool wrote to stderr, or why a file is none of a host's."""

    file: str
    text: str
    malformed: bool = False

    @property
    def unsupported(self) -> bool:
        """Whether the device has no such thing, rather than that it could not be read."""
        text = self.text.casefold()
        return "not supported" in text or "no data available" in text


Found = Tree | Reply | Failure | Neighbors


def read(paths: Iterable[Path]) -> Iterator[Found]:
    """Yield what files and folders say."""
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
        elif sysfs.places(tree := FolderTree(path)):
            yield tree
        else:
            try:
                files += sorted(entry for entry in path.iterdir() if may_be_file(entry))
            except OSError as wrong:
                yield Failure(path.name, f"cannot be read ({wrong.strerror})", malformed=True)
    root = _root(files)
    if root is not None:
        yield root
        return
    seen = dict.fromkeys(files)
    for file in files:
        if file.suffix == STDERR:
            continue
        beside = file.with_name(file.name + STDERR)
        if beside not in seen and beside.is_file():
            seen[beside] = None
        yield from _file(file, quiet=beside in seen)
    for file in seen:
        if file.suffix == STDERR and (text := _text(file).strip()):
            yield Failure(file.name.removesuffix(STDERR), text.splitlines()[0])


def _root(files: list[Path]) -> Tree | None:
    """Return the tree that files are part of, where they are named one by one."""
    if len(files) < 2 or len({file.parent for file in files}) < 2:
        return None
    folders = {file.parent for file in files}
    common = next(folder for folder in (files[0].parent, *files[0].parent.parents)
                  if all(other.is_relative_to(folder) for other in folders))  # fmt: skip
    while common.name in WITHIN_DEVICE or common.name.isdigit():
        common = common.parent
    tree = FolderTree(common)
    return tree if sysfs.places(tree) else None


def _text(file: Path) -> str:
    return content(file).decode("utf-8", "replace")


def _file(file: Path, *, quiet: bool) -> Iterator[Found]:
    """Yield what one file says; with a stderr beside it, an empty one is no surprise."""
    try:
        text = _text(file)
    except OSError as wrong:
        yield Failure(file.name, f"cannot be read ({wrong.strerror})", malformed=True)
        return
    if not text.strip() and quiet:
        return
    try:
        found = list(_json(file, text) if text.lstrip()[:1] in "[{" else _prose(file.name, text))
    except MalformedReply as wrong:
        yield Failure(file.name, str(wrong), malformed=True)
        return
    if not found:
        yield Failure(
            file.name, "no output of ethtool, rdma or lldpcli, no tree of files", malformed=True
        )
    yield from found


def _json(file: Path, text: str) -> Iterator[Tree | Reply | Neighbors]:
    plain = ethtool_json.parse(text)
    tree = map_tree(plain, file.stem)
    if tree is not None:
        yield tree
        return
    heard = lldpcli.neighbors(plain)
    if heard is not None:
        yield heard
        return
    for interface, said in ethtool_json.replies(plain):
        yield Reply(file.name, interface, said)
    for statistics in rdma_statistic.from_json(plain):
        if statistics.counters:
            yield Reply(file.name, "", statistics)


def _prose(name: str, text: str) -> Iterator[Reply]:
    for statistics in rdma_statistic.from_text(text):
        yield Reply(name, "", statistics)
    interface = ethtool_text.named(text)
    readers = (
        module_text.module,
        ethtool_text.settings,
        ethtool_text.fec,
        ethtool_text.pause,
        ethtool_text.driver,
        ethtool_text.statistics,
    )
    for read_text in readers:
        said: Said | None = read_text(text)
        if said is not None:
            yield Reply(name, interface, said)
            return
