"""Modbus devices as the source reads them: captures, a server of ours, and one that is not."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("pymodbus", reason="no pymodbus: install fabrichealth[modbus]")
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from collectors.source import Target
from collectors.sources.modbus import Modbus, ModbusSettings
from emulator.modbus import ModbusServer, ModbusUnits
from emulator.modbus_cdu import CoolantUnit
from fabrichealth.catalogue.cooling import (
    AIR_HUMIDITY,
    COOLANT_TEMPERATURE,
    FLOW,
    LEAK,
    LOOP_INFO,
    PUMP_SPEED,
)
from fabrichealth.catalogue.power import FEED_CURRENT, FEED_ENERGY, FEED_POWER, FEED_VOLTAGE
from fabrichealth.errors import SiteError, SourceUnavailable
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Poll, Reason, SeriesTable
from fabrichealth.topology import Feed, Loop, Topology

AT = 1_767_225_600.0

CDU = {0: 305, 1: 398, 2: 93, 3: 420, 4: 273, 5: 61, 6: 240, 7: 180, 8: 88, 9: 241, 10: 40, 12: 0}
"""Registers of the generic layout: 30.5 to 39.8 degrees, 420 L/min."""


def cdu(words: Mapping[int, int] = CDU) -> dict[tuple[int, int], int]:
    return {(3, address): word for address, word in words.items()}


class Seen:
    """Polls of one target."""

    def __init__(
        self,
        address: str = "",
        *,
        topology: Topology | None = None,
        answer: float = 1.0,
        **options: str,
    ) -> None:
        self.table = SeriesTable()
        given = options or {"mapping": "cdu_generic"}
        target = Target("cdu-1", "modbus", address, "", given, topology or Topology())
        self.source = Modbus(ModbusSettings(answer=answer, timeout=600.0), target, self.table)

    async def poll(self, at: float = AT) -> Poll:
        return await self.source.read(at)

    def dump(self, folder: Path, text: str) -> Poll:
        file = folder / "dump.csv"
        file.write_text(text)
        return self.source.captured([file], AT)

    def readings(self, poll: Poll, metric: Metric) -> dict[Labels, float]:
        return {
            self.table.labels(int(series)): float(value)
            for batch in poll.batches
            for series, value in zip(batch.series, batch.values, strict=True)
            if self.table.metric(int(series)) is metric
        }


@asynccontextmanager
async def serving(units: ModbusUnits) -> AsyncIterator[ModbusServer]:
    server = ModbusServer(units)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def map_file(folder: Path, registers: str, head: str = "") -> str:
    file = folder / "map.yaml"
    file.write_text(f"about: of a test\n{head}registers:\n{registers}")
    return str(file)


METER = """
  - {name: a, address: 0, type: float32, to: fabric_feed_voltage_volts, labels: {phase: 1}}
  - {name: b, address: 2, type: float32, word_order: little, to: fabric_feed_voltage_volts,
     labels: {phase: 2}}
  - {name: energy, address: 4, type: uint32, word_order: little, unit: watt_hours,
     to: fabric_feed_energy_joules_total}
  - {name: outdoor, address: 6, type: int16, scale: 0.1, to: fabric_device_temperature_celsius,
     labels: {sensor: outdoor}}
  - {name: c, address: 8, type: float32, to: fabric_feed_voltage_volts, labels: {phase: 3},
     valid: [0, 500]}
