"""The record that the critic is tried on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trial_record
from trial_record import Trial


@pytest.fixture
def trial(tmp_path: Path, document: dict[str, Any]) -> Trial:
    """A record whose numbers were just made by the engine, without a finding yet."""
    return trial_record.make(tmp_path, document)
