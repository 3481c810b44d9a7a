"""Fixtures of the core's tests."""

import pytest

from tests.fabrichealth.terminal import Terminal


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str]) -> Terminal:
    """Calls `fabrichealth WORDS` and returns exit status, stdout and stderr."""
    return Terminal(capsys)
