"""The small things that everybody stands on: settings, items in folders, YAML, events, words."""

import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fabrichealth import narrative
from fabrichealth.cli._events import EventsFile, read_events, read_from
from fabrichealth.errors import SiteError
from fabrichealth.events import EVENT_KINDS, Event, parse
from fabrichealth.kinds import KINDS, LINK_DOWN, Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Evidence, Incident, Place
from fabrichealth.plugins import Lazy, classes, constants, item, names
from fabrichealth.settings import Duration, Settings, Size, bytes_of, seconds_of
from fabrichealth.topology import Device, Topology
from fabrichealth.units import DARK_DBM, dbm, pause_seconds
from fabrichealth.yamlfile import parse as parse_yaml
from fabrichealth.yamlfile import text_of


class TestSettings:
    @pytest.mark.parametrize(
        ("text", "seconds"),
        [
            ("200ms", 0.2), ("10s", 10), ("1.5h", 5400), ("5m", 300), ("24h", 86_400),
            ("14d", 1_209_600), ("2w", 1_209_600), ("1y", 31_536_000), ("0", 0), (0, 0),
            (" 3s ", 3), (2.5, 2.5),
        ],
    )  # fmt: skip
    def test_a_duration_is_read_with_its_unit(self, text: object, seconds: float) -> None:
        assert seconds_of(text) == pytest.approx(seconds)

    @pytest.mark.parametrize(
        "text", ["10", 10, "-5s", "5 parsecs", "s", "", "1e3s", None, [], "5S"]
    )
    def test_what_has_no_unit_is_no_duration(self, text: object) -> None:
        with pytest.raises(ValueError, match="write 200ms, 10s, 5m, 24h or 14d"):
            seconds_of(text)

    @pytest.mark.parametrize(
        ("text", "size"),
        [("512MiB", 2**29), ("20GiB", 20 * 2**30), ("1.5 KiB", 1536), ("7B", 7), (9, 9)],
    )
    def test_a_size_is_read_with_its_unit(self, text: object, size: int) -> None:
        assert bytes_of(text) == size

    @pytest.mark.parametrize("text", ["20GB", "20", "-1KiB", "", True, None, "KiB"])
    def test_what_has_no_unit_is_no_size(self, text: object) -> None:
        with pytest.raises(ValueError, match="write 512MiB or 20GiB"):
            bytes_of(text)

    @given(st.text() | st.integers() | st.none() | st.booleans())
    def test_anything_is_a_duration_and_a_size_or_refused(self, text: object) -> None:
        class Some(Settings):
            wait: Duration = 1.0
            room: Size = 1

        for key in ("wait", "room"):
            try:
                found = Some.model_validate({key: text})
            except ValidationError:
                continue
            assert getattr(found, key) >= 0

    def test_settings_cannot_be_changed(self) -> None:
        with pytest.raises(ValidationError):
            Settings().anything = 1  # type: ignore[attr-defined]  # that is the point


