"""ClientWrites: line protocol sent by influxdb-client, the library of InfluxDB 2."""

from influxdb_client import InfluxDBClient
from influxdb_client.client.write_api import SYNCHRONOUS
from influxdb_client.rest import ApiException
from urllib3.exceptions import HTTPError

from fabrichealth.address import shown
from fabrichealth.errors import StoreError
from fabrichealth.store.remote.http import complaint, secret, silence
from fabrichealth.store.remote.settings import Access


class ClientWrites:
    """Writes to one bucket."""

    def __init__(self, url: str, access: Access, timeout: float, org: str, bucket: str) -> None:
        """`timeout` is in seconds.

        Raises:
            SiteError: the token's file cannot be read.
        """
        self._where = shown(url)
        self._access = access
        self._bucket = bucket
        kept = "" if access.password_file is None else secret(access.password_file)
        self._client = InfluxDBClient(
            url,
            None if access.token_file is None else secret(access.token_file),
            timeout=round(timeout * 1e3),
            enable_gzip=True,
            org=org,
            ssl_ca_cert=None if access.ca_file is None else str(access.ca_file),
            auth_basic=bool(access.user),
            username=access.user or None,
            password=kept or None,
        )
        self._api = self._client.write_api(write_options=SYNCHRONOUS)

    def send(self, body: bytes) -> None:
        """Send lines.

        Raises:
            Refused: the server will not have them, now or later.
            Unavailable: it does not take them now.
        """
        try:
            self._api.write(self._bucket, record=body)
        except ApiException as wrong:
            raise self._error(wrong) from None
        except HTTPError as wrong:
            raise silence(self._where, wrong) from None

    def _error(self, wrong: ApiException) -> StoreError:
        said = wrong.body or wrong.reason or ""
        text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
        return complaint(self._where, wrong.status or 0, text, self._access)
