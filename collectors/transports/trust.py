"""Whose certificates a target trusts: the system's authorities, or those of a file of the site."""

import ssl

from collectors.source import Target
from fabrichealth.errors import SiteError


def ca_file(target: Target) -> str | None:
    """Return the file of authorities that a target names, None where it names none.

    Raises:
        SiteError: the file holds no certificate, or cannot be read.
    """
    given = target.options.get("ca_file")
    if not given:
        return None
    try:
        ssl.create_default_context(cafile=given)
    except OSError:  # of which the errors of TLS are some
        raise SiteError(f"{target.name}: ca_file {given} cannot be used; give a PEM file") from None
    return given