class TestItems:
    @pytest.fixture
    def room(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
        """A folder of items: one each, one with two, one with none, one private, one broken."""
        folder = tmp_path / "a_room_of_tests"
        folder.mkdir()
        files = {
            "__init__": "",
            "one": "from fabrichealth.errors import StoreError\nclass One(StoreError): ...\n"
            "class _Part(StoreError): ...\nONE = 1\nlower = 2\n",
            "two": "from fabrichealth.errors import StoreError\nclass A(StoreError): ...\n"
            "class B(StoreError): ...\n",
            "none": "from fabrichealth.errors import StoreError\n",
            "_shared": "raise RuntimeError('nobody asked')\n",
            "broken": "raise RuntimeError('asked')\n",
        }
        for name, text in files.items():
            (folder / f"{name}.py").write_text(textwrap.dedent(text))
        monkeypatch.syspath_prepend(str(tmp_path))
        yield folder.name
        for module in [name for name in sys.modules if name.startswith(folder.name)]:
            del sys.modules[module]
        names.cache_clear()

    def test_a_file_is_an_item_and_imported_when_it_is_asked_for(self, room: str) -> None:
        from fabrichealth.errors import StoreError  # noqa: PLC0415 - as the items do

        assert names(room) == ("broken", "none", "one", "two")
        assert f"{room}.one" not in sys.modules
        assert item(room, "one", StoreError).__name__ == "One"
        assert f"{room}.two" not in sys.modules

    @pytest.mark.parametrize(("name", "has"), [("two", "has 2"), ("none", "has 0")])
    def test_a_file_holds_exactly_one(self, room: str, name: str, has: str) -> None:
        from fabrichealth.errors import StoreError  # noqa: PLC0415 - as the items do

        with pytest.raises(TypeError, match=has):
            item(room, name, StoreError)

    def test_a_broken_item_is_an_error_for_who_asks_for_all(self, room: str) -> None:
        with pytest.raises(RuntimeError, match="asked"):
            classes(room, Exception)

    def test_items_by_name_are_built_one_at_a_time(self, room: str) -> None:
        built: list[str] = []

        def build(name: str) -> str:
            built.append(name)
            return name.upper()

        lazy = Lazy(room, build)
        assert (len(lazy), list(lazy), built) == (4, ["broken", "none", "one", "two"], [])
        assert lazy["one"] == "ONE"
        assert built == ["one"]
        assert "nine" not in lazy
        assert lazy.get("nine") is None

    def test_constants_are_those_in_capitals(self) -> None:
        found = constants("fabrichealth.catalogue", Metric)
        assert found["ports.UP"].name == "port_up"
        assert all(place.partition(".")[2].isupper() for place in found)


class TestYaml:
    def test_each_key_has_its_line(self) -> None:
        file = parse_yaml("a:\n  - b: 1\n    c: {d: 2,\n        e: 3}\n", Path("x.yaml"))
        assert file.value == {"a": [{"b": 1, "c": {"d": 2, "e": 3}}]}
        assert file.line(("a", 0, "c", "e")) == 4
        assert file.line(("a", 0, "nothing", "below")) == 2
        assert str(file.error(("a", 0, "b"), "is odd")) == "x.yaml:2: a.0.b: is odd"

    @pytest.mark.parametrize(
        ("written", "text"),
        [
            ("0012", "0012"), ("1.10", "1.10"), ("1e5", "1e5"), ("0x1F", "0x1F"), ("no", "no"),
            ("on", "on"), ("true", "true"), ("2024-07-01", "2024-07-01"), ("'7'", "7"),
            ("1_000", "1_000"), ("abc", "abc"), ("12:30:45", "12:30:45"),
        ],
    )  # fmt: skip
    def test_what_is_text_is_kept_as_it_was_written(self, written: str, text: str) -> None:
        value = parse_yaml(f"lot: {written}\n", Path("x.yaml")).value["lot"]
        assert text_of(value) == text

    def test_numbers_are_numbers_all_the_same(self) -> None:
        value = parse_yaml("[1, 2.5, 0x10, .inf, true, null]", Path("x.yaml")).value
        assert value == [1, 2.5, 16, float("inf"), True, None]
        assert json.loads(json.dumps(value[:3])) == [1, 2.5, 16]

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("a: 1\nb: 2\na: 3\n", "x.yaml:3: a: given twice"),
            ("a: {b: 1, b: 2}\n", "x.yaml:1: a.b: given twice"),
            ("a: [1\n", "not YAML"),
            ("a: !!python/object/apply:os.system [x]\n", "x.yaml:1: not YAML that we read"),
            ("a: !!python/name:os.system\n", "not YAML"),
            ("b:\n  a: !ours {x: 1}\n", "x.yaml:2: not YAML that we read (tag !ours)"),
            ("? [1, 2]\n: 3\n", "x.yaml:1: a key must be a word"),
            ("[" * 100_000, "x.yaml:1: "),
            ("a: *nobody\n", "not YAML"),
            ("a: 1\n---\nb: 2\n", "x.yaml:2: not YAML"),
        ],
    )
    def test_what_is_wrong_is_named_with_its_line(self, text: str, says: str) -> None:
        with pytest.raises(SiteError) as wrong:
            parse_yaml(text, Path("x.yaml"))
        assert says in str(wrong.value)
        assert "\n" not in str(wrong.value)

    @given(
        st.text(st.sampled_from("ab:-[]{}#&*!|>'\"%@`,? \n\t01.") | st.characters(codec="utf-8"))
    )
    def test_any_text_is_yaml_or_refused(self, text: str) -> None:
        try:
            parse_yaml(text, Path("x.yaml"))
        except SiteError as wrong:
            assert len(str(wrong).splitlines()) <= 1  # noqa: PT017 - it may also be taken


