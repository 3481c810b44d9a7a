"""gNMI's messages, described to the protobuf library at run time.

Names and numbers of the fields are those of the gNMI specification (gnmi.proto 0.10); there is no
generated code and no file of definitions to keep in step. Requests are built here; responses become
plain Python.
"""

import struct
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import orjson
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from collectors.protocols.gnmi_paths import Step, bare, steps
from fabrichealth.errors import MalformedReply

PACKAGE = "gnmi"
SUBSCRIBE = f"/{PACKAGE}.gNMI/Subscribe"
JSON_IETF, STREAM, SAMPLE = 4, 0, 2
"""Of the enumerations Encoding, SubscriptionList.Mode and SubscriptionMode."""
NANOSECOND = 1e-9
DEEPEST = 40
"""Leaf lists within leaf lists; the specification has one level."""

# message -> field -> (number, type, repeated); a capital letter begins another message
_FIELDS: dict[str, dict[str, tuple[int, str, bool]]] = {
    "PathElem": {"name": (1, "string", False), "key": (2, "KeyEntry", True)},
    "KeyEntry": {"key": (1, "string", False), "value": (2, "string", False)},
    "Path": {
        "element": (1, "string", True),
        "origin": (2, "string", False),
        "elem": (3, "PathElem", True),
        "target": (4, "string", False),
    },
    "Decimal64": {"digits": (1, "int64", False), "precision": (2, "uint32", False)},
    "ScalarArray": {"element": (1, "TypedValue", True)},
    "TypedValue": {
        "string_val": (1, "string", False),
        "int_val": (2, "int64", False),
        "uint_val": (3, "uint64", False),
        "bool_val": (4, "bool", False),
        "bytes_val": (5, "bytes", False),
        "float_val": (6, "float", False),
        "decimal_val": (7, "Decimal64", False),
        "leaflist_val": (8, "ScalarArray", False),
        "json_val": (10, "bytes", False),
        "json_ietf_val": (11, "bytes", False),
        "ascii_val": (12, "string", False),
        "proto_bytes": (13, "bytes", False),
        "double_val": (14, "double", False),
    },
    "Value": {"value": (1, "bytes", False), "type": (2, "int32", False)},
    "Update": {
        "path": (1, "Path", False),
        "value": (2, "Value", False),
        "val": (3, "TypedValue", False),
    },
    "Notification": {
        "timestamp": (1, "int64", False),
        "prefix": (2, "Path", False),
        "update": (4, "Update", True),
        "delete": (5, "Path", True),
    },
    "SubscribeResponse": {
        "update": (1, "Notification", False),
        "sync_response": (3, "bool", False),
    },
    "Subscription": {
        "path": (1, "Path", False),
        "mode": (2, "int32", False),
        "sample_interval": (3, "uint64", False),
    },
    "SubscriptionList": {
        "prefix": (1, "Path", False),
        "subscription": (2, "Subscription", True),
        "mode": (5, "int32", False),
        "encoding": (8, "int32", False),
    },
    "SubscribeRequest": {"subscribe": (1, "SubscriptionList", False)},
}
_ALTERNATIVES = {"TypedValue": "value"}
"""Messages of whose fields only one is there."""


class Update(NamedTuple):
    """What stands at a path: a scalar, a list of scalars, or decoded JSON of all below it."""

    target: str
    path: tuple[Step, ...]
    value: Any


class Notice(NamedTuple):
    """One response of a stream: updates and deleted paths, or the end of the first round."""

    at: float
    """Unix seconds of the device's own clock; 0 where it does not say."""
    updates: list[Update]
    deleted: list[tuple[Step, ...]]
    synced: bool
    malformed: list[tuple[tuple[Step, ...], str]]
    """Paths whose value cannot be read, and why."""


