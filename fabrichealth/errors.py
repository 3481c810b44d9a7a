"""Errors with a name: each message is one line that says what, where and what to do."""

from pathlib import Path


class FabricHealthError(Exception):
    """Anything this product raises on purpose."""


class UsageError(FabricHealthError):
    """The command was called wrongly (exit status 2)."""


class SiteError(FabricHealthError):
    """A file of the site (site file, topology, events) is wrong: file, line and key are named."""


class SourceUnavailable(FabricHealthError):
    """A target did not answer, or answered nothing that can be used."""


class MalformedReply(FabricHealthError):
    """One reply, or one field of it, is not what its protocol allows."""


class StoreError(FabricHealthError):
    """The store cannot do what was asked: full disk, newer schema, locked by another writer."""


class StoreReadOnly(StoreError):
    """The store refuses writes for now (disk full); what is in it can still be read."""

    @classmethod
    def because(cls, folder: Path, wrong: OSError) -> "StoreReadOnly":
        """Return the error for a folder in which a write failed."""
        return cls(
            f"{folder}: cannot be written ({wrong.strerror}); make room, writing resumes by itself"
        )
