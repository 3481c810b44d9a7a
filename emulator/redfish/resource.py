"""What every resource of a service has: its place, type, id and name."""

from collections.abc import Iterable
from typing import Any

V1 = "/redfish/v1"
ON = {"State": "Enabled", "Health": "OK"}

Json = dict[str, Any]
Tree = dict[str, Json]


def resource(place: str, kind: str, version: str, title: str, more: Json, name: str = "") -> Tree:
    """Return one resource by its place."""
    return {
        place: {
            "@odata.id": place,
            "@odata.type": f"#{kind}.v{version}.{kind}",
            "Id": name or place.rpartition("/")[2],
            "Name": title,
            **more,
        }
    }


def collection(place: str, kind: str, names: Iterable[str]) -> Tree:
    """Return a collection of resources of a kind, by its place."""
    members = [link(f"{place}/{name}") for name in names]
    return {
        place: {
            "@odata.id": place,
            "@odata.type": f"#{kind}Collection.{kind}Collection",
            "Name": f"{kind} Collection",
            "Members": members,
            "Members@odata.count": len(members),
        }
    }


def link(place: str) -> Json:
    """Return a reference to a resource."""
    return {"@odata.id": place}


def excerpt(reading: float | None, **more: Any) -> Json:
    """Return a reading as it stands in a resource that is no sensor."""
    return {"Reading": reading if reading is None else round(reading, 6), **more}
