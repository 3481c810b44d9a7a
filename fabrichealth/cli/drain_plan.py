"""`drain-plan`: what may be drained now, in which order, and what forbids the rest.

Ordered by loss avoided per capacity lost; each step is judged with those before it drained, so
the safe ones may be drained together.
"""

import argparse
from typing import Any

from rich.table import Table

from fabrichealth.cli import _terminal
from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._console import cell, draws, show
from fabrichealth.cli._draining import drain_plan
from fabrichealth.cli._incidents import arguments, incidents, rows, told
from fabrichealth.cli._site import load

COLUMNS = ("", "incident", "kind", "culprit", "avoids", "costs", "drain now")


class DrainPlan(Command):
    """Orders candidates for draining."""

    help = "what may be drained now, in which order, and what forbids the rest"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare where to look."""
        arguments(parser)
        parser.add_argument("--json", action="store_true", help="one JSON object a step")

    def run(self, asked: argparse.Namespace) -> int:
        """Print the plan."""
        if asked.config is None:
            steps = rows(asked, "/api/v1/drain-plan")
        else:
            setup = load(asked.config)
            floor = setup.site.policy.capacity_floor
            every = list(incidents(asked))
            steps = drain_plan(every, setup.topology, told(asked.config), floor)
            still_open = sum(one["closed_at"] is None for one in every)
            if still_open and not setup.topology.links:
                _terminal.warn(f"{asked.config}: no links are written, so that drains cannot be "
                               f"weighed ({still_open} incidents are open); write them, or ask the "
                               "daemon that has discovered them by --url")  # fmt: skip
        for step in steps if asked.json else ():
            _terminal.tell(step)
        if not asked.json and steps and draws():
            show(drawn(steps))
            _terminal.say(summary(steps))
        elif not asked.json:
            _terminal.say(table(steps))
        return WELL


def drawn(steps: list[dict[str, Any]]) -> Table:
    """Return a plan as a table for a terminal."""
    plan = Table(box=None, pad_edge=False, expand=True)
    for name in COLUMNS:
        right = name in {"", "avoids", "costs"}
        plan.add_column(name.upper(), justify="right" if right else "left", overflow="fold",
                        ratio=2 if name == "drain now" else 1 if name == "culprit" else None,
                        no_wrap=name not in {"culprit", "drain now"})  # fmt: skip
    for number, step in enumerate(steps, start=1):
        *facts, last = map(cell, _cells(number, step))
        last.style = "green" if step["safe"] else "yellow"
        plan.add_row(*facts, last)
    return plan


def summary(steps: list[dict[str, Any]]) -> str:
    """Return how many steps may be taken now."""
    safe = sum(step["safe"] for step in steps)
    return f"{safe} of {len(steps)} may be drained now, in this order; avoids and costs in Gb/s"


def _cells(number: int, step: dict[str, Any]) -> tuple[str, ...]:
    """Return a step by the columns."""
    word = "yes" if step["safe"] else "no"
    return (
        str(number),
        step["incident"],
        step["kind"],
        step["culprit"]["id"],
        f"{step['loss_avoided_gbps']:.4g}",
        f"{step['capacity_lost_gbps']:.4g}",
        f"{word}: {step['because']}",
    )


def table(steps: list[dict[str, Any]]) -> str:
    """Return a plan for a person."""
    if not steps:
        return "nothing open that draining would help"
    lines = [COLUMNS, *(_cells(number, step) for number, step in enumerate(steps, start=1))]
    widths = [max(len(line[place]) for line in lines) for place in range(len(COLUMNS) - 1)]
    shown = [
        "  ".join(
            [*(text.ljust(width) for text, width in zip(line, widths, strict=False)), line[-1]]
        )
        for line in lines
    ]
    return "\n".join([*shown, summary(steps)])
