"""Whom a sample of a page is about: device, port and labels, by the maps of its exporter.

Names follow the captures' contract: the topology's name where the reply gives an id that it
knows, else the host that a label names, else the target's device; an accelerator is HOST-ID.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import nan

from collectors.maps.names import device_name
from collectors.maps.page_names import first
from collectors.maps.page_rules import PageMap, Rule, Sentinel
from collectors.protocols.exposition_line import Series
from collectors.source import Target
from fabrichealth.catalogue import METRICS
from fabrichealth.metric import Kind, Metric
from fabrichealth.model import Labels

_AS_IT_IS = Rule.model_validate({"from": "-"})
"""What a page says in the catalogue's own names is taken unchanged."""

_Fit = tuple[PageMap, Rule, Mapping[str, str]]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One reading that a sample gives: of whom it is, and by which rule."""

    rule: Rule
    metric: Metric | None
    labels: Labels | None
    """Values of the metric's labels; None if the sample lacks what names it."""
    device: str
    port: str
    sentinels: tuple[Sentinel, ...] = ()
    fixed: float | None = None
    """The value where the page's number does not matter; NaN if its words are not known."""


class Placer:
    """Finds the places of series by the maps of one target."""

    def __init__(self, target: Target, maps: Iterable[PageMap]) -> None:
        self._target = target
        self._maps = list(maps)
        self._fits: dict[str, list[_Fit]] = {}

    def places(self, series: Series) -> tuple[Place, ...]:
        """Return what a series gives; nothing if no map knows its name."""
        metric = METRICS.get(series.name)
        if metric is not None and metric.kind not in {Kind.HISTOGRAM, Kind.PART}:
            return (self._native(metric, series),)
        fits = self._fits.get(series.name)
        if fits is None:
            fits = self._fits[series.name] = list(self._fitting(series.name))
        return tuple(self._place(*fit, series) for fit in fits if not fit[0].skips(series.labels))

    def _fitting(self, name: str) -> Iterable[_Fit]:
        for page in self._maps:
            for rule in page.rules:
                found = next(filter(None, (p.fullmatch(name) for p in rule.patterns)), None)
                if found:
                    yield page, rule, found.groupdict()

    def _native(self, metric: Metric, series: Series) -> Place:
        given = {"device": self._target.subject, **series.labels}
        labels = tuple(given.get(label, "") for label in metric.labels)
        return Place(_AS_IT_IS, metric, labels, given["device"], given.get("port", ""))

    def _place(self, page: PageMap, rule: Rule, parts: Mapping[str, str], series: Series) -> Place:
        host = self._host(page, series.labels)
        words = {**self._target.options, **series.labels, **parts, "host": host}
        device = first(rule.device, words) if rule.device else self._device(page, words, host)
        port = first(rule.port, words)
        labels = self._labels(rule, words, device, port) if rule.metric and device else None
        sentinels = page.sentinels.get(rule.sentinels, ())
        fixed = rule.value
        if rule.state is not None:
            fixed = rule.state.values.get(series.labels.get(rule.state.label, ""), nan)
        return Place(rule, rule.metric, labels, device or "", port or "", sentinels, fixed)

    def _host(self, page: PageMap, labels: Mapping[str, str]) -> str:
        name = next((labels[label] for label in page.hosts if labels.get(label)), "")
        if not name:
            return self._target.subject
        return self._target.topology.named(name) or device_name(name)

    def _device(self, page: PageMap, words: Mapping[str, str], host: str) -> str | None:
        for device in page.devices:
            name = device.name.fill(words)
            if name is not None:
                ids = (words[label] for label in device.ids if words.get(label))
                known = (self._target.topology.named(one, host) for one in ids)
                return next(filter(None, known), device_name(name))
        return None

    def _labels(
        self, rule: Rule, words: Mapping[str, str], device: str, port: str | None
    ) -> Labels | None:
        """Return the values of the metric's labels, None if one cannot be made."""
        metric = rule.metric
        if metric is None:
            return None
        topology = self._target.topology
        where = {"rack": topology.rack_of(device), "domain": topology.domain_of(device)}
        words = {**words, **{key: name for key, name in where.items() if name}}
        made = {label: first(templates, words) for label, templates in rule.labels.items()}
        made = {"device": device, "port": port, **made}
        if rule.codes:
            made["code"] = ""
        if metric.kind is Kind.INFO:
            return tuple(made.get(label) or "" for label in metric.labels)
        labels = tuple(made.get(label) for label in metric.labels)
        whole = tuple(label for label in labels if label is not None)
        return whole if len(whole) == len(labels) else None
