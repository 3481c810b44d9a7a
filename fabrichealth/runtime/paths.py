"""What lies where in the folder `state:`."""

from dataclasses import dataclass
from pathlib import Path

from fabrichealth.errors import SiteError


@dataclass(frozen=True)
class StatePaths:
    """Files of one site's state."""

    folder: Path

    def make(self) -> None:
        """Make the folder.

        Raises:
            SiteError: it cannot be made.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as wrong:
            raise SiteError(
                f"state: {self.folder} cannot be made ({wrong.strerror}); give a folder of ours"
            ) from None

    @property
    def store(self) -> Path:
        """The embedded store."""
        return self.folder / "series"

    @property
    def spool(self) -> Path:
        """What waits for a store on a server."""
        return self.folder / "spool"

    @property
    def journal(self) -> Path:
        """Events and incidents."""
        return self.folder / "journal.db"

    @property
    def ledger(self) -> Path:
        """What judging remembers."""
        return self.folder / "ledger.json"

    @property
    def judged(self) -> Path:
        """What the judging process goes by: the validated topology, detectors and policy."""
        return self.folder / "judged.json"

    @property
    def remedies(self) -> Path:
        """Orders that were given to remediators and not taken back."""
        return self.folder / "remedies.json"

    @property
    def memory(self) -> Path:
        """What sources remember: wrap offsets, last codes, cursors."""
        return self.folder / "sources.json"
