"""NVIDIA accelerators of a host by nvidia-smi: heat, power, load, throttling, NVLinks, fabric.

For hosts without an exporter of their own. One visit runs `nvidia-smi -q -x`, `nvlink -s`,
`nvlink -e` and, for what each link faces, `nvlink -R`; what an accelerator does not have (`N/A`) is
refused as unsupported, never 0. Accelerators are the topology's by UUID or PCI address, else
`HOST-INDEX`; links are `nvlink/N`. What they lead to and is no accelerator is an NVSwitch,
`HOST-nvswitchN`, counted by PCI address where the topology does not know it.
Captures: the outputs of these four.
"""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from collectors.captures import captured
from collectors.maps import nvidia_smi as smi_map
from collectors.maps.accelerator_names import FarEnds, accelerator, whole_pci
from collectors.maps.columns import Columns
from collectors.maps.names import device_name
from collectors.privilege import Privilege
from collectors.protocols import nvidia_smi
from collectors.protocols.nvidia_smi import Gpu, Log, NvLinks
from collectors.source import Source, SourceSettings, Target
from collectors.transports.process import run
from fabrichealth.catalogue.accelerators import ACCELERATOR_INFO
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Neighbor, Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, seconds

VIA = "nvlink"

QUERY = ("nvidia-smi", "-q", "-x")
LINKS = tuple(("nvidia-smi", "nvlink", option) for option in ("-s", "-e", "-R"))


class NvsmiSettings(SourceSettings):
    """Nvsmi section of the configuration."""

    period: Duration = seconds(30)
    """How often the tool is run; a run wakes idle accelerators where persistence mode is off."""

    timeout: Duration = seconds(20)
    """Give up on one visit after this long; a tool that hangs means that a driver does."""

    nvlink: bool = True
    """Whether the links are asked for as well."""


