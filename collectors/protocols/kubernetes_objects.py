"""Objects of Kubernetes' API: what a field holds, and nothing where it is of another kind."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any


def moment(plain: Any) -> float | None:
    """Return the unix seconds of a time stamp of the API."""
    try:
        return datetime.fromisoformat(plain).timestamp() if isinstance(plain, str) else None
    except (ValueError, OverflowError):
        return None


def inner(plain: Any, key: str) -> Mapping[str, Any]:
    """Return the object in a field."""
    found = plain.get(key) if isinstance(plain, dict) else None
    return found if isinstance(found, dict) else {}


def objects(plain: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list."""
    return [one for one in plain if isinstance(one, dict)] if isinstance(plain, list) else []


def words(plain: Mapping[str, Any], key: str, inside: str = "metadata") -> dict[str, str]:
    """Return the words by name in a field of another, such as labels."""
    found = inner(inner(plain, inside) if inside else plain, key)
    return {str(name): word for name, word in found.items() if isinstance(word, str)}


def text(plain: Mapping[str, Any], key: str) -> str:
    """Return the word in a field."""
    found = plain.get(key)
    return found if isinstance(found, str) else ""
