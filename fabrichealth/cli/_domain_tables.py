"""What became of a domain, for a person: tables, drawn at a terminal and plain in a pipe."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from fabrichealth import narrative
from fabrichealth.cli._console import cell

Row = Mapping[str, Any]

MOST_NAMED = 6

BEYOND = ": switches reduce, or speeds are written too low"
"""What is said of a benchmark that reached more than its links could carry as a ring."""

INDENT = "  "


@dataclass(frozen=True)
class Grid:
    """Rows of one table; the last column is as long as it is."""

    cells: Sequence[Sequence[str]]
    right: frozenset[int] | set[int] = field(default_factory=frozenset)
    """Columns of numbers, which end below each other."""
    headed: bool = False
    """Whether the first row names the columns."""

    def lines(self) -> Iterator[str]:
        """Yield it as plain lines."""
        widths = [max(map(len, column)) for column in zip(*self.cells, strict=True)]
        for line in self.cells:
            shown = [
                text.rjust(width) if place in self.right else text.ljust(width)
                for place, (text, width) in enumerate(zip(line, widths, strict=True))
            ]
            yield (INDENT + "  ".join(shown)).rstrip()

    def drawn(self) -> Table:
        """Return it for a terminal, where a long cell goes on in its own column."""
        table = Table(box=None, pad_edge=False, show_header=self.headed, header_style="dim")
        table.add_column("", width=0)
        head, rows = (self.cells[0], self.cells[1:]) if self.headed else ((), self.cells)
        for place in range(len(self.cells[0]) if self.cells else 0):
            table.add_column(
                cell(head[place]) if self.headed else "",
                justify="right" if place in self.right else "left",
                overflow="fold",
            )
        for row in rows:
            table.add_row("", *map(cell, row))
        return table


def tables(domain: str, rows: Sequence[Row]) -> str:
    """Return all sections that have rows, each under its heading."""
    parts = [
        "\n".join(
            line for one in said for line in (one.lines() if isinstance(one, Grid) else [one])
        )
        for said in _sections(domain, rows)
    ]
    return "\n\n".join(parts)


def drawn(domain: str, rows: Sequence[Row]) -> RenderableType:
    """Return the same for a terminal."""
    found: list[RenderableType] = []
    for said in _sections(domain, rows):
        found += [""] if found else []
        for place, one in enumerate(said):
            if isinstance(one, Grid):
                found.append(one.drawn())
            else:
                found.append(cell(one, "bold" if place == 0 else ""))
    return Group(*found)


def _sections(domain: str, rows: Sequence[Row]) -> Iterator[list[str | Grid]]:
    for section, told in _SECTIONS.items():
        mine = [row for row in rows if row["section"] == section]
        said = list(told(domain, mine)) if mine else []
        if said:
            yield said


def _hours(domain: str, rows: Sequence[Row]) -> Iterator[str | Grid]:
    total = sum(row["hours"] for row in rows)
    since, until = rows[0]["since"], rows[0]["until"]
    yield (
        f"{domain}: where {total:,.0f} accelerator-hours went, {narrative.moment(since)} to "
        f"{narrative.moment(until)}"
    )
    shown = [row for row in rows if row["share"]]
    cells = [(row["row"], f"{row['share']:.1%}", f"{row['hours']:,.1f} h", row["says"]) for row in
             sorted(shown, key=lambda row: (row["row"] != "useful", -row["hours"]))]  # fmt: skip
    yield Grid(cells, {1, 2})
    if not shown:
        yield "  nothing is known of any accelerator"


def _energy(domain: str, rows: Sequence[Row]) -> Iterator[str | Grid]:
    for row in rows:
        whose = "racks" if row["meter"] == "rack" else "accelerators alone"
        rate = row["hours_per_kilowatt_hour"]
        each = "nothing was drawn" if rate is None else f"{rate:.3f} useful hours a kWh"
        yield (
            f"energy of {domain}: {row['kilowatt_hours']:,.1f} kWh by meters of {whose}, {each} "
            f"({row['metered']:.0%} of the hours metered)"
        )


def _machine(domain: str, rows: Sequence[Row]) -> Iterator[str | Grid]:
    for row in rows:
        silent = f"; of {len(row['unheard'])} nothing is heard" if row["unheard"] else ""
        yield (
            f"{domain} as one machine: {row['effective']} of {row['size']} accelerators reach the "
            f"others over {row['floor']:.0%} of their links or more{silent}"
        )
        for key, says in (
            ("cut_off", "cut off"), ("thin", "over less"), ("unheard", "nothing heard of")
        ):  # fmt: skip
            if row[key]:
                yield f"  {says}: {_named(row[key])}"


def _bisection(domain: str, rows: Sequence[Row]) -> Iterator[str | Grid]:
    yield f"bisection of {domain}: what one half can send to the other"
    cells = []
    for row in rows:
        much = "links without a written speed"
        if row["gbps"] is not None:
            much = f"{row['gbps']:,.0f} of {row['built_gbps']:,.0f} Gb/s"
        whose = f"narrowest found: {_named(row['one'])} against the rest"
        cells.append((row["network"], f"{row['share']:.1%}", much, whose))
    yield Grid(cells, {1, 2})


def _failure(domain: str, rows: Sequence[Row]) -> Iterator[str | Grid]:
    yield f"what a failure in {domain} would cost"
    cells = []
    for row in rows:
        what = row["name"] if row["what"] == "switch" else f"the plane of {row['name']}"
        loss = f"{row['lost']:.0%} of {row['network'].replace('_', '-')} bandwidth"
        also = f", cuts off {row['cut_off']} accelerators" if row["cut_off"] else ""
        others = row["alike"] - 1
        like = f" (so would {others} other{'s' * (others > 1)})" if others else ""
        cells.append((f"job {row['job']}", what, f"{loss}{also}{like}"))
    yield Grid(cells)


def _recovery(domain: str, rows: Sequence[Row]) -> Iterator[str | Grid]:
    yield f"recovery in {domain} (Kaplan-Meier; what goes on counts as going on)"
    head = ("", "phase", "n", "over", "median", "90 %", "99 %")
    cells = [head]
    for row in rows:
        group = f"{row['group'] or 'in no single domain'}{' (drill)' if row['drill'] else ''}"
        times = [_span(row[key]) for key in ("median", "p90", "p99")]
        cells.append((group, row["phase"], str(row["number"]), str(row["over"]), *times))
    yield Grid(cells, {2, 3, 4, 5, 6}, headed=True)


def _parts(domain: str, rows: Sequence[Row]) -> Iterator[str | Grid]:
    failed = [row for row in rows if row["failures"]]
    well = [row["part"] for row in rows if not row["failures"]]
    if failed:
        yield "what failed, and what it hit (drills left out)"
    cells = [("", "parts", "failures", "between failures of one", "accelerators hit", "jobs hit")]
    for row in failed:
        hit = [f"{row[key]:.1f}, most {row[f'most_{key}']}" for key in ("accelerators", "jobs")]
        between = f"{_span(row['between'])}, at least {_span(row['at_least'])}"
        cells.append((row["part"], str(row["parts"]), str(row["failures"]), between, *hit))
    if failed:
        yield Grid(cells, {1, 2, 3}, headed=True)
    if well:
        yield f"no failure in this time: {', '.join(well)}"


def _benchmark(domain: str, rows: Sequence[Row]) -> Iterator[str | Grid]:
    if rows[0]["domain"]:
        yield f"benchmarks beside what the links of {domain} were built to give"
    else:
        yield "benchmarks of the whole site; in which domain each ran is not told"
    cells = []
    for row in rows:
        reached = f"{row['reached'] / 1e9:.1f} GB/s"
        bound = "no limit known" if row["limit"] is None else (
            f"{row['of_limit']:.0%} of {row['limit'] / 1e9:.1f} GB/s"
        )  # fmt: skip
        bound += BEYOND if row["limit"] is not None and row["of_limit"] > 1.0 else ""
        scale = f"{row['reached'] / row['first']:.0%} of the smallest" if row["first"] else "-"
        cells.append(
            (row["benchmark"], row["operation"], str(row["accelerators"]), reached, bound, scale)
        )
    yield Grid(cells, {2, 3})


_SECTIONS: dict[str, Callable[[str, Sequence[Row]], Iterator[str | Grid]]] = {
    "hours": _hours,
    "energy": _energy,
    "machine": _machine,
    "bisection": _bisection,
    "failure": _failure,
    "recovery": _recovery,
    "parts": _parts,
    "benchmark": _benchmark,
}


def _span(seconds: float | None) -> str:
    return "not reached" if seconds is None else narrative.span(seconds)


def _named(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
