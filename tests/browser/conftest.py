"""A browser, sites to open in it, and what went wrong on the way."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

playwright = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed: pip install -e '.[dev]'"
)

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "generator"))

PATIENCE = 60_000
"""Milliseconds that a slow machine gets for one step."""


@dataclass
class Watched:
    """A page of the browser, and every complaint and every request to elsewhere."""

    page: playwright.Page
    home: str = ""
    complaints: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def open(self, address: str) -> playwright.Page:
        """Go to an address and wait until the site's own script is ready."""
        self.page.goto(address)
        self.page.wait_for_selector("html[data-findings=ready]", state="attached")
        return self.page


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.Browser]:
    """The system's own Chromium; Playwright's event loop must end before tests that run one of their own."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("Chromium is not on the path: apt-get install chromium")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def options() -> dict[str, object]:
    """What a test may ask of its window."""
    return {}


@pytest.fixture
def watched(browser: playwright.Browser, options: dict[str, object]) -> Iterator[Watched]:
    """A new window of 1280 pixels."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    context.set_default_timeout(PATIENCE)
    found = Watched(context.new_page())
    found.page.on(
        "console",
        lambda said: found.complaints.append(said.text) if said.type in ("error", "warning") else None,
    )
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    found.page.on(
        "requestfailed",
        lambda request: (
            None
            if request.failure == "net::ERR_ABORTED"  # the page was left before it came
            else found.complaints.append(f"failed: {request.url}: {request.failure}")
        ),
    )
    found.page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("file:", "data:", "blob:", "http://127.0.0.1:"))
            else found.elsewhere.append(request.url)
        ),
    )
    yield found
    context.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of this repository's own record."""
    from generator.render.publish import publish

    out = tmp_path_factory.mktemp("published") / "site"
    publish(ROOT, out)
    return out


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a small record."""
    import sample_record

    from generator.render.publish import publish

    root = sample_record.write(tmp_path_factory.mktemp("small"))
    publish(root, root / "site")
    return root / "site"


@pytest.fixture
def tampered(small: Path, tmp_path: Path) -> Path:
    """A copy of the small site that a test may spoil."""
    return Path(shutil.copytree(small, tmp_path / "site"))


class _Quiet(SimpleHTTPRequestHandler):
    """A server that says nothing."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[object]:
    """A function that serves a folder and gives its address."""
    servers: list[ThreadingHTTPServer] = []

    def start(folder: Path) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
        servers.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/"

    yield start
    for each in servers:
        each.shutdown()
        each.server_close()
