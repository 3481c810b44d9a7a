"""The tree of a service: every resource by its place, as DMTF's schemas have it."""

from emulator.redfish.cooling import cdus
from emulator.redfish.equipment import Site
from emulator.redfish.power import pdus, shelves
from emulator.redfish.resource import ON, V1, Json, Tree, collection, link, resource

CHASSIS = f"{V1}/Chassis/1"
SSE = f"{V1}/EventService/SSE"
REPORT = f"{V1}/TelemetryService/MetricReports/Readings"


def tree(site: Site, stamp: str, sequence: int, *, expand: bool = True) -> Tree:
    """Return every resource; `stamp` is the time (ISO 8601), `sequence` the report's number."""
    found: Tree = dict(_root(site, expand=expand))
    found |= _chassis(site) | _telemetry(site, stamp, sequence) | _services()
    if site.cdus:
        found |= cdus(site.cdus)
    power: Json = {}
    for name, members, bodies in (
        ("RackPDUs", site.pdus, pdus(site.pdus)),
        ("PowerShelves", site.shelves, shelves(site.shelves)),
    ):
        if members:
            found |= bodies
            power[name] = link(f"{V1}/PowerEquipment/{name}")
    if power:
        found |= resource(
            f"{V1}/PowerEquipment", "PowerEquipment", "1_2_0", "Power equipment", power
        )
    return found


def _root(site: Site, *, expand: bool) -> Tree:
    leads = {"Chassis", "TelemetryService", "EventService", "SessionService"}
    leads |= {"ThermalEquipment"} if site.cdus else set()
    leads |= {"PowerEquipment"} if site.pdus or site.shelves else set()
    features = {
        "ExpandQuery": {"ExpandAll": expand, "Levels": expand, "Links": expand,
                        "MaxLevels": 2, "NoLinks": expand},
        "SelectQuery": False, "FilterQuery": False,
    }  # fmt: skip
    more = {
        "RedfishVersion": "1.20.0",
        "UUID": "5a1f3d2c-0000-4000-8000-000000000001",
        "ProtocolFeaturesSupported": features,
        "Links": {"Sessions": link(f"{V1}/SessionService/Sessions")},
        **{name: link(f"{V1}/{name}") for name in sorted(leads)},
    }
    return resource(V1, "ServiceRoot", "1_16_0", "Root Service", more, name="RootService")


def _chassis(site: Site) -> Tree:
    sensors = f"{CHASSIS}/Sensors"
    more = {"ChassisType": "Enclosure", "Sensors": link(sensors), "Status": ON,
            "Manufacturer": "Emulated Works"}  # fmt: skip
    found = resource(CHASSIS, "Chassis", "1_25_0", "Enclosure", more)
    found |= collection(f"{V1}/Chassis", "Chassis", ["1"])
    found |= collection(sensors, "Sensor", site.sensors)
    for name, sensor in site.sensors.items():
        told = {"Reading": sensor.reading, "ReadingUnits": sensor.unit, "Status": ON,
                "ReadingType": sensor.type, "PhysicalContext": sensor.context}  # fmt: skip
        found |= resource(f"{sensors}/{name}", "Sensor", "1_9_0", name, told)
    return found


def _telemetry(site: Site, stamp: str, sequence: int) -> Tree:
    place = f"{V1}/TelemetryService"
    reports = [REPORT.rpartition("/")[2]] if site.reported else []
    found = resource(
        place, "TelemetryService", "1_3_1", "Telemetry Service",
        {"ServiceEnabled": True, "Status": ON, "MetricReports": link(f"{place}/MetricReports")},
    )  # fmt: skip
    found |= collection(f"{place}/MetricReports", "MetricReport", reports)
    if reports:
        found |= resource(
            REPORT, "MetricReport", "1_5_0", "Readings", report(site, stamp, sequence)
        )
    return found


def report(site: Site, stamp: str, sequence: int) -> Json:
    """Return what the metric report says, without what every resource has."""
    return {
        "ReportSequence": str(sequence),
        "Timestamp": stamp,
        "MetricValues": [
            {
                "MetricId": name,
                "MetricProperty": f"{CHASSIS}/Sensors/{name}#/Reading",
                "MetricValue": str(site.sensors[name].reading),
                "Timestamp": stamp,
            }
            for name in site.reported
        ],
    }


def _services() -> Tree:
    sessions = f"{V1}/SessionService"
    found = resource(
        f"{V1}/EventService", "EventService", "1_10_0", "Event Service",
        {"ServiceEnabled": True, "ServerSentEventUri": SSE, "Status": ON},
    )  # fmt: skip
    found |= resource(
        sessions, "SessionService", "1_1_9", "Session Service",
        {"ServiceEnabled": True, "SessionTimeout": 300, "Sessions": link(f"{sessions}/Sessions")},
    )  # fmt: skip
    return found | collection(f"{sessions}/Sessions", "Session", [])