scopes = st.dictionaries(st.sampled_from(["rack", "device", "link"]), st.text(max_size=5))


class TestEvents:
    @given(
        at=st.floats(-1e11, 1e11),
        kind=st.sampled_from(sorted(EVENT_KINDS)),
        scope=scopes,
        name=st.text(max_size=5),
        more=st.dictionaries(st.sampled_from(["code", "size", "from"]), st.integers()),
    )
    def test_an_event_is_what_was_written(
        self, at: float, kind: str, scope: dict[str, str], name: str, more: dict[str, Any]
    ) -> None:
        event = Event(at, kind, scope, id=name, more=more)
        assert parse(json.loads(json.dumps(event.to_json()))) == event

    @pytest.mark.parametrize(
        ("plain", "says"),
        [
            ({"kind": "boot"}, "without a usable `at`"),
            ({"at": True, "kind": "boot"}, "usable `at`"),
            ({"at": "now", "kind": "boot"}, "usable `at`"),
            ({"at": float("nan"), "kind": "boot"}, "usable `at`"),
            ({"at": 1e300, "kind": "boot"}, "usable `at`"),
            ({"at": 1}, "without a `kind`"),
            ({"at": 1, "kind": 2}, "without a `kind`"),
            ({"at": 1, "kind": "boot", "scope": "r01"}, "must map words to names"),
            ({"at": 1, "kind": "boot", "scope": {"rack": 1}}, "must map words to names"),
            ({"at": 1, "kind": "boot", "note": "\ud800"}, "surrogate"),
            ({"at": 1, "kind": "boot", "scope": {"rack": "a\udfff"}}, "surrogate"),
            ({"at": 1, "kind": "job_start", "accelerators": [{"\ud83d": 1}]}, "surrogate"),
        ],
    )
    def test_what_is_no_event_is_refused(self, plain: dict[str, Any], says: str) -> None:
        with pytest.raises(ValueError, match=says):
            parse(plain)

    @given(st.dictionaries(st.sampled_from(["at", "kind", "scope", "id"]), st.from_type(object)))
    def test_anything_is_an_event_or_refused(self, plain: dict[str, Any]) -> None:
        try:
            assert parse(plain).kind == plain["kind"]
        except ValueError:
            return

    def test_a_bad_line_costs_itself_and_unknown_kinds_are_counted(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        file = tmp_path / "events.jsonl"
        good = '{"at": %d, "kind": "boot", "scope": {"device": "h"}}'
        party = '{"at": 1, "kind": "party"}'
        file.write_text("\n".join([good % 9, "{", "[1]", party, party, "", good % 3]))
        assert [event.at for event in read_events(file)] == [3, 9]
        messages = [record.getMessage() for record in caplog.records]
        assert len(messages) == 3
        assert f"{file}:2: not an event" in messages[0]
        assert "2 events of unknown kind 'party'" in messages[2]

    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ('{"metric": {"__name__": "fabric_port_up"}, "values": [1]}', "without a usable `at`"),
            ('{"at": 1, "kind": "boot"}', "boot without a scope does nothing"),
            ("at;kind;scope", "line 3: not an event"),
            ('{"at": "' + "9" * 100_000 + '"}', "without a usable `at`"),
        ],
        ids=["a history", "scopes forgotten", "a table", "long lines"],
    )
    def test_a_wrong_file_is_one_line_and_costs_nothing_that_is_good(
        self, line: str, says: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        file = tmp_path / "events.jsonl"
        good = [json.dumps({"at": at, "kind": "drill_start"}) for at in (7, 2)]
        file.write_text("\n".join([good[0], "", *[line] * 200, good[1]]))
        assert [one.at for one in read_events(file) if one.kind == "drill_start"] == [2, 7]
        (record,) = caplog.records
        message = record.getMessage()
        assert message.startswith(f"{file}: 200 ")
        assert says in message
        assert message.count("line 4: ") == 1
        assert len(message) < 1000

    def test_many_strangers_and_unknown_kinds_are_a_line_each(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        path = tmp_path / "events.jsonl"
        lines = [{"at": 1, "kind": "boot", "scope": {"device": f"x{n}"}} for n in range(300)]
        lines += [{"at": 1, "kind": f"kind-{n}", "scope": {"device": "h"}} for n in range(300)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        topology = Topology([Device(name="h", role="host")])
        assert len(EventsFile(path, [], topology).news()) == 300
        kinds, strangers = (record.getMessage() for record in caplog.records)
        assert "300 kinds of events are unknown" in kinds
        assert "300 names in scopes are not in the topology" in strangers
        assert "boot of device x0, which is not in the topology" in strangers

    @pytest.mark.parametrize(
        ("plain", "of_nothing"),
        [
            ({"kind": "maintenance_start"}, True),
            ({"kind": "boot", "id": "b-1"}, True),
            ({"kind": "maintenance_end"}, True),
            ({"kind": "maintenance_end", "id": "chg-7"}, False),
            ({"kind": "boot", "scope": {"rack": "r01"}}, False),
            ({"kind": "job_start"}, False),
        ],
    )
    def test_an_event_without_a_scope_is_of_nothing(
        self, plain: dict[str, Any], of_nothing: bool
    ) -> None:
        assert parse({"at": 1, **plain}).of_nothing is of_nothing

    def test_an_event_that_meets_nothing_is_kept_and_told(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        path = tmp_path / "events.jsonl"
        scopes: list[dict[str, str]] = [
            {},
            {"device": "h"},
            {"device": "g"},
            {"rack": "r01"},
            {"rack": "r02"},
        ]
        scopes += [{"link": "h/1--x/1"}, {"domain": "d"}, {"device": "g"}, {"job": "j1"}]
        scopes += [{"loop": "cdu-9"}, {"feed": "r01-Z"}]
        lines = [{"at": at, "kind": "boot", "scope": one} for at, one in enumerate(scopes)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        topology = Topology([Device(name="h", role="host", rack="r01")])
        assert len(EventsFile(path, [], topology).news()) == len(scopes)
        told = [record.getMessage() for record in caplog.records]
        assert len(told) == 7
        assert told[0].startswith(f"{path}:1: boot without a scope")
        for name, line in zip(
            ("device g", "rack r02", "link h/1--x/1", "domain d", "loop cdu-9", "feed r01-Z"),
            told[1:],
            strict=True,
        ):
            assert f" {name}, which is not in the topology" in line
        caplog.clear()
        assert EventsFile(path, [{"at": 0}], Topology()).news()
        assert len(caplog.records) == 1  # without a topology nobody is a stranger

    def test_a_file_is_followed_line_by_line(self, tmp_path: Path) -> None:
        file = tmp_path / "events.jsonl"
        line = b'{"at": 1, "kind": "boot", "scope": {}}\n'
        file.write_bytes(line + line[:10])
        events, offset = read_from(file, 0)
        assert (len(events), offset) == (1, len(line))
        file.write_bytes(line + line)
        events, offset = read_from(file, offset)
        assert (len(events), offset) == (1, 2 * len(line))
        assert read_from(file, offset) == ([], offset)
        file.write_bytes(line)  # rotated away, and begun anew
        events, offset = read_from(file, offset)
        assert (len(events), offset) == (1, len(line))

    def test_an_event_is_news_once_and_a_missing_file_is_told_once(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        path = tmp_path / "events.jsonl"
        boot = {"at": 1.0, "kind": "boot", "scope": {"device": "h"}}
        file = EventsFile(path, [boot])
        assert (file.news(), file.news()) == ([], [])
        (record,) = caplog.records
        assert "cannot be read" in record.getMessage()
        path.write_text(json.dumps(boot) + "\n" + json.dumps({**boot, "at": 2.0}) + "\n")
        assert [event.at for event in file.news()] == [2.0]  # the first was known from before
        path.write_text(json.dumps({**boot, "at": 3.0}) + "\n")  # rotated
        assert [event.at for event in file.news()] == [3.0]
        assert file.news() == []

    def test_a_file_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(SiteError, match="cannot be read"):
            read_events(tmp_path / "nowhere")


def told(**changes: Any) -> dict[str, Any]:
    one = Incident(
        incident="i7",
        kind=LINK_DOWN,
        severity=Severity.PAGE,
        opened_at=1_767_225_600.0,
        culprit=Place("link", "a/1--b/1"),
        because="both ends down for 3.0 min",
        action="Look for light.",
        victims=[Place("accelerator", f"h-{n}") for n in range(63)],
        evidence=[
            Evidence(constants("fabrichealth.catalogue", Metric)["ports.UP"], {}, 0.0, 1.0, "",
                     1_767_225_600.0 + n, f"line {n}")
            for n in range(40)
        ],
    )  # fmt: skip
    return {**one.to_json(), **changes}


class TestNarrative:
    def test_a_story_is_short_however_large_the_incident(self) -> None:
        lines = narrative.story(told(), now=1_767_225_600.0 + 7200).splitlines()
        assert len(lines) < 40
        text = "\n".join(lines)
        assert "opened     2026-01-01 00:00:00 (2 h ago)" in text
        assert "63 accelerators" in text
        assert "and 58 more" in text
        assert "line 39" in text  # the newest evidence
        assert "drain now" not in text  # nobody said whether

    def test_what_is_known_is_told(self) -> None:
        text = narrative.story(
            told(
                closed_at=1_767_229_200.0,
                confirmed_at=1_767_225_660.0,
                suppressed_by="boot:r01",
                safe_to_drain=False,
                safe_because="half of the rack is out",
                causes=[{"cause": "unknown", "probability": 0.6}],
                culprit={
                    "type": "link",
                    "id": "a/1--b/1",
                    "side": "a/1",
                    "direction": "rx",
                    "lane": "2",
                },
                alternatives=[{"culprit": {"id": "b/1"}, "share": 0.1, "why_not": "it is bright"}],
                victims=[],
                evidence=[],
            )
        )
        for words in (
            "closed     2026-01-01 01:00:00", "suppressed by boot:r01", "cause      unknown 60%",
            "drain now  no: half of the rack is out", "side       a/1 (rx, lane 2)",
            "not        b/1: it is bright", "victims    none known", "evidence   none kept",
        ):  # fmt: skip
            assert words in text

    def test_a_headline_is_one_line(self) -> None:
        line = narrative.headline(told(suppressed_by="maintenance:chg-7", closed_at=1.0))
        assert line.startswith("PAGE")
        assert "(closed) [suppressed by maintenance:chg-7]: both ends down" in line
        assert "\n" not in line

    @pytest.mark.parametrize(
        ("seconds", "words"),
        [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (7200, "2 h"),
         (172_800, "2 d")],
    )  # fmt: skip
    def test_a_span_is_told_as_a_person_would(self, seconds: float, words: str) -> None:
        assert narrative.span(seconds) == words


class TestUnits:
    def test_no_light_is_dark_and_nonsense_is_not_light(self) -> None:
        watts = np.array([1e-3, 0.0, 1e-9, np.nan, -1.0])
        assert dbm(watts)[:3].tolist() == [0.0, DARK_DBM, DARK_DBM]
        assert np.isnan(dbm(watts)[3:]).all()

    def test_a_quantum_is_512_bit_times(self) -> None:
        assert pause_seconds(np.array([65_535.0]), 100e9)[0] == pytest.approx(335.5e-6, rel=1e-3)


class TestKinds:
    def test_the_graver_of_two_kinds_is_as_the_contract_orders_them(self) -> None:
        order = ["device.down", "link.down", "link.flapping", "link.subhealthy",
                 "link.degraded_speed", "link.will_fail", "optics.degrading"]  # fmt: skip
        gravities = [KINDS[name].gravity for name in order]
        assert gravities == sorted(gravities, reverse=True)

    def test_only_links_and_optics_have_causes(self) -> None:
        for kind in KINDS.values():
            assert bool(kind.causes) is kind.name.startswith(("link.", "optics."))

    def test_flaps_are_remembered_for_a_day_and_the_rest_for_half_an_hour(self) -> None:
        assert KINDS["link.flapping"].hold_down == 86_400
        assert {k.hold_down for k in KINDS.values() if k.name != "link.flapping"} == {1800}
