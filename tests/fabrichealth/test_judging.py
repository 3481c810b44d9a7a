"""The judging process where its disk takes nothing."""

import logging
from pathlib import Path

import pytest

from analyzer.ledger import Ledger
from fabrichealth.cli._judging import _kept


def test_a_disk_that_takes_nothing_is_said_once_and_recovery_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    folder = tmp_path / "gone"
    refused = _kept(Ledger(), folder / "ledger.json", "")
    refused = _kept(Ledger(), folder / "ledger.json", refused)
    assert refused
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    folder.mkdir()
    assert _kept(Ledger(), folder / "ledger.json", refused) == ""
    assert caplog.records[-1].levelname == "INFO"
