"""Matrix: answers of the query API that every Prometheus-compatible engine has.

`metric[30s]` asked as an instant query gives the samples as they were written (Prometheus HTTP
API, "Instant queries", result type `matrix`).
"""

from typing import Any

import numpy as np
import orjson

from fabrichealth.errors import StoreError
from fabrichealth.metric import Metric
from fabrichealth.store.remote.identity import Identities
from fabrichealth.store.remote.lines import Gathered, Lines


def result(body: bytes) -> list[dict[str, Any]]:
    """Return the rows of an answer.

    Raises:
        StoreError: it is none of this form.
    """
    try:
        plain = orjson.loads(body)
        if plain["status"] != "success":
            raise StoreError(f"query fails: {plain.get('error', 'no reason given')}")
        return list(plain["data"]["result"])
    except (ValueError, KeyError, TypeError):
        shown = body[:80].decode("utf-8", "replace")
        raise StoreError(
            f"query answers {shown!r}, which Prometheus would not; check the read address"
        ) from None


def samples(rows: list[dict[str, Any]], metric: Metric, known: Identities) -> Lines:
    """Return the lines of an answer to a range selector.

    Raises:
        StoreError: it is none of this form.
    """
    found = Gathered()
    stamps: dict[bytes, int] = {}
    names = known.of(metric)
    try:
        for row in rows:
            name = orjson.dumps(row["metric"])
            if name not in names:
                names[name] = known.learn(metric, row["metric"])
            one = names[name]
            if one is None or not row.get("values"):
                continue
            times, values = zip(*row["values"], strict=True)
            at = np.array(times, np.float64)
            which = stamps.setdefault(at.tobytes(), len(found.stamps))
            if which == len(found.stamps):
                found.stamps.append(at)
            found.series.append(one[0])
            found.clock.append(one[1])
            found.which.append(which)
            found.values.append(np.array(values).astype(np.float64))
    except (ValueError, KeyError, TypeError):
        raise StoreError("query answers no samples; check the read address") from None
    return found.lines()