class Nvsmi(Source):
    """The NVIDIA accelerators of one host."""

    settings_type = NvsmiSettings
    settings: NvsmiSettings
    privileges = (
        Privilege("accelerators", "accelerators by nvidia-smi", devices=("char-nvidia* rw",)),
    )
    metrics = tuple(dict.fromkeys((*smi_map.METRICS, ACCELERATOR_INFO)))

    def __init__(self, settings: NvsmiSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._host = device_name(target.subject)

    async def read(self, at: float) -> Poll:
        """Run the tool.

        Raises:
            SourceUnavailable: it is not there, hangs, or lists no accelerator.
        """
        columns = Columns(self.table)
        within = self.settings.patience
        try:
            asked = (QUERY, *LINKS) if self.settings.nvlink else (QUERY,)
            query, *links = await asyncio.gather(*(run(words, within) for words in asked))
        except SourceUnavailable as wrong:
            raise SourceUnavailable(f"{self.target.name}: {wrong}") from None
        try:
            log = nvidia_smi.log(query.stdout)
        except MalformedReply as wrong:
            raise SourceUnavailable(f"{self.target.name}: nvidia-smi: {wrong}") from None
        if log is None or not log.gpus:
            words = query.stdout.strip().splitlines()[:1]
            why = words[0][:200] if log is None and words else query.complaint
            raise SourceUnavailable(f"{self.target.name}: nvidia-smi lists no accelerator ({why})")
        self._log(log, columns)
        heard: list[NvLinks] = []
        for (*_, option), output in zip(LINKS, links, strict=False):
            found = nvidia_smi.nvlinks(output.stdout)
            self._links(found, columns)
            heard += found
            if output.late:
                columns.missing.append(f"nvlink {option}")
                columns.refuse(Reason.FAILED, "nvlink", {"device": self._host}, output.complaint)
        poll = columns.poll(self.clock, at)
        poll.neighbors.extend(self._neighbors(heard, log.gpus))
        return poll

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read the tool's outputs as one poll.

        Raises:
            SourceUnavailable: none of the files is of nvidia-smi.
        """
        columns = Columns(self.table)
        wrong = "neither its XML nor its list of links"
        found = False
        heard: list[NvLinks] = []
        gpus: list[Gpu] = []
        for file in captured(files):
            try:
                log = nvidia_smi.log(file.text)
            except MalformedReply as broken:
                wrong = str(broken)
                continue
            if log is not None:
                self._log(log, columns)
                gpus += log.gpus
                found = True
            elif links := nvidia_smi.nvlinks(file.text):
                self._links(links, columns)
                heard += links
                found = True
        if not found:
            raise SourceUnavailable(
                f"{files[0]}: not of nvidia-smi ({wrong}); give what nvidia-smi -q -x, nvlink -s, "
                "-e or -R printed"
            )
        poll = columns.poll(self.clock, at)
        poll.neighbors.extend(self._neighbors(heard, gpus))
        return poll

    def moment(self, files: list[Path]) -> float | None:
        """Return the time that the XML among these files says it was written."""
        found = []
        try:
            for file in captured(files):
                log = nvidia_smi.log(file.text)
                found += [log.at] if log is not None and log.at is not None else []
        except (MalformedReply, SourceUnavailable):
            return None
        return max(found, default=None)

    def _log(self, log: Log, columns: Columns) -> None:
        for gpu in log.gpus:
            device = accelerator(
                self.target.topology, self._host, uuid=gpu.uuid, pci=gpu.pci, index=gpu.index
            )
            for metric, more, value in smi_map.device(gpu):
                columns.take(metric, (device, *more), value)
            columns.take_all(device, "nvlink", smi_map.fabric(gpu))
            if gpu.pci:
                columns.take_all(device, f"pcie/{whole_pci(gpu.pci)}", smi_map.pcie(gpu))
            self._info(device, gpu.model, log.driver, columns)
            self._refusals(device, gpu, columns)

    def _info(self, device: str, model: str, driver: str, columns: Columns) -> None:
        topology = self.target.topology
        rack, domain = topology.rack_of(device), topology.domain_of(device)
        columns.take(ACCELERATOR_INFO, (device, model, self._host, rack, domain, driver), 1.0)

    def _refusals(self, device: str, gpu: Gpu, columns: Columns) -> None:
        for reason, fields in (
            (Reason.UNSUPPORTED, gpu.unsupported),
            (Reason.MALFORMED, gpu.malformed),
        ):
            for quantity, words in fields:
                metric = str(smi_map.QUANTITIES[quantity])
                columns.refuse(reason, metric, {"device": device}, words)

    def _neighbors(self, heard: list[NvLinks], gpus: Iterable[Gpu]) -> Iterator[Neighbor]:
        """Yield what faces each link that says so."""
        places = {gpu.uuid: gpu.index for gpu in heard}
        known = (replace(gpu, index=gpu.index or places.get(gpu.uuid, "")) for gpu in gpus)
        names = FarEnds(self.target.topology, self._host, known)
        names.number(link.far[0] for gpu in heard for link in gpu.links.values())
        for gpu in heard:
            device = accelerator(self.target.topology, self._host, uuid=gpu.uuid, index=gpu.index)
            for link in gpu.links.values():
                address, number = link.far
                if address:
                    far = f"nvlink/{number}" if number else ""
                    yield Neighbor(device, f"nvlink/{link.link}", names.of(address), far, VIA)

    def _links(self, gpus: list[NvLinks], columns: Columns) -> None:
        for gpu in gpus:
            device = accelerator(self.target.topology, self._host, uuid=gpu.uuid, index=gpu.index)
            for link in gpu.links.values():
                port = f"nvlink/{link.link}"
                columns.take_all(device, port, smi_map.link(link))
                for name in link.unsupported:
                    what = smi_map.COUNTERS.get(name)
                    labels = {"device": device, "port": port}
                    if what is not None:
                        columns.refuse(Reason.UNSUPPORTED, str(what), labels, name)
