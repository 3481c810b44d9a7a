"""How much of what is free a job could have: held, free, in pieces, and who waits for it."""

from dashboards.board import Query, Question, Row
from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import JOBS_PENDING, SCHEDULABLE
from fabrichealth.catalogue.verdicts import (
    DOMAIN_FRAGMENTATION,
    DOMAIN_STRANDED,
    DOMAIN_TIER_FRAGMENTATION,
    LARGEST_PLACEABLE,
)

HERE = '{domain=~"$domain"}'

ROW = Row(
    "Fragmentation",
    (
        Question(
            "Lost to jobs of a size",
            [
                Query(
                    f"max by (domain, size) ({DOMAIN_FRAGMENTATION}{HERE})",
                    "{{domain}} jobs of {{size}}",
                )
            ],
            "Share of the free accelerators that jobs of a size cannot have: too few left on each "
            "host, or behind something ill. For a tray, a rack, and every size that waits.",
        ),
        Question(
            "Largest job that fits",
            [Query(f"max by (domain) ({LARGEST_PLACEABLE}{HERE})", "{{domain}}")],
            "In accelerators of one domain, whole hosts beyond one; `fabrichealth place` names "
            "the hosts.",
        ),
        Question(
            "By tier",
            [
                Query(
                    f"max by (domain, size, tier, counted) ({DOMAIN_TIER_FRAGMENTATION}{HERE})",
                    "{{domain}} jobs of {{size}}: {{tier}}, {{counted}}",
                )
            ],
            "The same with hosts, racks or the whole domain as the unit that a job takes of, or "
            "takes whole; free counts all, fit only what nothing ill stands before.",
            width=16,
        ),
        Question(
            "Stranded",
            [Query(f"max by (domain) ({DOMAIN_STRANDED}{HERE})", "{{domain}}")],
            "Free accelerators on hosts with too few for the smallest job that waits.",
            width=8,
        ),
        Question(
            "Jobs that wait",
            [
                Query(
                    f'sum by (domain, size) (max by (domain, size) ({JOBS_PENDING}{{size!="0"}})) '
                    "> 0",
                    "{{size}} {{domain}}",
                )
            ],
            "By size in accelerators; no domain where any will do. Those that wait for something "
            "else than room are not counted.",
            width=8,
        ),
        Question(
            "Accelerators held and free",
            [
                Query(f"sum({ALLOCATED})", "held"),
                Query(f"count({ALLOCATED} == 0)", "free"),
            ],
            "Of all domains, as the scheduler says it accelerator by accelerator; what it does not "
            "tell is in neither.",
            width=8,
        ),
        Question(
            "Hosts that take no work",
            [Query(f"count({SCHEDULABLE} == 0) or vector(0)", "down or drained")],
            "Free accelerators on them are no room.",
            width=8,
        ),
    ),
)
