r"""The words of our own /metrics: headers, label text, histograms, and which format is asked for.

As prometheus-client writes them (text format 0.0.4, and OpenMetrics 1.0.0): in OpenMetrics a
counter's family goes without `_total` and an info's without `_info`; in 0.0.4 an info is a
gauge. An empty label is an absent one and is not written.
"""

from collections.abc import Mapping, Sequence
from enum import Enum

from fabrichealth.metric import Kind, Metric


class Format(Enum):
    """The two formats; the value is the content type."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    @property
    def end(self) -> bytes:
        """What the last line of a page is."""
        return b"# EOF\n" if self is Format.OPENMETRICS else b""


def wanted(accept: str) -> Format:
    """Return the format to answer an Accept header with, chosen as prometheus-client does."""
    kinds = {part.split(";")[0].strip().lower() for part in accept.split(",")}
    return Format.OPENMETRICS if "application/openmetrics-text" in kinds else Format.TEXT


def takes_gzip(accept_encoding: str) -> bool:
    """Return whether a client can unpack gzip."""
    for part in accept_encoding.lower().split(","):
        coding, _, quality = part.partition(";")
        if coding.strip() == "gzip" and quality.replace(" ", "") not in {"q=0", "q=0.0"}:
            return True
    return False


def header(metric: Metric, form: Format) -> bytes:
    """Return HELP and TYPE of a family, the help on one line."""
    name, kind = str(metric), metric.kind
    text = metric.help.replace("\\", r"\\").replace("\n", r"\n")
    if form is Format.OPENMETRICS:
        name = name.removesuffix("_total") if kind is Kind.COUNTER else name
        name = name.removesuffix("_info") if kind is Kind.INFO else name
        text = text.replace('"', r"\"")
    elif kind is Kind.INFO:
        kind = Kind.GAUGE
    return f"# HELP {name} {text}\n# TYPE {name} {kind}\n".encode()


def labels(names: Sequence[str], values: Sequence[str]) -> str:
    """Return `{a="b",..}` of the labels that are not empty, or nothing."""
    pairs = [
        f'{name}="{escaped(value)}"' for name, value in zip(names, values, strict=True) if value
    ]
    return "{" + ",".join(pairs) + "}" if pairs else ""


def escaped(value: str) -> str:
    r"""Return a label value with `\`, `"` and line feed escaped; NUL, which pads rows, goes."""
    if value.isalnum():
        return value
    value = value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}")


def histogram(
    metric: Metric, values: Sequence[str], parts: Mapping[str, Sequence[tuple[str, float]]]
) -> bytes:
    """Return the lines of one histogram, its buckets in order; `parts` are (le, value) by ending.

    One that lacks its count or its last bucket is none, and nothing is written.
    """
    buckets = sorted(parts.get("_bucket", ()), key=lambda pair: float(pair[0]))
    if not buckets or buckets[-1][0] != "+Inf" or not parts.get("_count"):
        return b""
    said = [
        f"{metric}_bucket{labels((*metric.labels, 'le'), (*values, bound))} {value}\n"
        for bound, value in buckets
    ]
    text = labels(metric.labels, values)
    for part in ("_sum", "_count"):
        said += [f"{metric}{part}{text} {value!r}\n" for _, value in parts.get(part, ())]
    return "".join(said).encode()
