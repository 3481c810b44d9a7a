"""Accelerator error codes that decide something (contracts 5, settled questions)."""

FATAL = frozenset({"xid:48", "xid:79", "xid:95", "xid:119", "xid:120"})
"""Double-bit ECC, fallen off the bus, uncontained ECC, GSP time-out and error."""

OF_APPLICATIONS = frozenset({"xid:13", "xid:31", "xid:43", "xid:45"})
"""Most often an application's own fault, counted by every accelerator that it ran on."""

LINK_CODES = frozenset({"xid:74", *(f"xid:{code}" for code in range(144, 151))})
"""Errors of the NVLink itself: they belong to the link that is ill, if one is."""

WORDS = {
    "xid:13": "graphics engine exception",
    "xid:31": "memory page fault of an application",
    "xid:43": "an application's channel was stopped",
    "xid:45": "preemptive clean-up after an earlier error",
    "xid:48": "double-bit ECC error",
    "xid:63": "row remapping recorded",
    "xid:74": "NVLink error",
    "xid:79": "the accelerator has fallen off the bus",
    "xid:94": "contained ECC error",
    "xid:95": "uncontained ECC error",
    "xid:119": "the GSP firmware timed out",
    "xid:120": "the GSP firmware failed",
    **{f"xid:{code}": "NVLink error" for code in range(144, 151)},
}


def told(code: str) -> str:
    """Return a code with its meaning, where it is known."""
    return f"{code} ({WORDS[code]})" if code in WORDS else code
