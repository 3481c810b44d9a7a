"""Closed: accelerators that no job holds and none can have, and what closes them.

Work that somebody declared goes before a drain at the scheduler, and that before what is ill: what
a person did is his to end. Where a host's accelerators are only counted, so are those closed.
"""

from collections import Counter

import numpy as np

from analyzer.evidence.domain.allocation import FREE, UNKNOWN, allocation
from analyzer.evidence.domain.fitness import fitness
from analyzer.evidence.domain.inventory import inventory
from analyzer.evidence.domain.room import closed_hosts
from fabrichealth.model import View

SCHEDULER = "the scheduler, which places nothing on their hosts"

WORK = "maintenance"


def closed(view: View, domain: str) -> Counter[str]:
    """Return how many accelerators of a domain are closed, by what closes them."""
    stock, held = inventory(view), allocation(view)
    fit, hosts = fitness(view, stock), closed_hosts(view)
    state, _ = held.of(stock.names)
    found: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    mine = stock.domain.rows(domain) if domain else np.flatnonzero(stock.domain.code < 0)
    for row in mine[(state[mine] == FREE) | (state[mine] == UNKNOWN)].tolist():
        host = stock.host.of(row)
        code = -1 if fit.which is None else int(fit.which[row])
        by = fit.by[code] if code >= 0 else ""
        if host in hosts and not by.startswith(WORK):
            by = SCHEDULER
        if not by:
            continue
        if state[row] == UNKNOWN:
            taken = held.on_host.get(host)
            if taken is None or counted[host] >= len(stock.host.rows(host)) - taken:
                continue  # nobody says that it is free
            counted[host] += 1
        found[by] += 1
    return found
