"""/proc/driver/nvidia/gpus/ADDRESS/information: `Key: value` lines of NVIDIA's driver."""

import re

from fabrichealth.errors import MalformedReply

_UUID = re.compile(rb"^GPU UUID:[ \t]+(GPU-[0-9A-Fa-f-]{8,64})[ \t]*$", re.MULTILINE)


def uuid(raw: bytes) -> str:
    """Return the accelerator's UUID.

    Raises:
        MalformedReply: there is none; the driver shows question marks before the first use.
    """
    found = _UUID.search(raw)
    if not found:
        raise MalformedReply("no GPU UUID among the driver's information")
    return found[1].decode()
