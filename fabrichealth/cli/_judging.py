"""The judging process of `run`: reads the store, tells its parent what it found.

A child, so that a pass never delays a poll. It speaks JSON lines on stdout: `verdicts` (one
batch per pass) and `incident`s. It ends when its stdin is closed, with its parent.
"""

import argparse
import logging
import os
import select
import sys
import time
from pathlib import Path
from typing import Any

import orjson

from analyzer.judge import Judge, Outcome, detectors
from analyzer.jurisdiction import Jurisdiction
from analyzer.ledger import Ledger, save
from analyzer.ledger import load as load_ledger
from fabrichealth.cli import _judged as judged
from fabrichealth.errors import FabricHealthError, StoreError
from fabrichealth.events import parse
from fabrichealth.runtime.clock import Clock
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.journal import SqliteJournal

log = logging.getLogger("judging")


def main() -> int:
    """Judge until the parent goes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("state", type=Path)
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--origin", type=float, default=None)
    asked = parser.parse_args()
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s"
    )
    try:
        return _judge(asked.state, Clock(asked.speed, asked.origin))
    except FabricHealthError as wrong:
        log.error("%s", wrong)
        return 1
    except BrokenPipeError:
        return 0


def _judge(state: Path, clock: Clock) -> int:
    paths = StatePaths(state)
    topology, sections, policy, engine, domains = judged.read(paths.judged)
    ours = Jurisdiction(topology, domains)
    store = engine.reader(ours.wants)
    journal = SqliteJournal.open(paths.journal, read_only=True)
    ledger = load_ledger(paths.ledger)
    judge = Judge(
        store,
        topology,
        detectors(sections),
        ledger,
        judged.policy_of(policy),
        ours=ours,
    )
    every = policy.judge_every
    position, due, refused = 0, clock.now(), ""
    _line({"open": [incident.to_json() for incident in judge.open]})
    while not _orphaned(max(due - clock.now(), 0.0) / clock.speed):
        due = max(due + every, clock.now())
        entries = journal.since(position, "event")
        position = entries[-1].position if entries else position
        judge.tell([parse(entry.body) for entry in entries])
        try:
            outcome = judge.judge(clock.now() - engine.lag)
        except StoreError as wrong:
            log.warning("pass skipped: %s", wrong)
            continue
        # said before it is saved: what is lost with us in between is judged and said again
        _send(outcome)
        refused = _kept(ledger, paths.ledger, refused)
    return 0


def _kept(ledger: Ledger, path: Path, refused: str) -> str:
    """Save the ledger; a disk that takes nothing is said once, and judging goes on in memory.

    `refused` is what the last attempt said, empty if it was well; returned for the next.
    """
    try:
        save(ledger, path)
    except OSError as wrong:
        why = wrong.strerror or str(wrong)
        if why != refused:
            log.error("%s: cannot be written (%s); make room, judging goes on meanwhile", path, why)
        return why
    if refused:
        log.info("%s: is written again", path)
    return ""


def _orphaned(seconds: float) -> bool:
    """Wait so long; return whether the parent closed our stdin meanwhile."""
    until = time.monotonic() + seconds
    while True:
        left = until - time.monotonic()
        ready, _, _ = select.select([sys.stdin], [], [], max(left, 0.0))
        if ready:
            return not os.read(sys.stdin.fileno(), 4096)
        if left <= 0:
            return False


def _send(outcome: Outcome) -> None:
    rows = [[str(one.metric), one.labels, one.value] for one in outcome.verdicts]
    _line({"verdicts": {"at": outcome.at, "rows": rows}})
    for incident in (*outcome.changed, *outcome.closed):
        _line({"incident": incident.to_json()})


def _line(plain: dict[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(plain, option=orjson.OPT_SERIALIZE_NUMPY) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
