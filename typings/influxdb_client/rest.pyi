"""What influxdb-client raises."""

class ApiException(Exception):
    status: int | None
    reason: str | None
    body: bytes | str | None
