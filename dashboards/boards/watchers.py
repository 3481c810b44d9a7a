"""Watchers: who is silent, what is refused, what is judged on too little; blind is not well."""

from dashboards.board import BAD_OK, OK_BAD, RATE, Board, Query, Question, Row, Step, Variable
from dashboards.incidents import NEEDS_HANDS, how_many
from fabrichealth.catalogue.verdicts import SECONDS_TO_VERDICT
from fabrichealth.catalogue.watchers import (
    ANALYSIS_COVERAGE,
    ANALYSIS_SECONDS,
    DROPPED_SAMPLES,
    LAST_SUCCESS,
    PARTIAL,
    POLL_SECONDS,
    READINGS,
    REJECTED,
    SOURCE_UP,
    SPOOLED_SAMPLES,
)
from fabrichealth.kinds import WATCH_DATA_IMPLAUSIBLE, WATCH_SOURCE_SILENT

HERE = '{source=~"$source"}'
TARGET = "{{source}} {{target}}"

BOARD = Board(
    uid="fabrichealth-watchers",
    title="Fabric health / watchers",
    about="Whether anybody looks: sources, what they refuse, and what the judge had to go by.",
    variables=(Variable("source", "Source", f"label_values({SOURCE_UP}, source)"),),
    opens_on=("source",),
    rows=(
        Row(
            "Now",
            (
                Question(
                    "Targets that answer",
                    [Query(f"avg({SOURCE_UP}{HERE})", "share")],
                    "Share of all targets that answered their last visit.",
                    kind="stat",
                    unit="percentunit",
                    width=4,
                    height=5,
                    steps=(Step("red"), Step("orange", 0.95), Step("green", 1.0)),
                ),
                Question(
                    "Silent",
                    [Query(f"count({SOURCE_UP}{HERE} == 0) or vector(0)", "silent")],
                    "What they watched is unknown, not well.",
                    kind="stat",
                    width=4,
                    height=5,
                    steps=OK_BAD,
                ),
                how_many(
                    "Silent for long",
                    (WATCH_SOURCE_SILENT,),
                    "Open incidents of targets that have not answered for three polls.",
                    width=4,
                ),
                how_many(
                    "Not to be believed",
                    (WATCH_DATA_IMPLAUSIBLE,),
                    "Devices whose readings cannot be true.",
                    width=4,
                ),
                Question(
                    "Least judged",
                    [Query(f"min({ANALYSIS_COVERAGE} > 0)", "least")],
                    "The detector with the smallest share of what it should judge that had data "
                    "enough; those with nothing to judge are left out.",
                    kind="stat",
                    width=4,
                    height=5,
                    steps=(Step("red"), Step("orange", 0.5), Step("green", 0.9)),
                ),
                Question(
                    "Lost before the store",
                    [Query(f"sum(increase({DROPPED_SAMPLES}[1h])) or vector(0)", "samples")],
                    "Samples of the last hour that no store took; what waits on disk is not lost.",
                    kind="stat",
                    width=4,
                    height=5,
                    steps=NEEDS_HANDS,
                ),
            ),
        ),
        Row(
            "Who is silent",
            (
                Question(
                    "Targets that do not answer",
                    [
                        Query(
                            f"time() - max by (source, target) ({LAST_SUCCESS}{HERE}) and "
                            f"on (source, target) ({SOURCE_UP}{HERE} == 0)",
                            table=True,
                        )
                    ],
                    "And for how long; one that never answered has no time of last answer and is "
                    "in the list to the right alone.",
                    kind="table",
                    called="silent for",
                ),
                Question(
                    "Answers",
                    [Query(f"min by (source, target) ({SOURCE_UP}{HERE})", TARGET)],
                    "Red while a target does not answer.",
                    kind="history",
                    steps=BAD_OK,
                ),
                Question(
                    "Partial answers",
                    [Query(f"count by (source) ({PARTIAL}{HERE} == 1)", "{{source}}")],
                    "Targets of which a part did not answer: the rest counts.",
                ),
                Question(
                    "Readings a poll",
                    [Query(f"sum by (source) ({READINGS}{HERE})", "{{source}}")],
                    "A step down is a device that stopped telling something.",
                ),
            ),
        ),
        Row(
            "What is not believed, and how long visits take",
            (
                Question(
                    "Readings refused",
                    [
                        Query(
                            f"sum by (source, reason) (rate({REJECTED}{HERE}[{RATE}])) > 0",
                            "{{source}} {{reason}}",
                        )
                    ],
                    "By reason: implausible, duplicate, text where a number should be.",
                ),
                Question(
                    "Slowest visits",
                    [Query(f"topk(10, {POLL_SECONDS}{HERE})", TARGET)],
                    "How long the last visit to a target took.",
                ),
            ),
        ),
        Row(
            "The judge",
            (
                Question(
                    "Judging",
                    [Query(f"topk(10, {ANALYSIS_SECONDS})", "{{detector}}")],
                    "Seconds that each detector's last pass took.",
                ),
                Question(
                    "Coverage",
                    [Query(f"bottomk(10, {ANALYSIS_COVERAGE} > 0)", "{{detector}}")],
                    "Share of what a detector should judge that had data enough.",
                ),
                Question(
                    "Links whose bits are too few for a verdict",
                    [Query(f"topk(20, max by (link, side) ({SECONDS_TO_VERDICT}))", table=True)],
                    "And how long until there are enough at the present rate.",
                    kind="table",
                    unit="s",
                    called="until a verdict",
                ),
                Question(
                    "Samples that wait for the store",
                    [Query(f"max by (job, instance) ({SPOOLED_SAMPLES})", "{{instance}}")],
                    "On disk: the store does not answer or is slow.",
                ),
            ),
        ),
    ),
)
