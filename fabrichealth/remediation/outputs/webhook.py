"""A webhook: an order as JSON, signed, with a key by which a repeated one is known.

`X-Fabrichealth-Signature: sha256=HEX` is the HMAC-SHA256 (RFC 2104) of `TIMESTAMP.BODY`, where
TIMESTAMP is what `X-Fabrichealth-Timestamp` holds (unix seconds): who receives it refuses old ones.
`Idempotency-Key` is the same for each attempt at one order.
"""

import hashlib
import hmac
import time
from collections.abc import Iterable

import orjson

from fabrichealth.config import Receiver
from fabrichealth.remediation.order import Candidate, Order, order_of
from fabrichealth.remediation.remediator import Remediator, RemedyFailed, RemedySettings
from fabrichealth.runtime.peer import Peer
from fabrichealth.target_rows import File


class WebhookSettings(RemedySettings, Receiver):
    """Where orders go, and by what they are signed."""

    signing_file: File
    """File with the secret that signs; who receives has the same."""


class Webhook(Remediator[WebhookSettings]):
    """Posts orders to one address."""

    settings_type = WebhookSettings

    def __init__(self, settings: WebhookSettings) -> None:
        super().__init__(settings)
        self._peer = Peer.of(settings)

    @property
    def name(self) -> str:
        """Who it is."""
        return f"webhook {self._peer.shown}"

    def orders(self, candidate: Candidate) -> Iterable[Order]:
        """Yield the culprit, if it may be drained now."""
        if candidate.safe:
            yield order_of(candidate, candidate.safe_because)

    def says(self, order: Order) -> str:
        """Return the request."""
        return f"POST {self._peer.shown} {_body('drain', order).decode()}"

    def says_undo(self, order: Order) -> str:
        """Return the request."""
        return f"POST {self._peer.shown} {_body('return', order).decode()}"

    async def apply(self, order: Order) -> None:
        """Post a drain."""
        await self._post("drain", order)

    async def undo(self, order: Order) -> None:
        """Post a return to service."""
        await self._post("return", order)

    async def _post(self, what: str, order: Order) -> None:
        body, at = _body(what, order), f"{time.time():.0f}"
        try:
            secret = self.settings.signing_file.read_bytes().strip()
        except OSError as wrong:
            raise RemedyFailed(
                f"{self.settings.signing_file}: cannot be read ({wrong.strerror}); check "
                "signing_file"
            ) from None
        headers = {
            "X-Fabrichealth-Timestamp": at,
            "X-Fabrichealth-Signature": f"sha256={signature(secret, at, body)}",
            "Idempotency-Key": _once(what, order),
        }
        await self._peer.ask("POST", "", body, headers)


def _body(what: str, order: Order) -> bytes:
    return orjson.dumps({"do": what, **order.to_json()}, option=orjson.OPT_SORT_KEYS)


def _once(what: str, order: Order) -> str:
    """Return the same key for each attempt, though the reason why it is safe is told anew."""
    return hashlib.sha256(f"{what} {order.key} {order.culprit} {order.at}".encode()).hexdigest()[
        :32
    ]


def signature(secret: bytes, at: str, body: bytes) -> str:
    """Return the signature of a body sent at a time, in hexadecimal digits."""
    return hmac.new(secret, at.encode() + b"." + body, hashlib.sha256).hexdigest()
