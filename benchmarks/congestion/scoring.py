"""Results of cases, and what of them is right."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.congestion.case import Case
from benchmarks.congestion.cases import case
from benchmarks.congestion.judging import Lived, Said, live
from benchmarks.kept import Keeper
from fabrichealth.kinds import Severity

ROOM = Path(__file__).parent
MAKING = ("case", "cases", "counters", "crowding", "fabrics", "fluid", "judging", "receivers",
          "watchdog")  # fmt: skip


@dataclass(frozen=True)
class Result:
    """What was said of one case, beside the truth; see `Case`, `Truth` and `Lived`."""

    name: str
    seed: int
    shape: str
    gigabits: int
    period: float
    phase: float
    """Seconds from the onset to the poll that sees it first."""
    duty: float | None
    turn: float | None
    faced: tuple[str, ...]
    right: Mapping[str, tuple[str, ...]]
    also: Mapping[str, tuple[str, ...]]
    says: str
    trigger: str
    seconds: float
    """Of history, from the first poll on."""
    said: tuple[Said, ...]
    storms: tuple[tuple[float, str], ...]
    restores: int
    passes: int
    cpu: float

    @property
    def found(self) -> Said | None:
        """The first that was said which is right."""
        return next((one for one in self.said if _named(self.right, one)), None)

    @property
    def first(self) -> bool:
        """Whether the first that was said, of what must be acted on or of the right kind, is true.

        A mere watch of another kind is no answer to the question where it begins.
        """
        for one in self.said:
            if one.severity >= Severity.TICKET or one.kind in self.right:
                return _named(self.right, one) or _named(self.also, one)
        return False

    @property
    def again(self) -> int:
        """Incidents beyond the first that are right: one cause is one incident."""
        return max(len({one.incident for one in self.said if _named(self.right, one)}) - 1, 0)

    def false(self, least: Severity = Severity.TICKET) -> list[Said]:
        """Return what was said that is not true, each incident once, the gravest of it."""
        wrong: dict[str, Said] = {}
        fine = {one.incident for one in self.said if _named(self.right, one)}
        for one in self.said:
            true = _named(self.also, one) or one.incident in fine
            if one.severity >= least and not true:
                wrong[one.incident] = one
        return list(wrong.values())

    def cycles(self) -> list[Said]:
        """Return the deadlocks that were said and are none."""
        members = self.right.get("pfc.deadlock", ())
        return [one for one in self.said if one.kind == "pfc.deadlock"
                and one.culprit not in members]  # fmt: skip

    @property
    def barked(self) -> float | None:
        """When the watchdog first saw a storm at a queue that what is wrong stops."""
        return min((at for at, port in self.storms if port in self.faced), default=None)

    @property
    def alone(self) -> bool:
        """Whether at its first look at a storm it named those queues and no others."""
        begun = min((at for at, _ in self.storms), default=None)
        return begun is not None and {port for at, port in self.storms if at == begun} <= set(
            self.faced
        )


def _named(kinds: Mapping[str, tuple[str, ...]], one: Said) -> bool:
    culprits = kinds.get(one.kind)
    return culprits is not None and (not culprits or one.culprit in culprits)


def judged(name: str, seed: int) -> Result:
    """Return what is said of a case."""
    made = case(name, seed)
    return _result(name, seed, made, live(made, seed))


def _result(name: str, seed: int, made: Case, lived: Lived) -> Result:
    truth = made.truth
    phase = made.period - made.began % made.period
    return Result(
        name, seed, made.fabric.shape, made.fabric.gigabits, made.period, round(phase, 3),
        _known(made.duty), _known(made.turn), made.faced, dict(truth.right), dict(truth.also),
        truth.says, truth.trigger, made.began + made.after, tuple(lived.said), tuple(lived.storms),
        lived.restores, lived.passes, round(lived.cpu, 2),
    )  # fmt: skip


def _known(value: float) -> float | None:
    return value if value == value else None  # NaN alone differs from itself


def making() -> str:
    """Return a digest of the sources that make cases and live through them."""
    digest = hashlib.sha256()
    for name in MAKING:
        digest.update((ROOM / f"{name}.py").read_bytes())
    return digest.hexdigest()[:8]


def kept_name(name: str, seed: int) -> str:
    """Return under which name a result is kept."""
    return f"congestion.{name}.{seed}.{making()}"


def kept(keeper: Keeper, name: str, seed: int) -> Result | None:
    """Return a result that is kept, None if there is none."""
    plain = keeper.find(kept_name(name, seed))
    return None if plain is None else of_json(plain)


def all_kept(folders: Iterable[Path]) -> list[Result]:
    """Return every result of these sources of cases that is kept, whatever analyzer gave it."""
    found = {}
    for folder in folders:
        keeper = Keeper(folder, any_sources=True)
        for name in keeper.names("congestion."):
            plain = keeper.find(name) if name.endswith(making()) else None
            if plain is not None:
                found[name] = of_json(plain)
    return list(found.values())


def to_json(result: Result) -> dict[str, Any]:
    """Return a result as JSON."""
    return asdict(result)


def of_json(plain: dict[str, Any]) -> Result:
    """Read a result back."""
    return Result(**{
        **plain,
        "faced": tuple(plain["faced"]),
        "right": {kind: tuple(names) for kind, names in plain["right"].items()},
        "also": {kind: tuple(names) for kind, names in plain["also"].items()},
        "said": tuple(Said(**one) for one in plain["said"]),
        "storms": tuple((at, port) for at, port in plain["storms"]),
    })  # fmt: skip
