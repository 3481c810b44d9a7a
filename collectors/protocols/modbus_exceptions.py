"""Exceptions by which a Modbus device refuses a question (V1.1b3, section 7)."""

from collections.abc import Mapping

ILLEGAL_FUNCTION, ILLEGAL_ADDRESS, ILLEGAL_VALUE = 1, 2, 3

EXCEPTIONS: Mapping[int, str] = {
    ILLEGAL_FUNCTION: "illegal function",
    ILLEGAL_ADDRESS: "illegal address",
    ILLEGAL_VALUE: "illegal value",
    4: "device failure",
    5: "acknowledged, not answered",
    6: "busy",
    8: "memory parity error",
    10: "gateway path unavailable",
    11: "gateway target does not respond",
}
"""Exceptions (Modbus Application Protocol V1.1b3, section 7)."""


class Denied(Exception):
    """A device answered a request with an exception."""

    def __init__(self, code: int) -> None:
        super().__init__(f"exception {code} ({EXCEPTIONS.get(code, 'none that is known')})")
        self.code = code
