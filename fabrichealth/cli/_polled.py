"""What one poll brought, printed: readings, refusals, neighbours, events and a summary."""

from collections.abc import Mapping, Sequence

from fabrichealth.cli import _terminal
from fabrichealth.metric import Kind
from fabrichealth.model import Poll, SeriesTable


def tell(name: str, target: str, poll: Poll, table: SeriesTable) -> None:
    """Print a poll as the JSON objects of contract 1."""
    for batch in poll.batches:
        for series, value in zip(batch.series.tolist(), batch.values.tolist(), strict=True):
            metric = table.metric(series)
            pairs = zip(metric.labels, table.labels(series), strict=True)
            labels = {label: text for label, text in pairs if text}
            _terminal.tell(
                {"metric": str(metric), "labels": labels, "value": value, "at": batch.at}
            )
    for one in poll.refused:
        key = "metric" if one.what.startswith("fabric_") else "field"
        raw = one.raw.decode("latin-1") if isinstance(one.raw, bytes) else one.raw
        _terminal.tell(
            {"refused": one.reason.value, key: one.what, "labels": dict(one.labels), "raw": raw}
        )
    for neighbor in poll.neighbors:
        _terminal.tell({"neighbor": {f: getattr(neighbor, f) for f in neighbor.__slots__}})
    for event in poll.events:
        _terminal.tell({"event": event.to_json()})
    _terminal.tell(
        {
            "source": name,
            "target": target,
            "readings": poll.readings,
            "refused": len(poll.refused),
            "partial": bool(poll.missing),
            "missing": poll.missing,
        }
    )


def say(name: str, target: str, poll: Poll, table: SeriesTable, report: Sequence[str] = ()) -> None:
    """Print a poll for a person; a report stands in place of the readings."""
    for line in report:
        _terminal.say(line)
    for batch in poll.batches if not report else ():
        for series, value in zip(batch.series.tolist(), batch.values.tolist(), strict=True):
            metric = table.metric(series)
            words = " ".join(
                f"{label}={text}"
                for label, text in zip(metric.labels, table.labels(series), strict=True)
                if text
            )
            number = "" if metric.kind is Kind.INFO else f" = {value:.12g} {metric.unit.value}"
            _terminal.say(f"{metric.name:44} {words}{number}".rstrip())
    for refused in poll.refused:
        words = " ".join(f"{label}={text}" for label, text in refused.labels.items())
        _terminal.say(f"refused ({refused.reason.value}): {refused.what} {words} {refused.raw!r}")
    for one in poll.neighbors:
        far = f"{one.remote_device}/{one.remote_port}".rstrip("/")
        _terminal.say(f"neighbor {one.device}/{one.port} faces {far} ({one.via})")
    for event in poll.events:
        where = " ".join(f"{kind}={place}" for kind, place in event.scope.items())
        _terminal.say(f"event {event.kind} {where} at {event.at:.0f}: {_words(event.more)}")
    missing = f", missing {', '.join(poll.missing)}" if poll.missing else ""
    _terminal.say(
        f"{name} {target}: {poll.readings} readings, {len(poll.refused)} refused{missing}"
    )


def _words(more: Mapping[str, object]) -> str:
    return " ".join(f"{key}={value}" for key, value in more.items())