@cache
def message(name: str) -> type[Message]:
    """Return the class of a message."""
    file = FileDescriptorProto(name="gnmi", package=PACKAGE, syntax="proto3")
    for one, fields in _FIELDS.items():
        described = file.message_type.add(name=one)
        if one in _ALTERNATIVES:
            described.oneof_decl.add(name=_ALTERNATIVES[one])
        for field, (number, kind, repeated) in fields.items():
            label = (
                FieldDescriptorProto.LABEL_REPEATED
                if repeated
                else FieldDescriptorProto.LABEL_OPTIONAL
            )
            added = described.field.add(name=field, number=number, label=label)
            if kind[0].isupper():
                added.type = FieldDescriptorProto.TYPE_MESSAGE
                added.type_name = f".{PACKAGE}.{kind}"
            else:
                added.type = FieldDescriptorProto.Type.Value(f"TYPE_{kind.upper()}")
            if one in _ALTERNATIVES:
                added.oneof_index = 0
    pool = DescriptorPool()
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))


def subscription(target: str, origin: str, paths: Iterable[str], interval: float) -> bytes:
    """Return the request that streams these paths, each sampled every `interval` seconds."""
    request: Any = message("SubscribeRequest")()
    asked = request.subscribe
    asked.prefix.target, asked.prefix.origin = target, origin
    asked.mode, asked.encoding = STREAM, JSON_IETF
    for path in paths:
        one = asked.subscription.add(mode=SAMPLE, sample_interval=round(interval / NANOSECOND))
        for element in path.strip("/").split("/"):
            name, _, keys = element.partition("[")
            step = one.path.elem.add(name=name)
            key, _, value = keys.rstrip("]").partition("=")
            if key:
                step.key.add(key=key, value=value)
    return bytes(request.SerializeToString())


def notice(raw: bytes) -> Notice:
    """Read one response.

    Raises:
        MalformedReply: the bytes are no SubscribeResponse.
    """
    reply: Any = message("SubscribeResponse")()
    try:
        reply.ParseFromString(raw)
    except DecodeError:
        raise MalformedReply(f"{len(raw)} bytes that are no SubscribeResponse") from None
    told = reply.update
    before = _steps(told.prefix)
    updates: list[Update] = []
    malformed: list[tuple[tuple[Step, ...], str]] = []
    for update in told.update:
        path = before + _steps(update.path)
        target = update.path.target or told.prefix.target
        try:
            value = _value(update)
        except MalformedReply as wrong:
            malformed.append((path, str(wrong)))
            continue
        if value is not None:
            updates.append(Update(target, path, value))
    deleted = [before + _steps(path) for path in told.delete]
    at = max(told.timestamp, 0) * NANOSECOND
    return Notice(at, updates, deleted, bool(reply.sync_response), malformed)


def _steps(path: Any) -> tuple[Step, ...]:
    if path.elem:
        return tuple(
            Step(bare(elem.name), tuple(entry.value for entry in elem.key)) for elem in path.elem
        )
    return steps("/".join(path.element))  # of releases before 0.4


def _value(update: Any) -> Any:
    kind = update.val.WhichOneof("value")
    if kind is None:
        return _json(update.value.value) if update.value.value else None
    return _typed(update.val, kind, 0)


def _typed(val: Any, kind: str | None, depth: int) -> Any:
    if kind is None or depth > DEEPEST:
        return None
    said = getattr(val, kind)
    if kind in {"json_val", "json_ietf_val"}:
        return _json(said)
    if kind == "decimal_val":
        return said.digits / 10.0 ** min(said.precision, 300)
    if kind == "leaflist_val":
        return [_typed(one, one.WhichOneof("value"), depth + 1) for one in said.element]
    if kind == "bytes_val":  # ieeefloat32 of the platform model
        return struct.unpack(">f", said)[0] if len(said) == 4 else None
    return None if kind == "proto_bytes" else said


def _json(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except ValueError:
        raise MalformedReply(f"{len(raw)} bytes that are no JSON") from None
