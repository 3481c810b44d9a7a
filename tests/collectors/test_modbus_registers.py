"""Registers as numbers: types, orders of words, sentinels, and which are read together."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.protocols import register_dump
from collectors.protocols.modbus_blocks import Block, planned
from collectors.protocols.modbus_registers import (
    COIL,
    FORMS,
    HOLDING,
    INPUT,
    Register,
    Registers,
    Type,
    Verdict,
)
from fabrichealth.errors import MalformedReply

NUMBERS = [one for one in FORMS if one != "bit"]


def read(register: Register, *words: int) -> tuple[float, Verdict]:
    """Return the value of one register, and what became of it."""
    registers = Registers([register])
    came = np.ones(registers.size, np.bool_)
    decoded = registers.decode(np.array(words, np.uint16), came)
    return float(decoded.values[0]), Verdict(decoded.verdicts[0])


def words_of(kind: Type, number: float) -> list[int]:
    """Return a number as a device of big endian words has it."""
    octets = np.array([number], FORMS[kind]).tobytes()
    return list(struct.unpack(f">{len(octets) // 2}H", octets))


@pytest.mark.parametrize(
    ("register", "words", "value"),
    [
        pytest.param(Register(3, 0, "float32"), (17260, 49152), 236.75, id="float, high first"),
        pytest.param(
            Register(3, 0, "float32", "little"), (49152, 17260), 236.75, id="float, low first"
        ),
        pytest.param(Register(3, 0, "uint32", "little"), (50299, 9), 640123, id="low word first"),
        pytest.param(
            Register(3, 0, "int16", times=1, over=10), (65498,), -3.8, id="signed tenths"
        ),
        pytest.param(Register(3, 0, "int16", over=10), (247,), 24.7, id="tenths are exact"),
        pytest.param(
            Register(3, 0, "float32", byte_order="little"), (0x6C43, 0x00C0), 236.75, id="octets"
        ),
        pytest.param(Register(3, 0, "int64"), (0, 0, 0, 7), 7.0, id="four words"),
        pytest.param(Register(3, 0, "uint16", bit=3), (0b1000,), 1.0, id="one bit"),
        pytest.param(Register(3, 0, "uint16", bit=3), (0b0111,), 0.0, id="not that bit"),
    ],
)  # fmt: skip
def test_numbers_lie_as_the_map_says(
    register: Register, words: tuple[int, ...], value: float
) -> None:
    assert read(register, *words) == (value, Verdict.READ)


@pytest.mark.parametrize(
    ("register", "words"),
    [
        pytest.param(Register(3, 0, "int16", sentinels=(0x7FFF, 0x8000)), (0x8000,), id="8000h"),
        pytest.param(Register(3, 0, "int16", sentinels=(0xFFFF,)), (0xFFFF,), id="65535 signed"),
        pytest.param(Register(3, 0, "int16", over=10, sentinels=(850,)), (850,), id="85.0 degrees"),
        pytest.param(Register(3, 0, "float32"), (0x7FC0, 0), id="not a number"),
        pytest.param(Register(3, 0, "float32"), (0x7F80, 0), id="infinite"),
        pytest.param(
            Register(3, 0, "float32", sentinels=(-9999.9,)), words_of("float32", -9999.9),
            id="a float that means none",
        ),
    ],
)  # fmt: skip
def test_what_says_no_sensor_is_no_number(register: Register, words: tuple[int, ...]) -> None:
    value, verdict = read(register, *words)
    assert math.isnan(value)
    assert verdict == Verdict.SENTINEL


@pytest.mark.parametrize(
    ("volts", "verdict"),
    [
        pytest.param(236.75, Verdict.SWAPPED, id="beyond its range in the wrong order"),
        pytest.param(230.0, Verdict.SWAPPED, id="hardly more than 0 in the wrong order"),
        pytest.param(0.0, Verdict.READ, id="0 in any order"),
    ],
)
def test_words_in_the_wrong_order_are_noticed(volts: float, verdict: Verdict) -> None:
    register = Register(3, 0, "float32", "little", low=0.0, high=500.0)
    registers = Registers([register])
    words = np.array(words_of("float32", volts), np.uint16)
    decoded = registers.decode(words, np.ones(2, np.bool_))
    assert decoded.verdicts[0] == verdict
    if verdict == Verdict.SWAPPED:
        assert decoded.swapped[0] == volts
        assert np.isnan(decoded.values[0])


def test_noise_near_zero_is_no_wrong_order() -> None:
    value, verdict = read(Register(3, 0, "float32", low=0.0, high=500.0), 0x0012, 0x8FFF)
    assert (0 < value < 1e-30, verdict) == (True, Verdict.READ)


def test_a_state_that_nobody_named_is_strange() -> None:
    register = Register(3, 0, "uint16", meanings=((0.0, 0.0), (4.0, 1.0)))
    assert read(register, 4) == (1.0, Verdict.READ)
    assert read(register, 3)[1] == Verdict.STRANGE


registers_ = st.builds(
    Register,
    st.sampled_from([HOLDING, INPUT]),
    st.integers(0, 300),
    st.sampled_from(NUMBERS),
    st.sampled_from(["big", "little"]),
    st.sampled_from(["big", "little"]),
    st.none() | st.integers(0, 15),
    st.lists(st.integers(-70_000, 70_000), max_size=2).map(tuple),
    low=st.just(-100.0),
    high=st.just(1000.0),
)


@settings(deadline=None)  # a busy machine is no fault
@given(
    declared=st.lists(registers_, min_size=1, max_size=8),
    words=st.lists(st.integers(0, 65_535), min_size=40, max_size=40),
    came=st.lists(st.booleans(), min_size=40, max_size=40),
)
def test_any_words_give_numbers_in_range_or_none(
    declared: list[Register], words: list[int], came: list[bool]
) -> None:
    registers = Registers(declared)
    size = registers.size
    decoded = registers.decode(np.array(words[:size], np.uint16), np.array(came[:size]))
    read_ = decoded.verdicts == Verdict.READ
    assert (np.isfinite(decoded.values) == read_).all()
    assert ((decoded.values[read_] >= -100.0) & (decoded.values[read_] <= 1000.0)).all()
    for row in range(len(declared)):
        whole = all(came[place] for place in registers.words_of(row))
        assert (decoded.verdicts[row] == Verdict.MISSING) is not whole


@settings(deadline=None)  # a busy machine is no fault
@given(kind=st.sampled_from(NUMBERS), number=st.integers(0, 32_000), order=st.booleans())
def test_a_number_comes_back_in_either_order(kind: Type, number: int, order: bool) -> None:
    words = words_of(kind, number)
    register = Register(3, 9, kind, "big" if order else "little")
    value, verdict = read(register, *(words if order else words[::-1]))
    assert (value, verdict) == (float(np.array(number, FORMS[kind])), Verdict.READ)


@pytest.mark.parametrize(
    ("addresses", "bridge", "blocks"),
    [
        pytest.param([20500, 20502, 20503], 0, [(20500, 1), (20502, 2)], id="around a hole"),
        pytest.param([20500, 20502, 20503], 1, [(20500, 4)], id="across a hole, when told"),
        pytest.param(range(126), 0, [(0, 125), (125, 1)], id="no more than 125"),
    ],
)
def test_blocks_lie_around_holes(
    addresses: list[int], bridge: int, blocks: list[tuple[int, int]]
) -> None:
    plan = planned([Register(3, one, "uint16") for one in addresses], bridge=bridge)
    assert [(one.address, one.count) for one in plan] == blocks


@settings(deadline=None)  # a busy machine is no fault
@given(declared=st.lists(registers_, max_size=30), bridge=st.integers(0, 20))
def test_blocks_read_every_register_once(declared: list[Register], bridge: int) -> None:
    plan = planned(declared, 20, bridge)
    spans = [(one.function, span) for one in plan for span in one.spans]
    assert len(set(spans)) == len(spans)
    for one in declared:
        holding = [
            block
            for block in plan
            if block.function == one.function
            and any(first <= one.address and one.address + one.width <= end
                    for first, end in block.spans)
        ]  # fmt: skip
        assert len(holding) == 1
    for block in plan:
        assert block.count <= 20 or len(block.spans) == 1
        halves = block.halves()
        assert tuple(span for half in halves for span in half.spans) in {(), block.spans}


def test_coils_are_many_to_a_question() -> None:
    plan = planned([Register(COIL, one, "bit") for one in range(2001)])
    assert [block.count for block in plan] == [2000, 1]
    assert Block(COIL, ((5, 6),)).halves() == ()


def test_a_dump_tells_tables_by_name_or_function() -> None:
    dump = register_dump.parse("table,address,value\nHolding,0x10,-1\n4,2,7\ncoils,1,1\n# note\n")
    assert dump.words == {(3, 16): 0xFFFF, (4, 2): 7, (1, 1): 1}
    assert dump.broken == ()


def test_a_broken_line_costs_itself_and_two_values_of_one_address_are_none() -> None:
    dump = register_dump.parse("holding,0,1\nholding,70000,1\nmoon,1,1\nholding,1,2\nholding,1,3\n")
    assert dump.words == {(3, 0): 1}
    assert [one.line for one in dump.broken] == [2, 3]
    assert dump.twice == {(3, 1): (2, 3)}


@settings(deadline=None)  # a busy machine is no fault
@given(text=st.text(st.sampled_from("holdingcoil,0123456789x-\n") | st.characters()))
def test_any_text_is_a_dump_or_malformed(text: str) -> None:
    try:
        dump = register_dump.parse(text)
    except MalformedReply:
        return
    assert all(0 <= word <= 0xFFFF for word in dump.words.values())
