"""What is used of influxdb-client's writing."""

from collections.abc import Sequence

from influxdb_client import Point

class WriteOptions: ...

SYNCHRONOUS: WriteOptions

class WriteApi:
    def write(
        self, bucket: str, org: str | None = ..., record: bytes | Sequence[Point] = ...
    ) -> None: ...
    def close(self) -> None: ...
