"""Shelf: programs that print what was put on it, under the names of the tools they play.

A reader that runs `nvidia-smi -q -x` with this folder first on its path gets the text put there
for these words; other words end with status 1 and a complaint, as real tools do.
"""

from collections.abc import Sequence
from pathlib import Path

PROGRAM = """\
#!/bin/sh
reply="$(dirname "$0")/../replies/$(basename "$0")${*:+ $*}"
if [ -f "$reply" ]; then exec cat "$reply"; fi
echo "$(basename "$0"): invalid arguments: $*" >&2
exit 1
"""


class Shelf:
    """A folder of tools; `bin` is what belongs on the path."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self._replies = folder / "replies"
        self.bin.mkdir(parents=True, exist_ok=True)
        self._replies.mkdir(exist_ok=True)

    def put(self, words: Sequence[str], text: str) -> None:
        """Let a call with these words print this text from now on."""
        program = self.bin / words[0]
        if not program.exists():
            program.write_text(PROGRAM)
            program.chmod(0o755)
        fresh = self._replies / ".new"
        fresh.write_text(text)
        fresh.replace(self._replies / " ".join(words))
