"""Ascend NPUs' own network ports by hccn_tool: link, packets, pauses, module, UB ports.

For hosts without an exporter of their own. An NPU is the topology's by its index's written name,
else `HOST-INDEX`; its RoCE port is `roce/0`, those of newer devices are `ub/DIE/PORT` and
`roce/DIE/PORT`. What the tool contradicts itself about (a module that is not present and yet
measured) is taken as measured, and the contradiction is refused. What its ports hear by LLDP are
their neighbours. Captures: the tool's outputs.
"""

import asyncio
import re
import shutil
from pathlib import Path

from pydantic import Field

from collectors.captures import captured
from collectors.maps import hccn as port_map
from collectors.maps import lldp
from collectors.maps.accelerator_names import accelerator
from collectors.maps.columns import Columns
from collectors.maps.lldp import Heard
from collectors.maps.names import device_name
from collectors.privilege import Privilege
from collectors.protocols import hccn
from collectors.protocols.hccn import Answer, UbPort
from collectors.source import Source, SourceSettings, Target
from collectors.transports.process import run
from collectors.transports.tree import FolderTree
from fabrichealth.catalogue.ports import PORT_INFO
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Neighbor, Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, seconds

TOOL = "/usr/local/Ascend/driver/tools/hccn_tool"
"""Where the driver installs it; it is on nobody's path."""

QUESTIONS = (
    "-link", "-speed", "-link_stat", "-stat", "-optical", "-net_health", "-fec", "-lldp",
)  # fmt: skip

ROCE = "roce/0"
"""The one network port of an NPU that lists none."""


class HccnSettings(SourceSettings):
    """Hccn section of the configuration."""

    period: Duration = seconds(60)
    """How often each NPU is asked; a round takes some seconds."""

    timeout: Duration = seconds(45)
    """Give up on one round after this long; NPUs not asked by then are missing."""

    tool_timeout: Duration = Field(default=seconds(5), gt=0)
    """Give up on one question after this long."""


