"""What the modules of a view show, as features of lanes: evidence for causes and sides.

`Optics` looks at all modules at once; `of(port)` gives one module's features as an object, for
the few that somebody asks about. None is not known: a linear pluggable has no error ratio of its
media side, copper no light, a module without limits no margin, a history of minutes no trend.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from analyzer.evidence.durations import Bools
from analyzer.evidence.optics.ageing import lasers_age
from analyzer.evidence.optics.features import VISIBLE_DB, Feature, LaneFeatures, OpticsEvidence
from analyzer.evidence.optics.frozen import frozen_baselines
from analyzer.evidence.optics.levels import Levels, Look, levels
from analyzer.evidence.optics.limits import Limits, all_limits
from analyzer.evidence.optics.modules import Identity, modules
from analyzer.evidence.optics.noise import excess_noise
from analyzer.evidence.optics.quantities import (
    BER_HOST,
    BER_MEDIA,
    BIAS,
    DARK,
    HEAT,
    METRICS,
    QUANTITIES,
    RX,
    SNR_MEDIA,
    TX,
    Quantity,
)
from analyzer.evidence.optics.roster import Places, roster
from analyzer.evidence.optics.trends import Ageing, Trend, follows, trend
from analyzer.evidence.optics.unrest import Unrest, unrest
from analyzer.evidence.robust import group_spread
from fabrichealth.catalogue.optics import ALARM, OPTICS_INFO, THRESHOLD, TX_FAULT
from fabrichealth.catalogue.ports import ADMIN_UP, UP
from fabrichealth.model import Floats, Port, View

USUAL_T0_KELVIN = 70.0
"""A laser's threshold current grows e-fold in 50 to 100 K (docs/methods.md)."""

WARMTH = (0.0, 1.0 / 30.0)
"""Bounds of a fitted rise of ln(bias) per kelvin; a cooled laser has none."""

DIP_DEVIATIONS = 5.0
"""A dip is so many times as deep as what the peers' readings usually jump by."""

RESTLESS = (RX, SNR_MEDIA)
"""Quantities that jump where a plug is loose or light comes back."""

WINDOWED = METRICS
REMEMBERED = (THRESHOLD, OPTICS_INFO, TX_FAULT, ALARM, UP, ADMIN_UP)
RECALLED = (*METRICS, OPTICS_INFO)
"""What a detector that builds `Optics` must list under `metrics`, `remembers` and `recalls`."""


