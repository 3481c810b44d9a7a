"""Lines of a history that repeat the time stamps of the line before say what they say alone."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabrichealth.history.recorded import JsonLines, Malformed, of_json

METRICS = ('{"__name__":"up"}', '{"__name__":"up","x":"\\"timestamps\\":[1]}"}', "{}", "7")
VALUES = ("[]", "[1]", "[1,2.5]", '[null,"NaN"]', "[1e400,3]", "[18446744073709551616,1]", "4")
TIMES = ("[]", "[10]", "[10,20]", "[20,10.5]", "[1],2]", "[[1],2]", '["x",1]', "[10,", "null")
ENDS = ("}", "} ", ',"y":1}', "}}", "")
FORMS = (
    '{{"metric":{m},"values":{v},"timestamps":{t}{e}',
    '{{"metric":{m},"timestamps":{t},"values":{v}{e}',
    '{{"metric":{m},"values":{v},"timestamps": {t}{e}',
    '{{"metric":{m},"values":{v},"y":{{"timestamps":{t}{e}',
    '{{"timestamps":[5],"metric":{m},"values":{v},"timestamps":{t}{e}',
)

LINES = st.lists(
    st.builds(
        lambda form, m, v, t, e: form.format(m=m, v=v, t=t, e=e).encode(),
        st.sampled_from(FORMS),
        st.sampled_from(METRICS),
        st.sampled_from(VALUES),
        st.sampled_from(TIMES),
        st.sampled_from(ENDS),
    ),
    max_size=12,
)


def said(read: Callable[[bytes], object], line: bytes) -> str:
    """Return what a line says, or what is wrong with it."""
    try:
        return repr(read(line))
    except Malformed as wrong:
        return f"malformed: {wrong}"


@given(LINES)
def test_lines_in_a_row_say_what_each_says_alone(lines: list[bytes]) -> None:
    reader = JsonLines()
    for line in lines:
        assert said(reader.read, line) == said(of_json, line)


def test_time_stamps_that_are_repeated_are_read_once() -> None:
    reader = JsonLines()
    times = b'"timestamps":[10,20]}'
    first = reader.read(b'{"metric":{"__name__":"a"},"values":[1,2],' + times)
    second = reader.read(b'{"metric":{"__name__":"b"},"values":[3,null],' + times)
    third = reader.read(b'{"metric":{"__name__":"c"},"values":[4,5],' + times)
    assert third.at is first.at
    assert (second.at.tolist(), second.values.tolist()) == ([0.01], [3.0])
    with pytest.raises(Malformed, match="equal length"):
        reader.read(b'{"metric":{"__name__":"d"},"values":[4],' + times)
