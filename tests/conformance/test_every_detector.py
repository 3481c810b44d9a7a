"""What is asked of every detector of the folder; a new one adds a recipe to `sick`."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.detector import AnyDetector, DetectorSettings
from analyzer.judge import detectors
from analyzer.viewing import Viewing
from fabrichealth.metric import Kind, Metric
from fabrichealth.model import Batch, Changes, Finding, Past, Port, View, Window
from fabrichealth.plugins import constants
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Topology
from tests.conformance.recipe import Recipe
from tests.conformance.world import START, World, series_of, world
from tests.reference_store import ReferenceStore

DETECTORS = detectors()
SICK = {
    name.partition(".")[0]: one for name, one in constants("tests.conformance.sick", Recipe).items()
}
PERIODS = (1.0, 10.0, 60.0, 3600.0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    opened = EmbeddedStore.open(tmp_path / "store.db")
    yield opened
    opened.close()


def recipe_of(detector: AnyDetector) -> Recipe:
    name = type(detector).__module__.rpartition(".")[2]
    assert name in SICK, f"write tests/conformance/sick/{name}.py: what makes it speak"
    return SICK[name]


def healthy(detector: AnyDetector, period: float = 10.0) -> World:
    recipe = recipe_of(detector)
    step = max(period, recipe.least_period)
    return world(detector.metrics, step, recipe.lasts, also=recipe.healthy, events=recipe.events)


def sick(detector: AnyDetector, period: float = 10.0, onset: float = 0.6) -> World:
    recipe = recipe_of(detector)
    step = min(max(period, recipe.least_period), recipe.most_period)
    made = world(detector.metrics, step, recipe.lasts, onset, recipe.healthy, recipe.events)
    recipe.sicken(made)
    return made


def judge(
    detector: AnyDetector,
    made: World,
    store: EmbeddedStore,
    batches: list[Batch] | None = None,
) -> list[Finding]:
    return list(detector.judge(made.look(detector, store, batches)))


@pytest.mark.parametrize("detector", DETECTORS.values(), ids=DETECTORS)
class TestEveryDetector:
    @pytest.mark.parametrize("period", PERIODS)
    def test_is_quiet_on_a_healthy_pod(
        self, detector: AnyDetector, period: float, store: EmbeddedStore
    ) -> None:
        assert judge(detector, healthy(detector, period), store) == []

    @pytest.mark.parametrize("period", PERIODS)
    def test_speaks_of_a_sick_one_whatever_the_period(
        self, detector: AnyDetector, period: float, store: EmbeddedStore
    ) -> None:
        made = sick(detector, period)
        (finding,) = judge(detector, made, store)
        assert any(
            name in str(finding.about) for name in ("host-0", "leaf-0", "r1", "cdu-1", "pod-a")
        )
        period = made.period
        seen = max(made.onset, finding.at - (detector.settings.memory or np.inf))
        if not recipe_of(detector).passing:
            assert made.onset - period - 1.0 <= finding.since <= seen + 2 * period + 1.0
        assert made.onset <= finding.at <= made.at[-1] + period

    @pytest.mark.parametrize("missing", [0.7, 0.9, 1.0])
    def test_gives_no_verdict_when_blind(
        self, detector: AnyDetector, missing: float, store: EmbeddedStore
    ) -> None:
        made = sick(detector, onset=0.6 if recipe_of(detector).passing else 0.15)
        for values in made.values.values():
            values[round(len(values) * (1 - missing)) :] = np.nan
        assert judge(detector, made, store) == []

    def test_says_only_what_its_kinds_allow(
        self, detector: AnyDetector, store: EmbeddedStore
    ) -> None:
        for finding in judge(detector, sick(detector), store):
            assert finding.kind in detector.kinds
            assert finding.causes.keys() <= set(finding.kind.causes)
            assert sum(finding.causes.values()) == pytest.approx(1.0 if finding.causes else 0.0)
            assert finding.score >= 1.0
            assert finding.evidence
            assert all(one.says and one.metric in detector.metrics for one in finding.evidence)
            assert finding.because
            assert "\n" not in finding.because

    def test_looks_at_nothing_that_it_does_not_list(
        self, detector: AnyDetector, store: EmbeddedStore
    ) -> None:
        whole = sick(detector).look(detector, store)
        looked: dict[str, set[Metric]] = {"metrics": set(), "remembered": set(), "recalls": set()}
        list(detector.judge(noting(whole, looked)))
        assert {name: looked[name] - set(getattr(detector, name)) for name in looked} == {
            name: set() for name in looked
        }

    def test_explains_each_of_its_settings(
        self, detector: AnyDetector, store: EmbeddedStore
    ) -> None:
        model = type(detector.settings)
        assert issubclass(detector.settings_type, DetectorSettings)
        assert set(undocumented(model)) == set()

    def test_is_pure(self, detector: AnyDetector, store: EmbeddedStore) -> None:
        view = frozen(sick(detector).look(detector, store), detector)
        first = list(detector.judge(view))
        assert repr(list(detector.judge(view))) == repr(first)

    def test_goes_on_saying_what_goes_on(self, detector: AnyDetector, store: EmbeddedStore) -> None:
        made = sick(detector)
        (first,) = judge(detector, made, store)
        again = list(detector.judge(made.look(detector, store, [], (first,))))
        assert [(one.kind, one.about, one.since) for one in again] == [
            (first.kind, first.about, first.since)
        ]

    @pytest.mark.parametrize("oddity", ["reset", "anywhere", "wrap", "clock", "disorder"])
    def test_is_quiet_about_odd_recording(
        self, detector: AnyDetector, oddity: str, store: EmbeddedStore
    ) -> None:
        made = healthy(detector)
        batches = odd(made, oddity, store)
        assert judge(detector, made, store, batches) == []

    @settings(
        max_examples=20,
        deadline=None,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
        ],
    )
    @given(seed=st.integers(0, 2**32), polls=st.integers(0, 6), before=st.booleans())
    def test_never_raises(
        self,
        detector: AnyDetector,
        seed: int,
        polls: int,
        before: bool,
        store: EmbeddedStore,
    ) -> None:
        said = judge(detector, sick(detector), store) if before and not store.span() else []
        view = hostile(detector, seed, polls, said)
        for finding in detector.judge(view):
            assert np.isfinite([finding.since, finding.at, finding.score]).all()
            assert finding.evidence
        assert 0.0 <= detector.coverage(view) <= 1.0


def test_every_recipe_is_some_detectors() -> None:
    assert SICK.keys() <= DETECTORS.keys()


def undocumented(model: type[DetectorSettings]) -> Iterator[str]:
    """Yield the settings that no docstring follows."""
    for owner in model.__mro__:
        if not issubclass(owner, DetectorSettings):
            continue
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
        assert isinstance(body, ast.ClassDef)
        for one, following in zip(body.body, [*body.body[1:], None], strict=True):
            if isinstance(one, ast.AnnAssign) and not (
                isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            ):
                yield ast.unparse(one.target)


def frozen(view: View, detector: AnyDetector) -> View:
    """Return the view with arrays that cannot be written to."""
    shown: list[object] = [view[metric] for metric in detector.metrics]
    shown += [view.changes(metric) for metric in detector.remembered]
    past = {metric: view.past(metric) for metric in detector.recalls}
    shown += past.values()
    for one in shown:
        for array in vars(one).values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
    changes = {metric: view.changes(metric) for metric in detector.remembered}
    return View(
        view.now, view.topology, view.events, view.before,
        view.__getitem__, changes.__getitem__, past.__getitem__,
    )  # fmt: skip


def noting(view: View, looked: dict[str, set[Metric]]) -> View:
    """Return the view, which notes what is looked at."""

    def window(metric: Metric) -> Window:
        looked["metrics"].add(metric)
        return view[metric]

    def change(metric: Metric) -> Changes:
        looked["remembered"].add(metric)
        return view.changes(metric)

    def past(metric: Metric) -> Past:
        looked["recalls"].add(metric)
        return view.past(metric)

    return View(view.now, view.topology, view.events, view.before, window, change, past)


def odd(made: World, oddity: str, store: EmbeddedStore) -> list[Batch]:
    """Return the readings of a world with one kind of oddity in them."""
    half = len(made.at) // 2
    for (metric, _), values in made.values.items():
        if metric.kind is not Kind.COUNTER:
            continue
        if oddity == "reset":
            values[half:] -= values[half]
        elif oddity == "anywhere":
            values[:] += 1e12
        elif oddity == "wrap":
            values[:] = (values + 2.0**32 - values[half]) % 2.0**32
    if oddity == "clock":
        made.shift = {"host-0": -200.0, "host-1": 200.0, "leaf-1": -90.0}
    batches = made.batches(store)
    if oddity == "disorder":
        order = np.random.default_rng(1).permutation(len(batches))
        return [batches[place] for place in order] + batches[::3]
    return batches


def hostile(detector: AnyDetector, seed: int, polls: int, before: list[Finding]) -> View:
    """Return a view of a few series that say anything, at any time, of known and unknown things."""
    chance = np.random.default_rng(seed)
    store, topology = ReferenceStore(), world((), 10.0).topology
    extremes = np.array(
        [0.0, 1.0, 2.0, -1.0, 1e-300, 1e300, -1e300, 2.0**32, 2.0**64, np.nan, 4e11]
    )
    for metric in detector.metrics:
        known = series_of(metric, topology)
        names = [known[place] for place in chance.integers(0, len(known), 4)]
        names.append(tuple("?" for _ in metric.labels))
        for labels in names:
            series = np.array([store.table.intern(metric, labels)], np.int32)
            clock = store.table.clock("test", str(chance.integers(0, 3)))
            scale = chance.choice([1e-3, 1.0, 30.0, 4000.0])
            for at in START + np.sort(chance.integers(-10, 10, polls)) * scale:
                value = chance.choice(extremes)
                if np.isfinite(value):
                    store.append([Batch(clock, float(at), series, np.array([value]))])
    viewing = Viewing(store, {"detector": detector})
    viewing.advance(START + float(chance.choice([0.0, 5.0, 900.0])))
    topology = chance.choice(np.array([topology, Topology()], object))
    foreign = [replace(one, about=Port("?", "?")) for one in before]
    return viewing.view(detector, topology, [], [*before, *foreign])