class Optics:
    """The features of all modules of a view, worked out at once ([place] of `lanes`)."""

    def __init__(self, view: View, look: Look) -> None:
        self.view, self.look = view, look
        table = view.changes(THRESHOLD).table
        self.lanes = roster(table)
        for metric in (*METRICS, THRESHOLD, OPTICS_INFO, TX_FAULT, ALARM):
            self.lanes.learn(table, metric)
        self.modules = modules(view, self.lanes, look.warm_up)
        self.limits = all_limits(view.changes(THRESHOLD), self.lanes)
        self._frozen = frozen_baselines(view, self.lanes)
        self._levels: dict[str, Levels] = {}
        self._usual_unrest: dict[str, Floats] = {}

    def __getitem__(self, quantity: Quantity) -> Levels:
        """Return the levels of a quantity; worked out when they are asked for first."""
        found = self._levels.get(quantity.name)
        if found is None:
            found = levels(self.view, self.lanes, self.modules, quantity, self.look, self._frozen)
            self._levels[quantity.name] = found
        return found

    @cached_property
    def complained(self) -> Bools:
        """Which places belong to modules that the detector complained of in its last pass."""
        about = [one.about for one in self.view.before if isinstance(one.about, Port)]
        numbers = [number for port in about if (number := self.lanes.port_number(port)) is not None]
        return np.isin(self.lanes.port, numbers)

    @cached_property
    def off(self) -> Bools:
        """Which ports' lasers are all dark ([port])."""
        return self._all_dark(TX)

    @cached_property
    def unlit(self) -> Bools:
        """Which ports receive no light on any lane ([port])."""
        return self._all_dark(RX)

    @cached_property
    def ageing(self) -> Ageing:
        """How each lane's laser ages, from the long past ([place])."""
        bias, heat = self.view.past(BIAS.metric), self.view.past(HEAT.metric)
        return lasers_age(bias, heat, self.lanes, self.modules.since)

    @cached_property
    def bias_expected(self) -> Floats:
        """Bias that each laser needed before, at its present temperature ([place], A).

        By the laser's own dependence, where its past shows it; else by the usual one, which only
        ever raises the expectation: a cooled laser needs no less when it is colder.
        """
        module = self._module_places
        warmer = np.where(module >= 0, self[HEAT].change[module], np.nan)
        own = np.clip(self.ageing.warmth, *WARMTH)
        with np.errstate(invalid="ignore"):
            usual = np.maximum(warmer, 0.0) / USUAL_T0_KELVIN
            rise = np.where(np.isfinite(own), own * warmer, usual)
            return np.asarray(self[BIAS].baseline * np.exp(np.clip(rise, -2, 2)), np.float64)

    @cached_property
    def bias_excess(self) -> Floats:
        """Bias over `bias_expected` ([place])."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = self[BIAS].level / self.bias_expected
        return np.where(self.bias_expected > 0, ratio, np.nan)

    @cached_property
    def noise(self) -> Floats:
        """By how many dB each lane does worse than its SNR says ([place])."""
        return excess_noise(self[SNR_MEDIA].level, self[BER_MEDIA].level)

    @cached_property
    def noise_change(self) -> Floats:
        """The same against what it used to be: makers define the ratio differently ([place])."""
        return self.noise - excess_noise(self[SNR_MEDIA].baseline, self[BER_MEDIA].baseline)

    def among_peers(self, values: Floats) -> tuple[Floats, Floats]:
        """Return median and robust standard deviation over lanes of the same part ([place])."""
        group = self.modules.group[self.lanes.port]
        return group_spread(values, group, self.look.peers)

    def unrest(self, quantity: Quantity, places: Places) -> tuple[Places, Unrest]:
        """Return which of some places tell of a quantity, and their unrest over enough polls."""
        return unrest(self.view, self.lanes, quantity, self.look.warm_up, places)

    def usual_unrest(self, quantity: Quantity) -> Floats:
        """Return the median unrest of lanes of the same part ([place])."""
        found = self._usual_unrest.get(quantity.name)
        if found is None:
            found = self._usual_unrest[quantity.name] = self.among_peers(self[quantity].unrest)[0]
        return found

    def limit(self, quantity: Quantity) -> Limits | None:
        """Return the modules' own limits of a quantity ([port]), None where there can be none."""
        return self.limits.get(quantity.limit)

    def of(self, port: Port) -> OpticsEvidence | None:
        """Return one module's features, or None if nothing is read of it."""
        number = self.lanes.port_number(port)
        if number is None:
            return None
        places = self.lanes.places_of(port)
        jumps = {one.name: self._jumps(one, places) for one in RESTLESS}
        mine = [self._lane(port, place, jumps) for place in places]
        found = {one.lane: one for one in mine if one.features}
        module = self.lanes.find(port)
        heat = self._feature(HEAT, module, {}) if module is not None else None
        if not found and heat is None:
            return None
        identity = self.modules.identity[number]
        blind = tuple(_blind(identity, found, number, self.limits))
        return OpticsEvidence(port, identity, heat, found, bool(self.off[number]), blind)

    def trend(self, quantity: Quantity, port: Port, lane: str = "") -> Trend | None:
        """Return the slope of a lane's long past per day, None where none can be told."""
        at, values = self._past(quantity, port, lane)
        return trend(at, values)

    def follows_temperature(self, quantity: Quantity, port: Port, lane: str) -> float | None:
        """Return the partial correlation of a lane's long past with the module's temperature."""
        at, values = self._past(quantity, port, lane)
        warm_at, celsius = self._past(HEAT, port, "")
        if len(at) != len(warm_at):
            return None
        return follows(values, celsius, at)

    @cached_property
    def _module_places(self) -> Places:
        """Place of the module itself of each place, -1 where nothing tells of it ([place])."""
        by_port = np.full(len(self.lanes.ports), -1, np.intp)
        labels = np.array([not lane for lane in self.lanes.lanes], np.bool_)
        modules_at = np.flatnonzero(labels)
        by_port[self.lanes.port[modules_at]] = modules_at
        return by_port[self.lanes.port]

    def _past(self, quantity: Quantity, port: Port, lane: str) -> tuple[Floats, Floats]:
        past = self.view.past(quantity.metric)
        labels = (*port, lane, *quantity.tail) if lane else (*port, *quantity.tail)
        known = len(labels) == len(quantity.metric.labels)
        row = past.row(*labels) if known else None
        number = self.lanes.port_number(port)
        if row is None or number is None:
            return np.empty(0), np.empty(0)
        mine = past.starts >= self.modules.since[number]
        return past.middles[mine], past.values[row, mine]

    def _all_dark(self, quantity: Quantity) -> Bools:
        level = self[quantity].level
        port, size = self.lanes.port, len(self.lanes.ports)
        told = np.bincount(port[np.isfinite(level)], minlength=size)
        with np.errstate(invalid="ignore"):
            lit = np.bincount(port[level > DARK], minlength=size)
        return np.asarray((told > 0) & (lit == 0), np.bool_)

    def _jumps(self, quantity: Quantity, places: Sequence[int]) -> dict[int, tuple[float, int]]:
        """Return unrest and number of dips of some places, by place, as far as known."""
        told, mine = self.unrest(quantity, np.array(places, np.intp))
        usual = np.nan_to_num(self.usual_unrest(quantity)[told])
        many, both = mine.dips(np.maximum(VISIBLE_DB, DIP_DEVIATIONS * usual))
        dips = np.where(both, many, 0)
        every = zip(told.tolist(), mine.deviation.tolist(), dips.tolist(), strict=True)
        return {place: (unrest, dip) for place, unrest, dip in every if np.isfinite(unrest)}

    def _lane(
        self, port: Port, place: int, jumps: Mapping[str, Mapping[int, tuple[float, int]]]
    ) -> LaneFeatures:
        found = {one.name: self._feature(one, place, jumps.get(one.name, {})) for one in QUANTITIES}
        for one in (BER_MEDIA, BER_HOST):  # some modules tell one ratio for all lanes
            module = self.lanes.find(port)
            if found[one.name] is None and module is not None:
                found[one.name] = self._feature(one, module, {})
        return LaneFeatures(
            port,
            self.lanes.lanes[place],
            {name: feature for name, feature in found.items() if feature is not None},
            _known(self.bias_excess[place]),
            _known(self.noise[place]),
            _known(self.noise_change[place]),
        )

    def _feature(
        self, quantity: Quantity, place: int, jumps: Mapping[int, tuple[float, int]]
    ) -> Feature | None:
        mine = self[quantity]
        level = _known(mine.level[place])
        if level is None:
            return None
        number = int(self.lanes.port[place])
        limits = self.limit(quantity)
        unrest, dips = jumps.get(place, (None, 0))
        middle, spread = _known(mine.peer_middle[place]), _known(mine.peer_spread[place])
        peers = None if middle is None else level - middle
        return Feature(
            level,
            _known(mine.baseline[place]),
            _known(mine.siblings[place]),
            peers,
            peers / spread if peers is not None and spread else None,
            _known(limits.low[number]) if limits else None,
            _known(limits.high[number]) if limits else None,
            unrest,
            _known(self.usual_unrest(quantity)[place]) if place in jumps else None,
            dips,
        )


def _blind(
    identity: Identity,
    lanes: Mapping[str, LaneFeatures],
    number: int,
    limits: Mapping[str, Limits],
) -> list[str]:
    """Return what cannot be known of a module, in words."""
    found = []
    if identity.copper:
        found.append("copper has no light: only temperature and host side are known")
    elif identity.unretimed:
        found.append(
            "no DSP: its errors are not known, electrical and optical cannot be told apart"
        )
    elif not any(one.snr_media for one in lanes.values()):
        found.append("it reports no signal-to-noise ratio of its receivers")
    if not any(np.isfinite([one.low[number], one.high[number]]).any() for one in limits.values()):
        found.append("it has no limits of its own")
    return found


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
