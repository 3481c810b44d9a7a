"""Arista's eAPI: JSON-RPC answers to `runCmds`, and the results of show commands.

A command that fails ends the list: the answer then is an error whose `data` holds the results
before it, and last what was wrong (code 1000 and up). `show interfaces phy detail` lists several
PHYs a port, of which those of the line side face the cable; `show interfaces transceiver detail`
has an entry a lane, named as a sub-interface with its channel.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fabrichealth.errors import MalformedReply

UNSUPPORTED = {1002, 1003, 1004}
"""Error codes: invalid command, not to be had as JSON, not in this version."""

PHYS = "interfacePhyStatuses"
INTERFACES = "interfaces"

Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """What ended a list of commands: the code, and the words of the device."""

    code: int
    text: str

    @property
    def unsupported(self) -> bool:
        """Whether the command will fail again, because this device has no such thing."""
        return self.code in UNSUPPORTED


@dataclass(frozen=True, slots=True)
class Answer:
    """Results of the commands in order, and what ended them before the last, if anything did."""

    results: list[Result]
    failure: Failure | None = None


def request(commands: list[str]) -> dict[str, Any]:
    """Return the body that asks for some commands as JSON."""
    params = {"version": 1, "cmds": commands, "format": "json"}
    return {"jsonrpc": "2.0", "method": "runCmds", "params": params, "id": "fabrichealth"}


def answer(document: Any) -> Answer:
    """Return what an answer to `runCmds` holds.

    Raises:
        MalformedReply: it is none.
    """
    if isinstance(document, dict) and isinstance(document.get("result"), list):
        return Answer([_result(one) for one in document["result"]])
    error = document.get("error") if isinstance(document, dict) else None
    if not isinstance(error, dict):
        raise MalformedReply("no answer to runCmds: neither result nor error in it")
    code, data = error.get("code"), error.get("data")
    whole = code if isinstance(code, int) else 0
    if not isinstance(data, list) or not data:  # no command was run
        raise MalformedReply(f"refused with code {whole}: {_words(error.get('message'))}")
    reasons = data[-1].get("errors") if isinstance(data[-1], dict) else None
    said = reasons[0] if isinstance(reasons, list) and reasons else error.get("message")
    return Answer([_result(one) for one in data[:-1]], Failure(whole, _words(said)))


def _words(said: Any) -> str:
    """Return what a device says, in one line."""
    return " ".join(str(said or "no reason given").split())[:120]


def captured(document: Any) -> list[Result]:
    """Return the results in a capture: a whole answer, a list of results, or one of them.

    Raises:
        MalformedReply: it holds none.
    """
    if isinstance(document, dict) and "jsonrpc" in document:
        found = answer(document).results
    elif isinstance(document, list):
        found = [_result(one) for one in document]
    else:
        found = [_result(document)]
    if not any(found):
        raise MalformedReply("no result of a show command")
    return found


def read(result: Result) -> Result:
    """Return a result as the maps know it: PHYs of the line side alone, lanes by their channel."""
    if isinstance(result.get(PHYS), dict):
        return {**result, PHYS: {port: _line(row) for port, row in result[PHYS].items()}}
    rows = result.get(INTERFACES)
    if isinstance(rows, dict) and any("channel" in row for row in rows.values() if _has(row)):
        return {**result, INTERFACES: dict(_lanes(rows))}
    return result


def lanes(result: Result) -> Iterator[tuple[str, int]]:
    """Yield how many lanes each interface has, where a result says so."""
    rows = result.get(INTERFACES)
    for port, row in rows.items() if isinstance(rows, dict) else ():
        count = row.get("lanes") if isinstance(row, dict) else None
        if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= 64:
            yield port, count


def _result(one: Any) -> Result:
    return one if isinstance(one, dict) else {}


def _has(row: Any) -> bool:
    return isinstance(row, dict)


def _line(row: Any) -> Any:
    """Return a port's row with the PHYs that face the cable; all where none says where it is."""
    phys = row.get("phyStatuses") if isinstance(row, dict) else None
    if not isinstance(phys, list):
        return {}
    told = [one for one in phys if isinstance(one, dict)]
    line = [one for one in told if _location(one) == "line"]
    named = any(_location(one) for one in told)
    return {"phyStatuses": [_alive(one) for one in (line if named else told)]}


def _location(phy: Mapping[str, Any]) -> Any:
    description = phy.get("description")
    return description.get("location") if isinstance(description, dict) else None


def _alive(phy: dict[str, Any]) -> dict[str, Any]:
    """Return a PHY without the error ratio of a link that is down, and its symbols added up."""
    kept = phy
    state = phy.get("phyState")
    if isinstance(state, dict) and state.get("value") not in {None, "linkUp"}:
        kept = {name: value for name, value in phy.items() if name != "preFecBer"}
    fec = kept.get("fec")
    symbols = fec.get("correctedSymbols") if isinstance(fec, dict) else None
    if isinstance(fec, dict) and isinstance(symbols, dict):
        counts = [one.get("value") for one in symbols.values() if isinstance(one, dict)]
        whole = [one for one in counts if isinstance(one, int) and not isinstance(one, bool)]
        kept = {**kept, "fec": {**fec, "correctedSymbols": sum(whole) if whole else None}}
    return kept


def _lanes(rows: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for port, row in rows.items():
        channel = row.get("channel") if isinstance(row, dict) else None
        if isinstance(channel, str | int) and channel:
            yield port, {**row, "lane": {str(channel): row}}
        else:
            yield port, row
