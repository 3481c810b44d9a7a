"""A port whose interrupts are served on the wrong NUMA node, without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.devices import IRQ_FAR, IRQ_REMOTE
from fabrichealth.catalogue.ports import SPEED
from fabrichealth.kinds import Severity

LABELS = {"device": "host-001", "port": "eth0"}
PORT, FAR, FAST = (f'{metric}{{device="host-001",port="eth0"}}'
                   for metric in (IRQ_REMOTE, IRQ_FAR, SPEED))  # fmt: skip

ALERT = Alert(
    name="FabricInterruptsMisplaced",
    expr=(
        f"((min_over_time({IRQ_REMOTE}[30m]) >= 0.5 unless on (device) {IRQ_FAR}) "
        f"or min_over_time({IRQ_FAR}[30m]) >= 0.5) unless on (device, port) {SPEED} < 10e9"
    ),
    hold="5m",
    severity=Severity.WATCH,
    page="host.irq_misplaced",
    summary="{{ $labels.device }} serves {{ $labels.port }} on the wrong NUMA node",
    runbook=Runbook(
        meaning=(
            "For half an hour at least half of the port's interrupts were served by CPUs of "
            "another NUMA node than the one that its card sits on; of another socket, where the "
            "host tells how far its nodes are from one another."
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
            {PORT: "0.9x60", FAR: "0.1x60"},
            at="40m",
            fires=False,
            why="another node of the same socket",
        ),
        Case(
            {PORT: "0.9x60", FAR: "0.9x60", FAST: "4e11x60"},
            at="40m",
            fires=True,
            why="behind the other socket",
            labels=LABELS,
        ),
        Case(
            {PORT: "0.9x60", FAST: "1e9x60"},
            at="40m",
            fires=False,
            why="a port for management",
        ),
        Case(
            {PORT: "0.9x20 0.1x2 0.9x20"},
            at="40m",
            fires=False,
            why="a balancer at work: it comes and goes",
        ),
    ),
)
