"""Owner: where an incident's culprit stands, and whose it is."""

from typing import NamedTuple


class Owner(NamedTuple):
    """What alerts are routed by; what is not known or not one is empty."""

    rack: str = ""
    room: str = ""
    team: str = ""
