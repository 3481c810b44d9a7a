"""ibdiagnet's `db_csv`: sections `START_NAME` .. `END_NAME`, each a table with its own header.

Columns are found by name; a row that is shorter or longer than its header is counted, not guessed.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field

LONGEST = 65_536


@dataclass(slots=True)
class Section:
    """One table: rows as name -> cell."""

    name: str
    rows: list[dict[str, str]] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)


def sections(text: str) -> Iterator[Section]:
    """Yield the sections of a db_csv; nothing where it is something else."""
    section: Section | None = None
    header: list[str] | None = None
    for raw in text.splitlines():
        line = raw[:LONGEST].strip()
        if line.startswith("START_"):
            section, header = Section(line.removeprefix("START_")), None
        elif line.startswith("END_"):
            if section is not None and header is not None:
                yield section
            section = None
        elif section is not None and line and not line.startswith("#"):
            try:
                cells = next(csv.reader([line]), [])
            except csv.Error:
                section.malformed.append(line[:200])
                continue
            if header is None:
                header = cells
            elif len(cells) == len(header):
                section.rows.append(dict(zip(header, cells, strict=True)))
            else:
                section.malformed.append(line[:200])