"""


class TestDumps:
    def test_word_order_and_sign_are_the_maps(self, tmp_path: Path) -> None:
        seen = Seen(map=map_file(tmp_path, METER))
        words = {0: 17260, 1: 49152, 2: 49152, 3: 17260, 4: 50299, 5: 9, 6: 65498, 8: 49152,
                 9: 17260}  # fmt: skip
        poll = seen.dump(tmp_path, "".join(f"holding,{a},{w}\n" for a, w in words.items()))
        rack, feed = "cdu-1", "cdu-1/1"
        assert seen.readings(poll, FEED_VOLTAGE) == {
            (rack, feed, "1"): 236.75,
            (rack, feed, "2"): 236.75,
        }
        assert seen.readings(poll, FEED_ENERGY) == {(rack, feed): 640_123 * 3600.0}
        (refused,) = poll.refused
        assert refused.reason is Reason.IMPLAUSIBLE
        assert "-2.00412 implausible, 236.75 in the other order" in str(refused.raw)
        assert "check word_order" in str(refused.raw)

    def test_probes_that_fell_off_are_faults_and_not_85_degrees(self, tmp_path: Path) -> None:
        seen = Seen()
        poll = seen.dump(tmp_path, "holding,0,850\nholding,1,65535\nholding,9,0x7fff\nholding,3,4")
        assert seen.readings(poll, COOLANT_TEMPERATURE) == {}
        assert seen.readings(poll, FLOW) == {("cdu-1", "", "supply"): 4.0}
        assert [one.reason for one in poll.refused] == [Reason.SENSOR_FAULT] * 3
        assert "leak" in poll.missing

    def test_units_that_contradict_each_other_are_in_doubt(self, tmp_path: Path) -> None:
        entries = (
            "  - {name: i, address: 0, scale: 0.1, to: fabric_feed_current_amperes}\n"
            "  - {name: u, address: 1, to: fabric_feed_voltage_volts}\n"
            "  - {name: p, address: 2, to: fabric_feed_power_watts}\n"
        )
        seen = Seen(map=map_file(tmp_path, entries))
        good = seen.dump(tmp_path, "holding,0,64\nholding,1,229\nholding,2,1390\n")
        assert good.refused == []
        assert seen.readings(good, FEED_CURRENT) == {("cdu-1", "cdu-1/1", ""): 6.4}
        bad = seen.dump(tmp_path, "holding,0,14\nholding,1,231\nholding,2,3100\n")
        assert seen.readings(bad, FEED_CURRENT) == seen.readings(bad, FEED_POWER) == {}
        assert len(seen.readings(bad, FEED_VOLTAGE)) == 1
        assert {one.reason for one in bad.refused} == {Reason.IMPLAUSIBLE}
        assert "3100 W for 323.4 VA, off by 10" in str(bad.refused[0].raw)

    def test_a_target_without_a_map_is_told_which_there_are(self) -> None:
        with pytest.raises(SiteError, match="mapping: one of cdu_generic"):
            Seen(device="x")


class TestNames:
    def test_are_the_topologys(self, tmp_path: Path) -> None:
        topology = Topology(
            loops=[
                Loop(name="fws-1", kind="facility", device="cdu-1"),
                Loop(name="tcs-1", device="cdu-1", facility="fws-1", fluid="pg25",
                     control="flow", racks=("r01", "r02")),
            ],
            feeds=[Feed(name="r01-A", rack="r01", meter={"device": "cdu-1", "inlet": "1"})],
        )  # fmt: skip
        seen = Seen(topology=topology, mapping="cdu_generic")
        poll = seen.dump(tmp_path, "holding,0,305\nholding,9,241\n")
        assert seen.readings(poll, COOLANT_TEMPERATURE) == {
            ("tcs-1", "", "supply"): 30.5,
            ("fws-1", "", "supply"): 24.1,
        }
        assert ("tcs-1", "", "pg25", "r01 r02", "cdu-1", "flow") in seen.readings(poll, LOOP_INFO)
        entry = "  - {name: p, address: 0, to: fabric_feed_power_watts}\n"
        metered = Seen(topology=topology, map=map_file(tmp_path, entry))
        assert metered.readings(metered.dump(tmp_path, "holding,0,7\n"), FEED_POWER) == {
            ("r01", "r01-A"): 7.0
        }

    def test_are_the_devices_where_nothing_says(self, tmp_path: Path) -> None:
        seen = Seen()
        poll = seen.dump(tmp_path, "holding,0,305\nholding,9,241\n")
        loops = {labels[0] for labels in seen.readings(poll, COOLANT_TEMPERATURE)}
        assert loops == {"cdu-1", "cdu-1-facility"}


class TestLive:
    async def test_a_device_is_read_in_blocks_around_its_holes(self) -> None:
        units = ModbusUnits(lambda unit: cdu() if unit == 1 else None)
        async with serving(units) as server:
            seen = Seen(server.address)
            poll = await seen.poll()
            await seen.source.close()
        assert poll.readings == 11
        assert (poll.refused, poll.missing) == ([], [])
        assert seen.readings(poll, PUMP_SPEED) == {("cdu-1", "", "1"): 0.61}
        assert [(address, count) for _, _, address, count in units.asked] == [
            (0, 2), (3, 8), (12, 1),
        ]  # fmt: skip

    async def test_an_emulated_cdu_says_what_it_is_and_misses_its_probe(self) -> None:
        unit = CoolantUnit(supply_celsius=31.4, humidity_percent=45.0, wet=True)
        async with serving(ModbusUnits(lambda _: unit.cells())) as server:
            seen = Seen(server.address)
            poll = await seen.poll()
            assert seen.readings(poll, COOLANT_TEMPERATURE)["cdu-1", "", "supply"] == 31.4
            assert seen.readings(poll, LEAK) == {("cdu-1", "", "cdu"): 1.0}
            assert seen.readings(poll, AIR_HUMIDITY) == {("cdu-1", ""): 0.45}
            unit.supply_celsius = unit.liters_per_minute = None
            poll = await seen.poll(AT + 10)
            assert seen.readings(poll, FLOW) == {}
            assert ("cdu-1", "", "supply") not in seen.readings(poll, COOLANT_TEMPERATURE)
            assert [one.reason for one in poll.refused] == [Reason.SENSOR_FAULT] * 2
            await seen.source.close()

    async def test_a_register_that_is_not_there_fails_alone_and_is_told_once(
        self, tmp_path: Path
    ) -> None:
        registers = "".join(
            f"  - {{name: {name}, address: {address}, scale: 0.1, "
            f"to: fabric_device_temperature_celsius, labels: {{sensor: {name}}}}}\n"
            for name, address in (("s", 20500), ("r", 20502), ("p", 20503), ("spare", 20506))
        )
        units = ModbusUnits(lambda _: cdu({20500: 247, 20502: 268, 20503: 400}))
        async with serving(units) as server:
            seen = Seen(server.address, map=map_file(tmp_path, registers, "bridge: 10\n"))
            first = await seen.poll()
            learnt = len(units.asked)
            second = await seen.poll(AT + 10)
            again = await seen.poll(AT + 700)
            await seen.source.close()
        assert [poll.readings for poll in (first, second, again)] == [3, 3, 3]
        assert [one.reason for one in first.refused] == [Reason.UNSUPPORTED]
        assert "exception 2 (illegal address)" in str(first.refused[0].raw)
        assert second.refused == []
        assert len(again.refused) == 1
        assert second.missing == []
        assert len(units.asked) - learnt == 2 + 3  # two blocks, and the spare once more

    async def test_units_behind_one_gateway_share_its_connection(self) -> None:
        units = ModbusUnits(lambda unit: cdu({**CDU, 0: 200 + unit}) if unit < 9 else None)
        async with serving(units) as server:
            both = [Seen(f"{server.address}/{unit}") for unit in (3, 4)]
            polls = await asyncio.gather(*(seen.poll() for seen in both))
            told = [
                seen.readings(poll, COOLANT_TEMPERATURE)["cdu-1", "", "supply"]
                for seen, poll in zip(both, polls, strict=True)
            ]
            nobody = Seen(f"{server.address}/9")
            with pytest.raises(
                SourceUnavailable,
                match=r"gateway target does not respond\)\); is there such a unit",
            ):
                await nobody.poll()
            for seen in (*both, nobody):
                await seen.source.close()
            assert told == [20.3, 20.4]
            assert server.connections == 1

    async def test_a_silent_device_delays_no_other(self) -> None:
        hung = ModbusUnits(lambda _: cdu(), silent={1})
        async with serving(hung) as bad, serving(ModbusUnits(lambda _: cdu())) as good:
            silent, well = Seen(bad.address, answer=600.0), Seen(good.address)
            waiting = asyncio.create_task(silent.poll())
            await asyncio.sleep(0)
            assert (await well.poll()).readings == 11
            assert not waiting.done()
            waiting.cancel()
            await asyncio.wait([waiting])
            await silent.source.close()
            await well.source.close()

    async def test_one_that_fell_silent_is_read_again_when_it_answers(self) -> None:
        hung = ModbusUnits(lambda _: cdu(), silent={1})
        async with serving(hung) as server:
            seen = Seen(server.address)
            with pytest.raises(SourceUnavailable, match=r"gave no answer within 1 s"):
                await seen.poll()
            hung.silent.clear()
            assert (await seen.poll()).readings == 11  # a new connection, no late answer
            await seen.source.close()

    @pytest.mark.parametrize("code", [4, 6])
    async def test_a_device_in_trouble_gives_what_it_can(self, code: int) -> None:
        units = ModbusUnits(lambda _: cdu(), code=code)
        async with serving(units) as server:
            seen = Seen(server.address)
            with pytest.raises(SourceUnavailable, match=f"exception {code}"):
                await seen.poll()
            units.code = 0
            assert (await seen.poll()).readings == 11
            await seen.source.close()

    async def test_a_device_that_stops_in_the_middle_keeps_what_it_said(
        self, tmp_path: Path
    ) -> None:
        registers = "".join(
            f"  - {{name: r{address}, address: {address}, to: fabric_device_temperature_celsius, "
            f"labels: {{sensor: r{address}}}}}\n"
            for address in (1, 5)
        )

        def tell(unit: int) -> dict[tuple[int, int], int]:
            units.silent.add(unit)  # from the next question on
            return cdu({1: 20, 5: 21})

        units = ModbusUnits(tell)
        async with serving(units) as server:
            seen = Seen(server.address, map=map_file(tmp_path, registers))
            poll = await seen.poll()
            await seen.source.close()
        assert (poll.readings, poll.missing) == (1, ["r5"])

    async def test_a_connection_that_the_device_closes_is_opened_again(self) -> None:
        async with serving(ModbusUnits(lambda _: cdu())) as server:
            seen = Seen(server.address)
            assert (await seen.poll()).readings == 11
            await server.stop()
            with pytest.raises(SourceUnavailable):
                await seen.poll(AT + 10)
            await server.start()
            assert (await seen.poll(AT + 20)).readings == 11
            await seen.source.close()

    async def test_a_short_answer_to_what_was_asked_splits_the_block(self) -> None:
        units = ModbusUnits(lambda _: cdu(), longest=4)
        async with serving(units) as server:
            seen = Seen(server.address)
            assert (await seen.poll()).readings == 11
            asked = len(units.asked)
            assert (await seen.poll(AT + 10)).readings == 11
            assert len(units.asked) - asked < asked  # what was learnt is kept
            await seen.source.close()

    async def test_a_counter_that_starts_anew_is_told_as_it_is(self, tmp_path: Path) -> None:
        entry = "  - {name: m, address: 0, to: fabric_coolant_makeup_liters_total}\n"
        words = {0: 500}
        async with serving(ModbusUnits(lambda _: cdu(words))) as server:
            seen = Seen(server.address, map=map_file(tmp_path, entry))
            before = await seen.poll()
            words[0] = 3
            after = await seen.poll(AT + 10)
            await seen.source.close()
        assert [poll.batches[0].values.tolist() for poll in (before, after)] == [[500.0], [3.0]]

    async def test_a_narrow_counter_goes_on_over_its_end_and_over_our_restart(
        self, tmp_path: Path
    ) -> None:
        entry = (
            "  - {name: e, address: 0, unit: kilowatt_hours, most: 400, sentinels: [],\n"
            "     to: fabric_feed_energy_joules_total}\n"
        )
        words = {0: 65_530}
        async with serving(ModbusUnits(lambda _: cdu(words))) as server:
            file = map_file(tmp_path, entry)
            seen, later = Seen(server.address, map=file), Seen(server.address, map=file)
            told = [await seen.poll(AT)]
            words[0] = 4
            told.append(await seen.poll(AT + 120))
            later.source.remember(json.loads(json.dumps(seen.source.memory())))
            words[0] = 9
            told.append(await later.poll(AT + 240))
            words[0] = 2  # within its range: it was set to 0
            told.append(await later.poll(AT + 360))
            await seen.source.close()
            await later.source.close()
        energies = [float(poll.batches[0].values[0]) / 3.6e6 for poll in told]
        assert energies == [65_530.0, 65_540.0, 65_545.0, 2.0]

    async def test_what_is_no_modbus_is_unavailable(self) -> None:
        async def rude(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(rude, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        seen = Seen(f"modbus://127.0.0.1:{port}")
        with pytest.raises(SourceUnavailable, match=r"\Acdu-1: .+\Z"):
            await seen.poll()
        await seen.source.close()
        server.close()
        await server.wait_closed()

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (
                lambda head, body: (head[:5] + bytes([len(body), head[6]]), body[:-1]),
                "is no Modbus",
            ),
            (lambda head, body: (head, bytes([99]) + body[1:]), "is no Modbus"),
            (lambda head, body: (bytes([head[0] ^ 85]) + head[1:], body), "gave no answer within"),
            (lambda head, body: (head[:6] + bytes([head[6] ^ 7]), body), "gave no answer within"),
        ],
        ids=["a byte is missing", "another function", "another transaction", "another unit"],
    )
    async def test_an_answer_that_is_none_is_one_line_and_the_next_visit_is_well(
        self,
        change: Callable[[bytes, bytes], tuple[bytes, bytes]],
        says: str,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        wrong = True
        far: list[asyncio.StreamWriter] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            far.append(writer)
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    asked = await reader.readexactly(12)
                    count = asked[11]
                    body = bytes([asked[7], 2 * count]) + bytes(2 * count)
                    head = asked[:4] + bytes([0, len(body) + 1, asked[6]])
                    writer.write(b"".join(change(head, body) if wrong else (head, body)))

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        seen = Seen(f"modbus://127.0.0.1:{server.sockets[0].getsockname()[1]}", answer=0.2)
        with pytest.raises(SourceUnavailable, match=says):
            await seen.poll()
        wrong = False
        assert (await seen.poll(AT + 10)).readings
        await seen.source.close()
        for one in far:
            one.close()
            with suppress(ConnectionError):
                await one.wait_closed()
        server.close()
        await server.wait_closed()
        assert [one.message for one in caplog.records if one.name == "asyncio"] == []

    def test_a_unit_that_is_none_is_told(self) -> None:
        with pytest.raises(SiteError, match="is no unit"):
            Seen("modbus://127.0.0.1:502/300")


class TestPymodbus:
    """A server that others wrote."""

    async def test_its_registers_are_read(self, tmp_path: Path) -> None:
        registers = (
            "  - {name: u, address: 10, type: float32, to: fabric_feed_voltage_volts}\n"
            "  - {name: t, function: 4, address: 0, type: int16, scale: 0.1,\n"
            "     to: fabric_coolant_temperature_celsius, labels: {point: supply}}\n"
            "  - {name: gone, function: 4, address: 9, to: fabric_coolant_heat_watts}\n"
            "  - {name: leak, function: 2, address: 3, to: fabric_leak_detected,\n"
            "     labels: {zone: cdu}}\n"
            "  - {name: pump, function: 1, address: 1, to: fabric_pump_running,\n"
            "     labels: {pump: 1}}\n"
        )
        device = SimDevice(
            id=7,
            simdata=(
                [SimData(0, values=[False, True, False], datatype=DataType.BITS)],
                [SimData(0, values=[False, False, False, True], datatype=DataType.BITS)],
                [SimData(10, values=231.5, datatype=DataType.FLOAT32)],
                [SimData(0, values=[305, 0], datatype=DataType.REGISTERS)],
            ),
        )
        port = free_port()
        server = ModbusTcpServer(device, address=("127.0.0.1", port))
        await server.serve_forever(background=True)
        seen = Seen(f"modbus://127.0.0.1:{port}/7", map=map_file(tmp_path, registers))
        poll = await seen.poll()
        await seen.source.close()
        await server.shutdown()  # type: ignore[no-untyped-call]  # it has no annotations
        assert seen.readings(poll, FEED_VOLTAGE) == {("cdu-1", "cdu-1/1", ""): 231.5}
        assert seen.readings(poll, COOLANT_TEMPERATURE) == {("cdu-1", "", "supply"): 30.5}
        assert poll.readings == 4
        assert [one.reason for one in poll.refused] == [Reason.UNSUPPORTED]
