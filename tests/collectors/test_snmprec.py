"""Recorded walks: both forms say the same, and what is none costs only its own line."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import snmp_columns, snmprec
from collectors.protocols.snmp_columns import Answer, Recording
from fabrichealth.errors import MalformedReply


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("1.3.6.1.2.1.2.2.1.8.1|2|-7", -7),
        ("1.3.6.1.2.1.2.2.1.8.1|70|18446744073709551615", 2**64 - 1),
        ("1.3.6.1.2.1.2.2.1.8.1|4|a|b", b"a|b"),
        ("1.3.6.1.2.1.2.2.1.8.1|4x|00ff", b"\x00\xff"),
        ("1.3.6.1.2.1.2.2.1.8.1|4|", b""),
        ("1.3.6.1.2.1.2.2.1.8.1|6|1.3.6", "1.3.6"),
        ("1.3.6.1.2.1.2.2.1.8.1|5|", None),
        (".1.3.6.1.2.1.2.2.1.8.1 = INTEGER: 2", 2),
        (".1.3.6.1.2.1.2.2.1.8.1 = INTEGER: down(2)", 2),
        (".1.3.6.1.2.1.2.2.1.8.1 = INTEGER: 230 0.1 volts", 230),
        (".1.3.6.1.2.1.2.2.1.8.1 = Counter64: 5", 5),
        (".1.3.6.1.2.1.2.2.1.8.1 = Timeticks: (4242) 0:00:42.42", 4242),
        ('.1.3.6.1.2.1.2.2.1.8.1 = STRING: "say \\"x\\" = y"', b'say "x" = y'),
        (".1.3.6.1.2.1.2.2.1.8.1 = STRING: bare", b"bare"),
        ('.1.3.6.1.2.1.2.2.1.8.1 = ""', b""),
        ('.1.3.6.1.2.1.2.2.1.8.1 = STRING: "two\nlines"', b"two\nlines"),
        (".1.3.6.1.2.1.2.2.1.8.1 = Hex-STRING: 00 11 22\n33 FF", b"\x00\x11\x22\x33\xff"),
        (".1.3.6.1.2.1.2.2.1.8.1 = OID: .1.3.6.1", "1.3.6.1"),
        (".1.3.6.1.2.1.2.2.1.8.1 = IpAddress: 192.0.2.1", "192.0.2.1"),
        (".1.3.6.1.2.1.2.2.1.8.1 = Opaque: Float: 1.5", 1.5),
        (".1.3.6.1.2.1.2.2.1.8.1 = Wrong Type (should be Gauge32): INTEGER: 9", 9),
    ],
)
def test_a_variable_has_the_value_it_has_on_the_wire(line: str, value: object) -> None:
    following = ".1.3.6.1.2.1.2.2.1.8.9 = INTEGER: 1"
    found = snmprec.walk(f"{line}\n{following}\n")
    assert found.variables == {"1.3.6.1.2.1.2.2.1.8.1": value, "1.3.6.1.2.1.2.2.1.8.9": 1}
    assert found.broken == []


@pytest.mark.parametrize(
    "line",
    [
        "1.3.6.1|2|many",
        "1.3.6.1|70|99999999999999999999",
        "1.3.6.1|4x|0",
        "1.3.6.1|99|1",
        "1.3.4294967296|2|1",
        ".1.3.6.1 = Counter32: lots",
        ".1.3.6.1 = Something: 1",
        "Timeout: No Response from 192.0.2.1",
    ],
)
def test_a_bad_line_costs_only_itself(line: str) -> None:
    found = snmprec.walk(f"1.3.6.1.5.1|2|1\n{line}\n1.3.6.1.5.2|2|2\n")
    assert found.variables == {"1.3.6.1.5.1": 1, "1.3.6.1.5.2": 2}
    assert [one.line for one in found.broken] == [2]


def test_what_an_agent_does_not_have_is_no_variable() -> None:
    found = snmprec.walk(
        ".1.3.6.1.5.1 = INTEGER: 1\n"
        ".1.3.6.1.5.2 = No Such Object available on this agent at this OID\n"
        ".1.3.6.1.5.3 = No more variables left in this MIB View (It is past the end of the tree)\n"
    )
    assert (found.variables, found.broken) == ({"1.3.6.1.5.1": 1}, [])


def test_one_oid_with_two_values_has_none() -> None:
    found = snmprec.walk("1.3.6|2|1\n1.3.6|2|1\n1.3.7|2|1\n1.3.7|2|2\n")
    assert found.variables == {"1.3.6": 1}
    assert found.twice == {"1.3.7": (1, 2)}


@given(st.text(st.sampled_from('.0123456|x:= ()"\\\nSTRINGHexCounter64-\r\x00é')) | st.text())
def test_any_text_is_a_walk_or_is_malformed(text: str) -> None:
    with contextlib.suppress(MalformedReply):
        found = snmprec.walk(text)
        recording = Recording(found.variables)
        for oid in found.variables:
            stem = oid.rpartition(".")[0]
            if "." in stem:
                answer = recording.column(stem)
                assert oid in answer.oids
                snmp_columns.checked(answer, stem)
                snmp_columns.numbers(answer.values)


@given(st.dictionaries(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1), min_size=1))
def test_a_column_ascends_by_number_and_not_by_text(rows: dict[int, int]) -> None:
    recording = Recording(
        {f"1.3.6.{index}": value for index, value in rows.items()} | {"1.3.7.1": 0}
    )
    answer = recording.column("1.3.6")
    assert list(snmp_columns.checked(answer, "1.3.6")) == [str(index) for index in sorted(rows)]
    assert list(answer.values) == [rows[index] for index in sorted(rows)]


@pytest.mark.parametrize(
    "oids", [("1.3.6.2", "1.3.6.1"), ("1.3.6.1", "1.3.6.1"), ("1.3.7.1",), ("1.3.60.1",)]
)
def test_rows_out_of_order_or_of_another_column_are_malformed(oids: tuple[str, ...]) -> None:
    with pytest.raises(MalformedReply):
        snmp_columns.checked(Answer(oids, (0,) * len(oids)), "1.3.6")
