"""Recorded walks of a small switch, made by hand: columns by name, rows by index."""

from collections.abc import Mapping
from pathlib import Path

from collectors.maps import snmp_rules
from collectors.protocols.snmp_columns import key
from collectors.source import Target
from collectors.sources.snmp import Snmp, SnmpSettings
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Poll, SeriesTable
from fabrichealth.topology import Topology

AT = 1_767_225_600.0

OIDS = {
    **snmp_rules.interfaces().oids,
    **snmp_rules.sensors().oids,
    **snmp_rules.neighbors().oids,
    "sysUpTime": "1.3.6.1.2.1.1.3",
}

Cell = int | str | bytes
Columns = dict[str, dict[int | str, Cell]]
Walked = Mapping[str, Mapping[int | str, Cell]]


def snmprec(walked: Walked) -> str:
    """Return columns as snmprec text, each `column: {index: value}`."""
    lines = []
    for column, rows in walked.items():
        for index, value in rows.items():
            match value:
                case bytes():
                    said = f"4x|{value.hex()}"
                case str():
                    said = f"4|{value}"
                case int():
                    said = f"70|{value}" if value >= 0 else f"2|{value}"
            lines.append(f"{OIDS[column]}.{index}|{said}")
    ordered = sorted(lines, key=lambda line: key(line.partition("|")[0]))  # as snmpsim needs it
    return "\n".join(ordered) + "\n"


def ports(*names: str, first: int = 1) -> Columns:
    """Return the columns of Ethernet ports that are up at 100 Gbit/s, indexed from `first`."""
    rows = range(first, first + len(names))
    return {
        "ifName": dict(zip(rows, names, strict=True)),
        "ifType": dict.fromkeys(rows, 6),
        "ifOperStatus": dict.fromkeys(rows, 1),
        "ifAdminStatus": dict.fromkeys(rows, 1),
        "ifHighSpeed": dict.fromkeys(rows, 100_000),
    }


class Seen:
    """Polls of one target, one capture after the other."""

    def __init__(self, folder: Path, topology: Topology | None = None) -> None:
        self.table = SeriesTable()
        self._folder = folder
        self._polls = 0
        target = Target("leaf-01", "snmp", topology=topology or Topology())
        self.source = Snmp(SnmpSettings(), target, self.table)

    def poll(self, walked: Walked, at: float = AT) -> Poll:
        """Read one walk."""
        self._polls += 1
        file = self._folder / f"{self._polls}.snmprec"
        file.write_text(snmprec(walked))
        return self.source.captured([file], at)

    def readings(self, poll: Poll, metric: Metric) -> dict[Labels, float]:
        """Return values by labels after the device."""
        return {
            self.table.labels(int(series))[1:]: float(value)
            for batch in poll.batches
            for series, value in zip(batch.series, batch.values, strict=True)
            if self.table.metric(int(series)) is metric
        }
