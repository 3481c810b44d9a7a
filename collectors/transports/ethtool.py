"""Asking the kernel about interfaces: the ethtool ioctl, generic netlink and DCB over rtnetlink.

Blocking calls for one worker thread. A refusal of the kernel is an `OSError` with its errno:
EOPNOTSUPP the driver cannot, EPERM the process may not (module memory needs CAP_NET_ADMIN),
ENODEV the interface is gone.
"""

import array
import fcntl
import os
import socket
import struct
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from collectors.protocols import dcb_netlink, ethtool_ioctl, ethtool_netlink, netlink
from fabrichealth.errors import MalformedReply

ANSWER_BYTES = 1 << 16
WAIT = 2.0
"""Seconds to wait for a netlink answer; the kernel answers within the call or not at all."""


class Kernel:
    """Sockets to the kernel of this host; close it when the target goes."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._ioctl = self._open.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self._sockets: dict[int, socket.socket] = {}
        self._family: int | None = None
        self._sequence = 0

    def close(self) -> None:
        """Close the sockets."""
        self._open.close()

    def driver(self, interface: str) -> ethtool_ioctl.Driver:
        """Return who drives an interface.

        Raises:
            OSError: the kernel's errno.
        """
        reply = self._command(interface, ethtool_ioctl.driver_request())
        return ethtool_ioctl.driver(reply)

    def statistics_count(self, interface: str) -> int:
        """Return how many statistics of its own the driver has now.

        Raises:
            OSError: the kernel's errno.
            MalformedReply: the answer makes no sense.
        """
        request = ethtool_ioctl.set_size_request(ethtool_ioctl.STATISTICS_SET)
        return ethtool_ioctl.set_size(self._command(interface, request))

    def statistics_names(self, interface: str, count: int) -> tuple[str, ...]:
        """Return the names of the driver's statistics.

        Raises:
            OSError: the kernel's errno.
            MalformedReply: the answer makes no sense.
        """
        request = ethtool_ioctl.names_request(ethtool_ioctl.STATISTICS_SET, count)
        return ethtool_ioctl.names(self._command(interface, request))

    def statistics(self, interface: str, count: int) -> NDArray[np.uint64]:
        """Return the driver's statistics, [n] in the order of the names; `n` may have changed.

        Raises:
            OSError: the kernel's errno.
            MalformedReply: the answer makes no sense.
        """
        request = ethtool_ioctl.statistics_request(count)
        return ethtool_ioctl.statistics(self._command(interface, request))

    def link_modes(self, interface: str) -> ethtool_netlink.LinkModes:
        """Return speed and lanes.

        Raises:
            OSError: the kernel's errno.
            MalformedReply: the answer makes no sense.
        """
        head = ethtool_netlink.header(interface)
        return ethtool_netlink.link_modes(self._ask(ethtool_netlink.GET_LINK_MODES, head))

    def link_state(self, interface: str) -> ethtool_netlink.LinkState:
        """Return whether there is a link, and why not.

        Raises:
            OSError: the kernel's errno.
            MalformedReply: the answer makes no sense.
        """
        head = ethtool_netlink.header(interface)
        return ethtool_netlink.link_state(self._ask(ethtool_netlink.GET_LINK_STATE, head))

    def pause(self, interface: str) -> ethtool_netlink.Pause:
        """Return the pause frames of the whole link.

        Raises:
            OSError: the kernel's errno.
            MalformedReply: the answer makes no sense.
        """
        head = ethtool_netlink.header(interface, ethtool_netlink.STATISTICS)
        return ethtool_netlink.pause(self._ask(ethtool_netlink.GET_PAUSE, head))

    def fec(self, interface: str) -> ethtool_netlink.Fec:
        """Return what FEC did.

        Raises:
            OSError: the kernel's errno.
            MalformedReply: the answer makes no sense.
        """
        head = ethtool_netlink.header(interface, ethtool_netlink.STATISTICS)
        return ethtool_netlink.fec(self._ask(ethtool_netlink.GET_FEC, head))

    def pfc(self, interface: str) -> dcb_netlink.Pfc | None:
        """Return PFC frames by priority, or None where the driver has no PFC.

        Raises:
            OSError: the kernel's errno.
            MalformedReply: the answer makes no sense.
        """
        sequence = self._next()
        request = dcb_netlink.request(interface, sequence)
        return dcb_netlink.pfc(
            self._exchange(netlink.ROUTE, request, sequence, dcb_netlink.MESSAGE)
        )

    def module_page(
        self, interface: str, page: int, *, upper: bool, bank: int = 0, address: int = 0x50
    ) -> bytes:
        """Return half a page of the module's memory, 128 bytes; needs CAP_NET_ADMIN.

        Raises:
            OSError: the kernel's errno.
            MalformedReply: the answer makes no sense.
        """
        request = ethtool_netlink.module_eeprom_request(
            interface, page, 128 if upper else 0, bank, address
        )
        return ethtool_netlink.module_eeprom(self._ask(ethtool_netlink.GET_MODULE_EEPROM, request))

    def module_image(self, interface: str) -> bytes:
        """Return a module's memory as one image, from kernels that know no pages.

        Raises:
            OSError: the kernel's errno.
            MalformedReply: the answer makes no sense.
        """
        reply = self._command(interface, ethtool_ioctl.module_info_request())
        _, size = ethtool_ioctl.module_info(reply)
        request = ethtool_ioctl.module_eeprom_request(0, size)
        return ethtool_ioctl.module_eeprom(self._command(interface, request))

    def _command(self, interface: str, request: bytearray) -> bytes:
        """Run one ioctl; the kernel answers into the buffer, which must live until then."""
        name = interface.encode()
        if len(name) >= 16:
            raise OSError(19, os.strerror(19), interface)
        buffer = array.array("B", bytes(request))
        address, _ = buffer.buffer_info()
        fcntl.ioctl(self._ioctl, ethtool_ioctl.SIOCETHTOOL, struct.pack("16sP16x", name, address))
        return buffer.tobytes()

    def _ask(self, command: int, attributes: bytes) -> bytes:
        if self._family is None:
            sequence = self._next()
            request = netlink.family_request(ethtool_netlink.FAMILY, sequence)
            reply = self._exchange(netlink.GENERIC, request, sequence, netlink.CONTROL)
            self._family = netlink.family_id(reply)
        sequence = self._next()
        request = netlink.generic(self._family, command, sequence, attributes)
        return self._exchange(netlink.GENERIC, request, sequence, self._family)

    def _exchange(self, protocol: int, request: bytes, sequence: int, kind: int) -> bytes:
        """Send one request, return the payload of its answer; answers to others are skipped."""
        channel = self._sockets.get(protocol)
        if channel is None:
            channel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
            self._open.enter_context(channel)
            channel.settimeout(WAIT)
            self._sockets[protocol] = channel
        channel.send(request)
        answer: bytes | None = None
        while True:
            for frame in netlink.frames(channel.recv(ANSWER_BYTES)):
                if frame.sequence != sequence:
                    continue
                if frame.type == netlink.ERROR:
                    if frame.error:
                        raise OSError(frame.error, os.strerror(frame.error))
                    if answer is None:
                        raise MalformedReply("netlink: acknowledged without an answer")
                    return answer
                if frame.type == kind:
                    answer = frame.payload
            if answer is not None and protocol == netlink.ROUTE:
                return answer  # rtnetlink was not asked to acknowledge

    def _next(self) -> int:
        self._sequence = (self._sequence + 1) & 0xFFFFFFFF
        return self._sequence
