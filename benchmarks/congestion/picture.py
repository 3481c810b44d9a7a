"""A picture of how soon a storm is found, by its duty: a dot a case, as plain SVG."""

from collections.abc import Sequence

from benchmarks.congestion.scoring import Result

WIDTH, HEIGHT, MARGIN = 520, 300, 46
LONGEST = 12.0
"""Seconds at the top; what was never found lies in a band above."""
OURS, THEIRS, INK = "#1f77b4", "#d95f02", "#333333"
LEAST_DUTY = 0.48
"""At the left end; what stops for less is a slow receiver, found once it lasts a minute."""


def delays(results: Sequence[Result]) -> str:
    """Return the picture of some storms with breaks: ours, and the switches' watchdog."""
    dots = []
    for one in results:
        if one.duty is None or one.turn is None or one.duty < LEAST_DUTY or one.period > 1.0:
            continue
        ours = None if one.found is None else one.found.at
        for at, color, shift in ((ours, OURS, -1.5), (one.barked, THEIRS, 1.5)):
            x, y = _x(one.duty) + shift, _y(at)
            dots.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.4" fill="{color}" '
                        f'fill-opacity="0.6"/>')  # fmt: skip
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n'
        f"{_axes()}\n" + "\n".join(dots) + "\n</svg>\n"
    )


def _axes() -> str:
    lines = [
        _text(WIDTH / 2, HEIGHT - 8, "share of time for which a NIC stops its leaf"),
        _text(WIDTH / 2, 14, "seconds until found; polls of 1 s; simulated"),
        _text(WIDTH - 120, 30, "fabrichealth", OURS), _text(WIDTH - 40, 30, "watchdog", THEIRS),
        _text(20, _y(None) + 4, "never"),
    ]  # fmt: skip
    duties = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    lines += [_text(_x(duty), HEIGHT - 24, f"{duty:.0%}") for duty in duties]
    for at in range(0, int(LONGEST) + 1, 3):
        lines.append(_text(26, _y(float(at)) + 4, str(at)))
        lines.append(
            f'<line x1="{MARGIN}" x2="{WIDTH - MARGIN / 2}" y1="{_y(at):.1f}" y2="{_y(at):.1f}" '
            f'stroke="#eeeeee"/>'
        )
    return "\n".join(lines)


def _x(duty: float) -> float:
    return MARGIN + (duty - LEAST_DUTY) / (1.0 - LEAST_DUTY) * (WIDTH - 1.5 * MARGIN)


def _y(at: float | None) -> float:
    """Return the height of a delay in seconds, of None in the band of what was never found."""
    top, bottom = MARGIN + 16.0, HEIGHT - MARGIN
    if at is None:
        return MARGIN - 2.0
    return bottom - min(max(at, 0.0), LONGEST) / LONGEST * (bottom - top)


def _text(x: float, y: float, words: str, color: str = INK) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="11" fill="{color}">'
        f"{words}</text>"
    )
