"""Exported: answers of VictoriaMetrics' `/api/v1/export`, a JSON object a series and line.

Of 1,000 lines 999 have names that are known and time stamps that the line before had. So a line is
cut where its parts end, both are looked up as they stand, and only values are read as numbers.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import orjson

from fabrichealth.errors import StoreError
from fabrichealth.metric import Metric
from fabrichealth.store.remote.identity import Identities
from fabrichealth.store.remote.lines import Gathered, Lines

HEAD = b'{"metric":'
VALUES = b',"values":['
STAMPS = b'],"timestamps":['
"""No name holds these: quotes are escaped in them."""


def exported(pieces: Iterable[bytes], metric: Metric, known: Identities) -> Lines:
    """Return the lines of an answer.

    Raises:
        StoreError: it is none of this form.
    """
    found = Gathered()
    stamps: dict[bytes, int] = {}
    names = known.of(metric)
    for block in _whole_lines(pieces):
        texts: list[bytes] = []
        many = 0
        for line in block.split(b"\n"):
            if not line:
                continue
            cut, mid = line.find(VALUES), line.rfind(STAMPS)
            if cut < 0 or mid < 0:
                raise _strange(line)
            name = line[len(HEAD) : cut]
            if name not in names:
                names[name] = known.learn(metric, _labels(name))
            one = names[name]
            if one is None:
                continue
            stamp = line[mid + len(STAMPS) : -2]
            which = stamps.get(stamp)
            if which is None:
                which = stamps[stamp] = len(found.stamps)
                found.stamps.append(_numbers([stamp]) / 1e3)
            found.series.append(one[0])
            found.clock.append(one[1])
            found.which.append(which)
            texts.append(line[cut + len(VALUES) : mid])
            many += len(found.stamps[which])
        values = _numbers([text for text in texts if text])
        if len(values) != many:
            raise _strange(block)
        found.values.append(values)
    return found.lines()


def _whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield pieces cut at the ends of lines."""
    rest = b""
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            yield rest + piece[:end]
            rest = piece[end:]
        else:
            rest += piece
    if rest:
        yield rest


def _labels(name: bytes) -> dict[str, str]:
    try:
        return dict(orjson.loads(name))
    except (ValueError, TypeError):
        raise _strange(name) from None


def _numbers(texts: list[bytes]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return numbers that stand one after the other; null and text is NaN or infinite."""
    whole = b"[" + b",".join(texts) + b"]"
    try:
        return np.array(orjson.loads(whole), np.float64)
    except (ValueError, TypeError):
        raise _strange(whole) from None


def _strange(said: bytes) -> StoreError:
    shown = said[:80].decode("utf-8", "replace")
    return StoreError(f"export answers {shown!r}, which is no series; check the read address")
