"""A command as a person or a script calls it: exit status, output, errors."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from fabrichealth.__main__ import main


@dataclass(frozen=True)
class Said:
    """What a command said; errors are held to be one line each."""

    status: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The JSON objects of stdout, which holds nothing else."""
        found = [json.loads(line) for line in self.out.splitlines()]
        assert all(isinstance(one, dict) for one in found)
        return found


class Terminal:
    """Calls commands in this process."""

    def __init__(self, captured: pytest.CaptureFixture[str]) -> None:
        self._captured = captured

    def __call__(self, *words: object) -> Said:
        self._captured.readouterr()
        try:
            status = main([str(word) for word in words])
        except SystemExit as ended:
            status = int(ended.code or 0)
        out, err = self._captured.readouterr()
        if status != 0:
            assert len(err.splitlines()) == 1, err
            assert err.startswith("fabrichealth")
        return Said(status, out, err)
