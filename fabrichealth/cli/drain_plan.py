"""`drain-plan`: what may be drained now, in which order, and what forbids the rest.

Ordered by loss avoided per capacity lost; each step is judged with those before it drained, so
the safe ones may be drained together.
"""

import argparse
from typing import Any

from fabrichealth.cli import _terminal
from fabrichealth.cli._command import WELL, Command
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
            steps = drain_plan(incidents(asked), setup.topology, told(asked.config), floor)
        for step in steps if asked.json else ():
            _terminal.tell(step)
        if not asked.json:
            _terminal.say(table(steps))
        return WELL


def table(steps: list[dict[str, Any]]) -> str:
    """Return a plan for a person."""
    if not steps:
        return "nothing open that draining would help"
    lines = [COLUMNS]
    for number, step in enumerate(steps, start=1):
        word = "yes" if step["safe"] else "no"
        lines.append(
            (
                str(number),
                step["incident"],
                step["kind"],
                step["culprit"]["id"],
                f"{step['loss_avoided_gbps']:.4g}",
                f"{step['capacity_lost_gbps']:.4g}",
                f"{word}: {step['because']}",
            )
        )
    widths = [max(len(line[place]) for line in lines) for place in range(len(COLUMNS) - 1)]
    shown = [
        "  ".join(
            [*(text.ljust(width) for text, width in zip(line, widths, strict=False)), line[-1]]
        )
        for line in lines
    ]
    safe = sum(step["safe"] for step in steps)
    shown.append(
        f"{safe} of {len(steps)} may be drained now, in this order; avoids and costs in Gb/s"
    )
    return "\n".join(shown)
