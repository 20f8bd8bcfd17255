"""The sample record, built once for all tests that only look at it."""

from __future__ import annotations

from pathlib import Path

import pytest
import sample_record

from generator.render.publish import publish


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the sample record with its site in site/."""
    root = sample_record.write(tmp_path_factory.mktemp("record"))
    publish(root, root / "site")
    return root
