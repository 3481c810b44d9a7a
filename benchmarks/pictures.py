"""Pictures of how far probabilities hold, as plain SVG: small, exact, and the same each time.

A reliability diagram has what was claimed across and how often it was right upwards, with the
exact 95 % interval of each bin; on the diagonal a claim of 70 % is right in 70 of 100.
"""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from analyzer.scoring.calibration import Bin, bins, brier, expected_error

SIZE, MARGIN = 360, 48
INK, PALE, BLUE = "#333333", "#bbbbbb", "#1f77b4"
LEAST_DOT, GREATEST_DOT = 2.5, 9.0

Claims = Sequence[tuple[float, bool]]


def reliability(title: str, claims: Claims) -> str:
    """Return the diagram of some claims (probability, was it right)."""
    every = bins(claims)
    most = max((one.right.n for one in every), default=1)
    score, error = brier(claims), expected_error(claims)
    note = "no claims" if score is None or error is None else (
        f"n={len(claims)}, Brier {score:.3f}, calibration error {error:.3f}"
    )  # fmt: skip
    marks = "".join(_mark(one, most) for one in every)
    return _page(title, note, _axes("probability claimed", "share that was right") + marks)


def _mark(one: Bin, most: int) -> str:
    """Return the dot of a bin with its interval; its area is how many claims it holds."""
    bounds = one.right.bounds
    if bounds is None:
        return ""
    x, y = _x(one.said), _y(one.right.hits / one.right.n)
    low, high = (_y(bound) for bound in bounds)
    radius = LEAST_DOT + (GREATEST_DOT - LEAST_DOT) * (one.right.n / most) ** 0.5
    return (
        f'<line x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}" stroke="{BLUE}"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{BLUE}">'
        f"<title>{one.right}</title></circle>\n"
    )


def _axes(across: str, up: str) -> str:
    lines = []
    for tenth in range(0, 11, 2):
        share = tenth / 10
        x, y = _x(share), _y(share)
        lines += [
            f'<line x1="{x:.1f}" y1="{_y(0):.1f}" x2="{x:.1f}" y2="{_y(1):.1f}" stroke="#eeeeee"/>',
            f'<line x1="{_x(0):.1f}" y1="{y:.1f}" x2="{_x(1):.1f}" y2="{y:.1f}" stroke="#eeeeee"/>',
            _text(x, _y(0) + 16, f"{share:.1f}"),
            _text(_x(0) - 16, y + 4, f"{share:.1f}"),
        ]
    lines.append(
        f'<line x1="{_x(0):.1f}" y1="{_y(0):.1f}" x2="{_x(1):.1f}" y2="{_y(1):.1f}" '
        f'stroke="{PALE}" stroke-dasharray="4 4"/>'
    )
    lines.append(_text(_x(0.5), SIZE - 8, across))
    turned = f'transform="rotate(-90 12 {_y(0.5):.1f})"'
    lines.append(_text(12, _y(0.5), up, turned))
    return "\n".join(lines) + "\n"


def _x(share: float) -> float:
    return MARGIN + share * (SIZE - 2 * MARGIN)


def _y(share: float) -> float:
    return SIZE - MARGIN - share * (SIZE - 2 * MARGIN)


def _text(x: float, y: float, words: str, more: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="11" fill="{INK}" {more}>'
        f"{escape(words)}</text>"
    )


def _page(title: str, note: str, inside: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" '
        f'width="{SIZE}" height="{SIZE}" font-family="sans-serif">\n'
        f'<rect width="{SIZE}" height="{SIZE}" fill="white"/>\n'
        + _text(SIZE / 2, 18, title) + "\n" + _text(SIZE / 2, 34, note) + "\n"
        + inside + "</svg>\n"
    )  # fmt: skip
