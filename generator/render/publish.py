"""Builds a site into a temporary folder, and puts it in place only once it has passed the audit."""

from __future__ import annotations

import logging
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import ConfigurationError

from generator.render.mkdocs_plugin import FindingsPlugin, Stopped
from generator.render.site import STYLESHEET
from generator.report.refusal import Refusal, Report

KEPT = ("findings", "payloads", "templates", "site_src", "engine", "generator", "tests")
"""Folders of a record that no site may replace."""


class Misuse(Exception):
    """A request that cannot be served whatever the record says; exit code 2."""


def publish(root: Path, out: Path, replacing: Callable[[Path, Path], None] | None = None) -> Report:
    """Build, audit and put in place; raises Stopped with refusals, Misuse where nothing can be written.

    replacing is called with the former site and the new one before the new one takes its place.
    """
    _check_output(root, out)
    with _folder_beside(out) as folder, logged(logging.WARNING):
        try:
            report = _build(root, folder / "site")
        except Stopped as stopped:
            raise Stopped(_placed(stopped.report, root, folder, out)) from None
        if replacing and (out / STYLESHEET).is_file():
            replacing(out, folder / "site")
        _replace(folder, out)
    return report


def _placed(report: Report, root: Path, folder: Path, out: Path) -> Report:
    """A report whose places name the folder that was asked for, not the one that was built into."""
    built, wanted = (folder / "site").as_posix(), out.as_posix()
    if out.is_relative_to(root):
        built, wanted = built.removeprefix(f"{root.as_posix()}/"), out.relative_to(root).as_posix()

    def place(refusal: Refusal) -> Refusal:
        if not refusal.path.startswith(built):
            return refusal
        return replace(refusal, path=wanted + refusal.path.removeprefix(built))

    refusals = [place(each) for each in report.refusals]
    return replace(report, refusals=refusals, warnings=[place(each) for each in report.warnings])


def _check_output(root: Path, out: Path) -> None:
    """The output is a new or empty folder, or a site that was built before."""
    if root.is_relative_to(out) or any(out.is_relative_to(root / name) for name in KEPT):
        raise Misuse(f"{out} holds parts of the record; name another folder with --out.")
    if out.is_dir() and any(out.iterdir()) and not (out / STYLESHEET).is_file():
        raise Misuse(f"{out} is not empty and is no site built here; name another folder with --out.")
    if out.exists() and not out.is_dir():
        raise Misuse(f"{out} is not a folder.")


@contextmanager
def _folder_beside(out: Path) -> Iterator[Path]:
    """A temporary folder on the same file system, removed at the end."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as error:
        raise Misuse(f"{out} cannot be written: {error.strerror}.") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def logged(level: int) -> Iterator[None]:
    """Show what MkDocs says from a level on, on standard error."""
    handler = logging.StreamHandler(sys.stderr)
    logger = logging.getLogger("mkdocs")
    former = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(former)


def _build(root: Path, folder: Path) -> Report:
    """Let MkDocs write the site, strictly, with the plugin at work; the audit's report."""
    with documents(root) as stand_in:
        config, plugin = configuration(root, folder, stand_in)
        config.plugins.on_startup(command="build", dirty=False)
        try:
            mkdocs_build(config)
        finally:
            config.plugins.on_shutdown()
    return plugin.report


@contextmanager
def documents(root: Path) -> Iterator[Path | None]:
    """An empty folder in place of site_src where a record has none: git keeps no empty folders."""
    if (root / "site_src").is_dir():
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def configuration(root: Path, folder: Path, stand_in: Path | None) -> tuple[MkDocsConfig, FindingsPlugin]:
    """The record's configuration, for a site in a folder, and the plugin that it lists."""
    file = root / "mkdocs.yml"
    if not file.is_file():
        raise Misuse(f"{file} is not there: it names the theme and the plugins search and findings.")
    options: dict[str, Any] = {"site_dir": str(folder), "strict": True}
    if stand_in is not None:
        options["docs_dir"] = str(stand_in)
    try:
        config = load_config(str(file), **options)
    except ConfigurationError as error:
        raise Misuse(f"mkdocs.yml: {error}") from None
    except RecursionError:
        raise Misuse("mkdocs.yml: brackets are nested deeper than can be read.") from None
    plugin = config.plugins.get("findings")
    if not isinstance(plugin, FindingsPlugin):
        raise Misuse("mkdocs.yml does not list the plugin: add findings beside search under plugins.")
    return config, plugin


def _replace(folder: Path, out: Path) -> None:
    """Put the new site in the place of the old one; the old one stays where that fails."""
    old = folder / "old"
    try:
        if out.exists():
            out.rename(old)
        (folder / "site").rename(out)
    except OSError as error:
        if old.exists() and not out.exists():
            old.rename(out)
        raise Misuse(f"{out} cannot be written: {error.strerror}.") from None
