"""Tests decide for themselves whether they run as CI does."""

from __future__ import annotations

import os

os.environ.pop("CI", None)
