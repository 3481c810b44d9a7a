"""Congestion: who stops whom and for how long, marks beside pauses, queues, parallel links."""

from dashboards.board import OK_BAD, Board, Query, Question, Row, Step, Variable
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
from fabrichealth.catalogue.verdicts import INCIDENT_INFO
from fabrichealth.metric import Metric

HERE = '{device=~"$device",port=~"$port"}'
QUEUE = "{{device}}/{{port}} priority {{priority}}"
PORT = "{{device}}/{{port}}"
SPAN = "[$__rate_interval]"


def _open(kinds: str) -> Query:
    chosen = f'{INCIDENT_INFO}{{kind=~"{kinds}",suppressed_by=""}}'
    return Query(f"count(max by (incident) ({chosen})) or vector(0)", "open")


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
    rows=(
        Row(
            "Now",
            (
                Question(
                    "Storms and deadlocks", [_open("pfc.storm|pfc.deadlock")],
                    "Open incidents that stop work now.",
                    kind="stat", width=6, height=5, steps=OK_BAD,
                ),
                Question(
                    "Slow receivers and settings",
                    [_open("pfc.slow_receiver|pfc.headroom_short|pfc.ecn_misconfigured")],
                    "Open incidents that need hands this week.",
                    kind="stat", width=6, height=5, steps=(Step("green"), Step("orange", 1.0)),
                ),
                Question(
                    "Paused queues",
                    [Query(f"count(rate({PFC_RX_PAUSE}{SPAN}) > 0.01) or vector(0)", "queues")],
                    "Queues stopped for more than 1 % of the time.",
                    kind="stat", width=6, height=5,
                ),
                Question(
                    "Losses on lossless priorities",
                    [Query(f"sum(rate({PFC_RX_DROPPED_PACKETS}{SPAN})) or vector(0)", "a second")],
                    "Packets dropped at ingresses that should never drop.",
                    kind="stat", width=6, height=5, unit="pps", steps=OK_BAD,
                ),
            ),
        ),
        Row(
            "Who stops whom",
            (
                Question(
                    "Waits for",
                    [Query(f"topk(50, {PAUSE_WAIT})", table=True)],
                    "Edges of the pause graph: follow `blocking` down to where nothing waits.",
                    kind="table", height=10,
                ),
                Question(
                    "Stopped most", [_most(PFC_RX_PAUSE, "device, port, priority", QUEUE)],
                    "Share of time for which the peer stops these queues.",
                    unit="percentunit", height=10,
                ),
                Question(
                    "Stop others most", [_most(PFC_TX_PAUSE, "device, port, priority", QUEUE)],
                    "Share of time for which these ports stop their peers.", unit="percentunit",
                ),
                Question(
                    "Without credits", [_most(TRANSMIT_WAIT, "device, port", PORT)],
                    "InfiniBand: share of time with data to send and no credits.",
                    unit="percentunit",
                ),
            ),
        ),
        Row(
            "Marks beside pauses",
            (
                Question(
                    "Marked", [_most(ECN_MARKED_PACKETS, "device, port, priority", QUEUE)],
                    "Packets that queues mark: many marks and few pauses are as it should be.",
                    unit="pps",
                ),
                Question(
                    "Marks that arrive, notifications sent",
                    [
                        Query(f"sum by (device) (rate({ECN_RX_PACKETS}{SPAN}))",
                              "{{device}} marked"),
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
                    unit="bytes",
                ),
                Question(
                    "Pause frames and watchdog",
                    [
                        Query(f"sum by (device, port) (rate({PFC_RX_FRAMES}{HERE}{SPAN}))",
                              PORT + " frames"),
                        Query(f"sum by (device, port) (increase({PFC_WATCHDOG_STORMS}{HERE}"
                              f"{SPAN}))", PORT + " watchdog"),
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
                    [Query(f"rate({TX_BYTES}{HERE}{SPAN}) * 8 / on (device, port) "
                           f"group_left max by (device, port) ({SPEED}{HERE})", PORT)],
                    "Share of line rate sent: parallel links should lie together.",
                    unit="percentunit", width=24,
                ),
            ),
        ),
    ),
)  # fmt: skip
