"""The secret of a target: from a file or the environment, read anew so that it may be rotated."""

import os
from pathlib import Path

from collectors.source import Target
from fabrichealth.errors import SourceUnavailable


def secret(target: Target) -> str | None:
    """Return the secret that a target's options name, None where they name none.

    Raises:
        SourceUnavailable: the file cannot be read, or the variable is not set.
    """
    file, variable = target.options.get("secret_file"), target.options.get("secret_env")
    if file:
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise SourceUnavailable(
                f"{target.name}: secret_file {file} cannot be read; check path and rights"
            ) from None
    if variable:
        found = os.environ.get(variable)
        if found is None:
            raise SourceUnavailable(
                f"{target.name}: environment variable {variable} (secret_env) is not set"
            )
        return found.strip()
    return None
