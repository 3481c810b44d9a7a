"""How busy the links of a domain are, where they are hot, and what they still carry as a whole."""

from dashboards.board import RATE, Query, Question, Row
from fabrichealth.catalogue.devices import BUS_BANDWIDTH
from fabrichealth.catalogue.ports import PORT_INFO, SPEED, TX_BYTES
from fabrichealth.catalogue.verdicts import (
    DOMAIN_ACCELERATORS,
    DOMAIN_BISECTION,
    DOMAIN_BISECTION_HEADROOM,
    DOMAIN_BISECTION_SHARE,
    EFFECTIVE_ACCELERATORS,
    HOT_LINKS,
    INTERCONNECT_UTILIZATION,
)
from fabrichealth.metric import Metric

HERE = '{domain=~"$domain"}'
NETWORK = "{{domain}} {{network}}"
SENT = (
    f"8 * max by (device, port) (rate({TX_BYTES}[{RATE}])) / on (device, port) "
    f"max by (device, port) ({SPEED} > 0)"
)
IN_DOMAIN = f"on (device, port) group_left (domain, technology) ({PORT_INFO}{HERE})"


def _by_network(metric: Metric) -> Query:
    return Query(f"max by (domain, network) ({metric}{HERE})", NETWORK)


ROW = Row(
    "Interconnect",
    (
        Question(
            "Links by how busy they are",
            [
                Query(
                    f"max by (domain, quantile) ({INTERCONNECT_UTILIZATION}{HERE})",
                    "{{domain}} {{quantile}}",
                )
            ],
            "Load of the least busy link, the median, the busiest, each in its busier direction "
            "over ten minutes. A highest far above the median is a hot spot that no average shows.",
        ),
        Question(
            "Hot links",
            [Query(f"max by (domain) ({HOT_LINKS}{HERE})", "{{domain}}")],
            "Links above 90 % of their rate in a twentieth of the polls, or far above their "
            "siblings again and again.",
            width=6,
        ),
        Question(
            "Hot spots",
            [Query(f"topk(10, {SENT} * {IN_DOMAIN})", table=True)],
            "Ports that send the most for what they carry.",
            kind="table",
            width=6,
        ),
        Question(
            "Works as one machine",
            [
                Query(f"max by (domain) ({EFFECTIVE_ACCELERATORS}{HERE})", "{{domain}} works"),
                Query(
                    f"sum by (domain) (max by (domain, band) ({DOMAIN_ACCELERATORS}{HERE}))",
                    "{{domain}} inventory",
                ),
            ],
            "Accelerators that reach the others over the share of their links that the site asks "
            "for, beside all that there should be.",
        ),
        Question(
            "Bisection left",
            [_by_network(DOMAIN_BISECTION_SHARE)],
            "What one half can send to the other, over what it could if every link carried what it "
            "was built for; by network.",
            width=6,
        ),
        Question(
            "Bisection free",
            [_by_network(DOMAIN_BISECTION_HEADROOM)],
            "Share of the narrowest cut that nothing crosses now, in its fuller direction.",
            width=6,
        ),
        Question(
            "Bisection bandwidth",
            [_by_network(DOMAIN_BISECTION)],
            "What one half can send to the other, in bits per second.",
        ),
        Question(
            "Benchmarks",
            [
                Query(
                    "max by (benchmark, operation, accelerators) "
                    f"(last_over_time({BUS_BANDWIDTH}[30d]))",
                    "{{benchmark}} {{operation}} {{accelerators}}",
                )
            ],
            "Bus bandwidth that collectives of so many accelerators reached when they were last "
            "run, at their best size; `status --domain` has what their links could give.",
        ),
    ),
)
