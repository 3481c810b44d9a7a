"""Corpora: labelled histories on disk (contract 6), replayed and matched one by one."""

import tempfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from analyzer.judge import detectors
from analyzer.replaying import Replay
from analyzer.scoring import Matched, Told, Truth, match, truths
from fabrichealth.cli._events import read_events, without_incidents
from fabrichealth.cli.replay import policy_of
from fabrichealth.config import Site
from fabrichealth.errors import SiteError
from fabrichealth.events import Event
from fabrichealth.history import read as read_history
from fabrichealth.kinds import KINDS
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import read as read_topology

TRUTH, TOPOLOGY, EVENTS = "truth.jsonl", "topology.yaml", "events.jsonl"
HISTORIES = ("history*.jsonl.gz", "history*.jsonl")


@dataclass(frozen=True)
class Judged:
    """One corpus: what the analyzer said, matched with what was wrong."""

    name: str
    matched: Matched
    links: int
    seconds: float
    """Length of the history."""
    passes: int
    warnings: list[str] = field(default_factory=list)


def folders(given: Iterable[Path]) -> Iterator[Path]:
    """Yield corpora: a folder with a truth is one, of any other those directly inside.

    Raises:
        SiteError: there is none.
    """
    for path in given:
        if (path / TRUTH).exists():
            yield path
            continue
        inside = sorted(found.parent for found in path.glob(f"*/{TRUTH}"))
        if not inside:
            raise SiteError(f"{path}: no corpus; one is a folder with {TRUTH} and {TOPOLOGY}")
        yield from inside


def judge(folder: Path, site: Site | None = None, leave_out: Collection[str] = ()) -> Judged:
    """Replay a corpus with the settings of a site, or the defaults, and match it.

    Detectors named in `leave_out` do not judge: what each adds is seen by what is then missing.

    Raises:
        SiteError: a file of it is missing or wrong; file and line are named.
    """
    wrong = read_truths(folder / TRUTH)
    topology = read_topology(folder / TOPOLOGY)
    histories = [path for form in HISTORIES for path in sorted(folder.glob(form))]
    if not histories:
        raise SiteError(f"{folder}: holds no {HISTORIES[0]}; nothing can be replayed")
    warnings = [
        f"{folder / TRUTH}: kind {name!r} is not known; matched by place alone"
        for name in sorted({truth.kind for truth in wrong} - KINDS.keys())
    ]
    events: list[Event] = []
    if (folder / EVENTS).exists():
        events = without_incidents(read_events(folder / EVENTS))
    else:
        warnings.append(f"{folder}: has no {EVENTS}; replayed without events")
    with tempfile.TemporaryDirectory(prefix="fabrichealth-evaluate-") as place:
        store = EmbeddedStore.open(Path(place) / "history.db")
        try:
            report = read_history(histories, store)
            span = store.span()
            if span is None:
                raise SiteError(f"{histories[0]}: holds no reading; nothing can be replayed")
            every = detectors(site.detectors if site else None)
            play = Replay(
                store,
                topology,
                {name: one for name, one in every.items() if name not in leave_out},
                events,
                policy_of(site),
                site.policy.judge_every if site else 10.0,
            )
            told = [Told.of(incident.to_json()) for incident in play.run()]
        finally:
            store.close()
    matched = match(wrong, told, topology)
    warnings += report.warnings
    length = span[1] - span[0]
    return Judged(folder.name, matched, len(topology.links), length, play.passes, warnings)


def read_truths(path: Path) -> list[Truth]:
    """Read a `truth.jsonl`.

    Raises:
        SiteError: it cannot be read, or a line is no truth.
    """
    try:
        return truths(path.read_text(encoding="utf-8").splitlines())
    except UnicodeDecodeError:
        raise SiteError(f"{path}: not UTF-8 text; save it as UTF-8") from None
    except OSError as failed:
        raise SiteError(f"{path}: cannot be read ({failed.strerror}); check the path") from None
    except ValueError as failed:
        raise SiteError(f"{path}: {failed}; mend it, the corpus is left out") from None
