"""Tests decide for themselves whether they run as CI does, and share the cores with the tests beside them."""

from __future__ import annotations

import os

os.environ.pop("CI", None)
if "PYTEST_XDIST_WORKER" in os.environ:  # threads that wait by spinning would slow both workers tenfold
    os.environ.setdefault("OMP_NUM_THREADS", "1")
