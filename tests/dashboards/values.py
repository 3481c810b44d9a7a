"""Values as Grafana writes them, for the units that our boards use."""

from math import isfinite

SCALED = {
    "short": ("", 1000, ("", "K", "M", "B", "T")),
    "none": ("", 1000, ("",)),
    "bytes": ("B", 1024, (" ", " Ki", " Mi", " Gi", " Ti", " Pi")),
    "Bps": ("B/s", 1000, (" ", " k", " M", " G", " T")),
    "bps": ("b/s", 1000, (" ", " k", " M", " G", " T")),
    "cps": (" c/s", 1000, ("", "K", "M", "B")),
    "pps": (" p/s", 1000, ("", "K", "M", "B")),
    "watt": ("W", 1000, (" ", " k", " M")),
    "joule": ("J", 1000, (" ", " k", " M", " G")),
}
PLAIN = {
    "amp": " A",
    "celsius": " °C",
    "dB": " dB",
    "dBm": " dBm",
    "d": " d",
    "flowlpm": " L/min",
    "hertz": " Hz",
    "lengthm": " m",
    "litre": " L",
    "pressurekpa": " kPa",
    "rotrpm": " rpm",
    "volt": " V",
}
SPANS = ((86_400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def written(value: float, unit: str) -> str:
    """Return a value in a unit of Grafana's.

    Raises:
        KeyError: no board of ours uses the unit.
    """
    if not isfinite(value):
        return str(value)
    if unit == "percentunit":
        return f"{round(value * 100, 2):g} %"
    if unit == "s":
        return _span(value)
    if unit == "sci":
        return f"{value:.2e}"
    if unit in PLAIN:
        return f"{round(value, 3):g}{PLAIN[unit]}"
    name, step, prefixes = SCALED[unit]
    power = 0
    while abs(value) >= step and power < len(prefixes) - 1:
        value, power = value / step, power + 1
    return f"{round(value, 2):g}{prefixes[power]}{name}".strip()


def _span(value: float) -> str:
    for size, name in SPANS:
        if abs(value) >= size:
            return f"{round(value / size, 2):g} {name}"
    return f"{value:g} s"
