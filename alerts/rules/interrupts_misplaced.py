"""A port whose interrupts are served on the wrong NUMA node, without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.devices import IRQ_REMOTE
from fabrichealth.kinds import Severity

LABELS = {"device": "host-001", "port": "eth0"}
PORT = f'{IRQ_REMOTE}{{device="host-001",port="eth0"}}'

ALERT = Alert(
    name="FabricInterruptsMisplaced",
    expr=f"min_over_time({IRQ_REMOTE}[30m]) >= 0.5",
    hold="5m",
    severity=Severity.WATCH,
    page="host.irq_misplaced",
    summary="{{ $labels.device }} serves {{ $labels.port }} on the wrong NUMA node",
    runbook=Runbook(
        meaning=(
            "For half an hour at least half of the port's interrupts were served by CPUs of "
            "another NUMA node than the one that its card sits on."
        ),
        impact="Each packet crosses the socket's own link; the port is slow without any error.",
        diagnosis=(
            "`cat /proc/interrupts` beside `numa_node` of the card: which CPUs serve its queues. "
            "irqbalance, a container's CPU set or a driver update may have moved them."
        ),
        mitigation="Pin the queues to CPUs of the card's node, or let the vendor's script do it.",
    ),
    cases=(
        Case(
            {PORT: "0.9x60"},
            at="40m",
            fires=True,
            why="served elsewhere all along",
            labels=LABELS,
        ),
        Case(
            {PORT: "0.9x20 0.1x2 0.9x20"},
            at="40m",
            fires=False,
            why="a balancer at work: it comes and goes",
        ),
    ),
)
