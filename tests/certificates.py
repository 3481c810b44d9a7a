"""Certificates for tests: made on the spot, trusted by nobody else."""

import hashlib
import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

MISSING = shutil.which("openssl") is None


@dataclass(frozen=True)
class Certificate:
    """A self-signed certificate of 127.0.0.1, which is its own CA."""

    file: Path
    key: Path

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the certificate in hexadecimal digits."""
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(self.file.read_text())).hexdigest()


def certificate(folder: Path, name: str) -> Certificate:
    """Make a certificate with the openssl tool."""
    made = Certificate(folder / f"{name}.pem", folder / f"{name}.key")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", str(made.key), "-out", str(made.file)],
        check=True, capture_output=True,
    )  # fmt: skip
    return made


def outdated(folder: Path, name: str) -> Certificate:
    """Make a certificate that ended yesterday, with the openssl tool."""
    made = Certificate(folder / f"{name}.pem", folder / f"{name}.key")
    request = folder / f"{name}.csr"
    subprocess.run(
        ["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", str(made.key), "-out", str(request)],
        check=True, capture_output=True,
    )  # fmt: skip
    subprocess.run(
        ["openssl", "x509", "-req", "-in", str(request), "-signkey", str(made.key), "-days", "-1",
         "-copy_extensions", "copy", "-out", str(made.file)],
        check=True, capture_output=True,
    )  # fmt: skip
    return made
