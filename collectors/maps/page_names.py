"""Templates of a page map: how names of devices, ports and labels are made from a sample's.

`{host}-nvswitch{nvswitch|number}` takes fields (labels of the sample, parts of its name, words
of the target) and filters them. A template applies only where all its fields are there and not
empty; of several, the first that applies is taken.
"""

import re
from collections.abc import Callable, Mapping, Sequence

_FIELD = re.compile(r"\{([a-zA-Z_][a-zA-Z0-9_]*)(?:\|([a-z_]+))?\}")
_HOLE = re.compile(r"<([a-z_]+)>")


def _number(text: str) -> str:
    digits = re.search(r"\d+$", text)
    return digits[0] if digits else ""


def _next(text: str) -> str:
    return str(int(text) + 1) if text.isdecimal() else ""


def _bdf(text: str) -> str:
    """Return a PCI address in lower case with a domain of four digits."""
    domain, colon, rest = text.lower().partition(":")
    return f"{domain[-4:].rjust(4, '0')}:{rest}" if colon and ":" in rest else text.lower()


FILTERS: dict[str, Callable[[str], str]] = {
    "number": _number,  # the digits at the end: nvswitch3 -> 3
    "next": _next,  # lanes that are counted from 0 -> from 1
    "lower": str.lower,
    "bdf": _bdf,
}


class Template:
    """A text with fields.

    Raises:
        ValueError: a brace that is no field, or a filter that does not exist.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.fields = [(found[1], found[2] or "") for found in _FIELD.finditer(text)]
        self._between = _FIELD.split(text)[::3]
        if any(brace in part for part in self._between for brace in "{}"):
            raise ValueError(f"{text!r}: write a field as {{label}} or {{label|filter}}")
        for _, name in self.fields:
            if name and name not in FILTERS:
                raise ValueError(f"{text!r}: no filter {name}; there are {', '.join(FILTERS)}")

    def fill(self, words: Mapping[str, str]) -> str | None:
        """Return the text with its fields filled in, or None if one of them is not there."""
        parts = [self._between[0]]
        for (field, name), after in zip(self.fields, self._between[1:], strict=True):
            word = words.get(field, "")
            if name:
                word = FILTERS[name](word)
            if not word:
                return None
            parts += (word, after)
        return "".join(parts)


def first(templates: Sequence[Template], words: Mapping[str, str]) -> str | None:
    """Return what the first template that applies gives, or None."""
    filled = (template.fill(words) for template in templates)
    return next((text for text in filled if text is not None), None)


def pattern(text: str) -> re.Pattern[str]:
    """Return the pattern of a name with holes for numbers: `rx_power_<lane>`."""
    parts = _HOLE.split(text)
    return re.compile(
        "".join(rf"(?P<{part}>\d+)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
    )