class Hccn(Source):
    """The NPUs of one host."""

    settings_type = HccnSettings
    settings: HccnSettings
    privileges = (
        Privilege(
            "accelerators",
            "NPUs by hccn_tool, which wants to be root",
            groups=("HwHiAiUser",),
            root=True,
        ),
    )
    metrics = tuple(dict.fromkeys((*port_map.METRICS, PORT_INFO)))

    def __init__(self, settings: HccnSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._host = device_name(target.subject)
        self._kinds: dict[tuple[str, str, str], str] = {}
        """Kind of each listed port: eth or ub."""
        self._without: set[tuple[str, str]] = set()
        """Questions that an NPU does not understand."""
        self._heard: dict[Neighbor, None] = {}
        """What this poll said of neighbours."""

    async def read(self, at: float) -> Poll:
        """Ask each NPU everything, one question after the other.

        Raises:
            SourceUnavailable: there is no NPU or no tool, or none answered.
        """
        root = Path(self.target.options.get("root", "/"))
        names = FolderTree(root).names("dev")
        npus = sorted(
            (found[1] for name in names if (found := re.fullmatch(r"davinci(\d{1,4})", name))),
            key=int,
        )
        if not npus:
            raise SourceUnavailable(f"{self.target.name}: no NPU on this host (/dev/davinci*)")
        tool = shutil.which(TOOL) or shutil.which("hccn_tool")
        if tool is None:
            raise SourceUnavailable(f"{self.target.name}: {TOOL} is not there; install the driver")
        columns = Columns(self.table)
        self._heard = {}
        loop = asyncio.get_running_loop()
        until = loop.time() + self.settings.patience
        for npu in npus:
            await self._ask(tool, npu, until, columns)
        poll = self._polled(columns, at)
        if not poll.readings:
            why = columns.refused[0].raw if columns.refused else "no question was answered"
            raise SourceUnavailable(f"{self.target.name}: hccn_tool: {why}")
        return poll

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read outputs of the tool as one poll.

        Raises:
            SourceUnavailable: none of the files is of hccn_tool.
        """
        answers = [one for file in captured(files) for one in hccn.answers(file.text)]
        if not answers:
            raise SourceUnavailable(
                f"{files[0]}: not of hccn_tool; give what hccn_tool -i N .. -g printed"
            )
        columns = Columns(self.table)
        self._heard = {}
        for answer in sorted(answers, key=lambda one: not one.ports):  # lists tell what is what
            self._take(answer, columns)
        return self._polled(columns, at)

    def moment(self, files: list[Path]) -> float | None:
        """Return the newest time that the tool itself printed."""
        try:
            own = captured(files)
        except SourceUnavailable:
            return None
        times = [one.at for file in own for one in hccn.answers(file.text) if one.at is not None]
        return max(times, default=None)

    def _polled(self, columns: Columns, at: float) -> Poll:
        poll = columns.poll(self.clock, at)
        poll.neighbors.extend(self._heard)
        return poll

    async def _ask(self, tool: str, npu: str, until: float, columns: Columns) -> None:
        """Ask one NPU; one that lists its ports is asked about each of them."""
        listed = await self._one((tool, "-g", "-dev_info", "-i", npu), npu, "", until, columns)
        ports = [port for answer in listed for port in answer.ports]
        for answer in listed:
            answer.npu = npu
            self._take(answer, columns)
        places: list[tuple[str, ...]] = [("-u", port.die, "-p", port.port) for port in ports]
        for place in places or [()]:
            gathered: list[Answer] = []
            for question in QUESTIONS:
                words = (tool, "-i", npu, *place, question, "-g")
                gathered += await self._one(words, npu, question, until, columns)
            for answer in gathered:
                answer.npu = npu
                if place:
                    answer.die, answer.port = place[1], place[3]
                self._take(answer, columns)

    async def _one(
        self, words: tuple[str, ...], npu: str, question: str, until: float, columns: Columns
    ) -> list[Answer]:
        key = (npu, question or "-dev_info")
        left = until - asyncio.get_running_loop().time()
        labels = {"device": self._device(npu)}
        if key in self._without:
            return []
        if left <= 0:
            columns.refuse(Reason.FAILED, key[1], labels, "not asked in time")
            columns.missing.append(f"{labels['device']} {key[1]}")
            return []
        output = await run(words, min(left, self.settings.tool_timeout))
        found = hccn.answers(output.stdout)
        if found:
            return found
        self._without.add(key)
        if question:  # older devices have no list of ports
            said = f"{output.stdout.strip()[:100]} {output.stderr.strip()[:100]}".casefold()
            known = "not support" in said or "invalid" in said or "usage" in said
            if not known:
                self._without.discard(key)
                columns.missing.append(f"{labels['device']} {question}")
            reason = Reason.UNSUPPORTED if known else Reason.FAILED
            columns.refuse(reason, question, labels, output.complaint)
        return []

    def _device(self, npu: str) -> str:
        return accelerator(self.target.topology, self._host, index=npu) if npu else self._host

    def _take(self, answer: Answer, columns: Columns) -> None:
        device = self._device(answer.npu)
        for port in answer.ports:
            self._kinds[answer.npu, port.die, port.port] = port.kind
            self._listed(device, port, columns)
        if answer.die and answer.port:
            kind = self._kinds.get((answer.npu, answer.die, answer.port), "ub")
            name = port_map.port_name(answer.die, answer.port, kind)
        else:
            name = ROCE
        labels = {"device": device, "port": name}
        self._contradicted(answer, labels, columns)
        columns.take_all(device, name, port_map.readings(answer))
        if answer.facing is not None:
            said = answer.facing
            heard = Heard(said.system, said.chassis, said.port, said.port_is_mac)
            if (faces := lldp.neighbor(self.target, device, name, heard)) is not None:
                self._heard[faces] = None
        fec = port_map.fec(answer.fec, answer.speed)
        if fec:
            known = {**labels, "technology": "ub" if name.startswith("ub/") else "roce", "fec": fec}
            columns.take(PORT_INFO, tuple(known.get(one, "") for one in PORT_INFO.labels), 1.0)
        if answer.net_health is not None and answer.net_health not in port_map.HEALTH:
            what, words = "net_health", answer.net_health
            columns.refuse(Reason.FAILED, what, labels, words)
        for key, words in answer.unsupported:
            columns.refuse(Reason.UNSUPPORTED, key, labels, words)
        for key, words in answer.malformed:
            columns.refuse(Reason.MALFORMED, key, labels, words)

    def _contradicted(self, answer: Answer, labels: dict[str, str], columns: Columns) -> None:
        """Believe what is measured rather than a module that is said not to be present."""
        if answer.present is not False:
            return
        lit = answer.module is not None and any(value.value for value in answer.module.values)
        if lit:
            columns.refuse(Reason.IMPLAUSIBLE, "present", labels, "not present, and yet measured")
        else:
            answer.module, answer.snr = None, []

    def _listed(self, device: str, port: UbPort, columns: Columns) -> None:
        name = port_map.port_name(port.die, port.port, port.kind)
        columns.take_all(device, name, port_map.row(port))
        known = {
            "device": device,
            "port": name,
            "technology": "roce" if port.kind == "eth" else "ub",
            "medium": "optical" if port.medium == "optical" else "",
        }
        columns.take(PORT_INFO, tuple(known.get(one, "") for one in PORT_INFO.labels), 1.0)
