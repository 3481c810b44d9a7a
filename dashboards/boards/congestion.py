"""Congestion: who stops whom and for how long, marks beside pauses, queues, parallel links."""

from dashboards.board import OK_BAD, Board, Query, Question, Row, Variable
from dashboards.incidents import how_many
from fabrichealth.catalogue.congestion import (
    CNP_TX_PACKETS,
    ECN_MARKED_PACKETS,
    ECN_RX_PACKETS,
    ECN_THRESHOLD,
    PAUSE_WAIT,
    PFC_RX_DROPPED_PACKETS,
    PFC_RX_FRAMES,
    PFC_RX_PAUSE,
    PFC_TX_PAUSE,
    PFC_WATCHDOG_STORMS,
    QUEUE_OCCUPANCY,
    QUEUE_WATERMARK,
)
from fabrichealth.catalogue.ports import SPEED, TRANSMIT_WAIT, TX_BYTES
from fabrichealth.kinds import (
    PFC_DEADLOCK,
    PFC_ECN_MISCONFIGURED,
    PFC_HEADROOM_SHORT,
    PFC_SLOW_RECEIVER,
    PFC_STORM,
)
from fabrichealth.metric import Metric

HERE = '{device=~"$device",port=~"$port"}'
QUEUE = "{{device}}/{{port}} priority {{priority}}"
PORT = "{{device}}/{{port}}"
SPAN = "[$__rate_interval]"

EDGE = f"max by (waiting, blocking, priority) ({PAUSE_WAIT})"


def _node(side: str) -> str:
    """Return one series a port on a side of the pause graph, named as a node graph wants it."""
    named = f'label_replace({PAUSE_WAIT}, "id", "$1", "{side}", "(.+)")'
    return f'label_replace({named}, "title", "$1", "{side}", "(.+)")'


EDGES = (
    f'label_join(label_join(label_join(topk(200, {EDGE}), "source", "", "waiting"), '
    '"target", "", "blocking"), "id", " > ", "waiting", "blocking", "priority")'
)
NODES = f"max by (id, title) ({_node('waiting')} or {_node('blocking')})"


def _most(metric: Metric, by: str, legend: str) -> Query:
    return Query(f"topk(10, sum by ({by}) (rate({metric}{SPAN})))", legend)


BOARD = Board(
    uid="fabrichealth-congestion",
    title="Fabric health / congestion",
    about="Pauses and where they begin, marks beside pauses, queues and parallel links.",
    variables=(
        Variable("device", "Device", f"label_values({TX_BYTES}, device)"),
        Variable("port", "Port", f'label_values({TX_BYTES}{{device=~"$device"}}, port)'),
    ),
    opens_on=("device", "port"),
    rows=(
        Row(
            "Now",
            (
                how_many(
                    "Storms and deadlocks",
                    (
                        PFC_STORM,
                        PFC_DEADLOCK,
                    ),
                    "Open incidents that stop work now.",
                ),
                how_many(
                    "Slow receivers and settings",
                    (
                        PFC_SLOW_RECEIVER,
                        PFC_HEADROOM_SHORT,
                        PFC_ECN_MISCONFIGURED,
                    ),
                    "Open incidents that need hands this week.",
                ),
                Question(
                    "Paused queues",
                    [Query(f"count(rate({PFC_RX_PAUSE}{SPAN}) > 0.01) or vector(0)", "queues")],
                    "Queues stopped for more than 1 % of the time.",
                    kind="stat",
                    width=6,
                    height=5,
                ),
                Question(
                    "Losses on lossless priorities",
                    [Query(f"sum(rate({PFC_RX_DROPPED_PACKETS}{SPAN})) or vector(0)", "a second")],
                    "Packets dropped at ingresses that should never drop.",
                    kind="stat",
                    width=6,
                    height=5,
                    unit="pps",
                    steps=OK_BAD,
                ),
            ),
        ),
        Row(
            "Who stops whom",
            (
                Question(
                    "Pause tree",
                    [Query(EDGES, table=True), Query(NODES, table=True)],
                    "Who waits for whom now, and for which share of the time: follow the arrows "
                    "down to where nothing waits; that is where the storm begins.",
                    kind="nodegraph",
                    width=16,
                    height=14,
                    hidden=("waiting", "blocking"),
                ),
                Question(
                    "Waits for",
                    [Query(f"topk(50, {EDGE})", table=True)],
                    "The same as a list, the longest waits first.",
                    kind="table",
                    width=8,
                    height=14,
                    called="share of time",
                ),
                Question(
                    "Stopped most",
                    [_most(PFC_RX_PAUSE, "device, port, priority", QUEUE)],
                    "Share of time for which the peer stops these queues.",
                    height=10,
                ),
                Question(
                    "Stop others most",
                    [_most(PFC_TX_PAUSE, "device, port, priority", QUEUE)],
                    "Share of time for which these ports stop their peers.",
                ),
                Question(
                    "Without credits",
                    [_most(TRANSMIT_WAIT, "device, port", PORT)],
                    "InfiniBand: share of time with data to send and no credits.",
                ),
            ),
        ),
        Row(
            "Marks beside pauses",
            (
                Question(
                    "Marked",
                    [_most(ECN_MARKED_PACKETS, "device, port, priority", QUEUE)],
                    "Packets that queues mark: many marks and few pauses are as it should be.",
                    unit="pps",
                ),
                Question(
                    "Marks that arrive, notifications sent",
                    [
                        Query(
                            f"sum by (device) (rate({ECN_RX_PACKETS}{SPAN}))", "{{device}} marked"
                        ),
                        Query(f"sum by (device) (rate({CNP_TX_PACKETS}{SPAN}))", "{{device}} sent"),
                    ],
                    "A NIC to which marks come and that notifies nobody slows no sender.",
                    unit="pps",
                ),
                Question(
                    "Queue and its thresholds",
                    [
                        Query(f"{QUEUE_OCCUPANCY}{HERE}", QUEUE),
                        Query(f"{QUEUE_WATERMARK}{HERE}", QUEUE + " highest"),
                        Query(f"{ECN_THRESHOLD}{HERE}", QUEUE + " marks from {{bound}}"),
                    ],
                    "Bytes in the queues of the ports chosen, and where marking begins.",
                ),
                Question(
                    "Pause frames and watchdog",
                    [
                        Query(
                            f"sum by (device, port) (rate({PFC_RX_FRAMES}{HERE}{SPAN}))",
                            PORT + " frames",
                        ),
                        Query(
                            f"sum by (device, port) (increase({PFC_WATCHDOG_STORMS}{HERE}{SPAN}))",
                            PORT + " watchdog",
                        ),
                    ],
                    "Frames let go as well as stop; the watchdog sees one queue and no origin.",
                ),
            ),
        ),
        Row(
            "Load",
            (
                Question(
                    "Load of the ports chosen",
                    [
                        Query(
                            f"rate({TX_BYTES}{HERE}{SPAN}) * 8 / on (device, port) "
                            f"group_left max by (device, port) ({SPEED}{HERE})",
                            PORT,
                        )
                    ],
                    "Share of line rate sent: parallel links should lie together.",
                    width=24,
                ),
            ),
        ),
    ),
)
