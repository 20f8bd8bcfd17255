"""The commands of findings: parse, call, print, return. Exit 0 done, 1 refused, 2 misuse."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import click

from generator.lane.cli import lane
from generator.record import repository
from generator.record.keys import ERRATUM_KINDS
from generator.record.root import find_root
from generator.report import github, json, sarif, text
from generator.report.refusal import Refused, Report

_FORMS = {"text": text.render, "json": json.render, "github": github.render, "sarif": sarif.render}

_root = click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The record. Default: the nearest parent that holds findings/.",
)
_format = click.option("--format", "form", type=click.Choice(list(_FORMS)), default="text", show_default=True)


@click.group()
def main() -> None:
    """Publishes findings as a site in which every number links to file, line and digest."""
    gc.set_threshold(100_000, 50, 50)  # what a command reads it keeps; looking for cycles cost a tenth
    atexit.register(gc.freeze)  # nor is there anything to gain from a last look


@main.command()
@_root
@_format
@click.option("--base", metavar="REV", help="Also hold the ledger against the one where this branch began.")
@click.option("--watch", is_flag=True, help="Check again on each save of a source; Ctrl-C ends, with exit 0.")
def check(root: Path | None, form: str, base: str | None, watch: bool) -> None:
    """Judge every source: untraced numbers, expressions, claims, rules, and what is registered."""
    found = _found(root)
    if not watch:
        _finish(_judged(found, base), form, found)
    from generator.watch import Unwatchable
    from generator.watch import watch as watched

    try:
        watched(
            found,
            lambda: _print(_judged(found, base), form, found),
            lambda line: click.echo(line, err=True),
        )
    except Unwatchable as unwatchable:
        _misuse(str(unwatchable))


def _judged(root: Path, base: str | None) -> Report:
    """What stands against publishing the record at a root."""
    from generator.ledger.frozen import UnknownRevision
    from generator.render import site

    record, evaluations = site.gather(root)
    try:
        return site.judge(record, evaluations, base)
    except UnknownRevision as unknown:
        _misuse(f"git knows no revision {unknown} that has a commit in common with this one.")


@main.command()
@click.argument("identifiers", metavar="ID…", nargs=-1, required=True)
@_root
def register(identifiers: tuple[str, ...], root: Path | None) -> None:
    """Freeze findings, kill criteria, errata or files of bars: F-01, K-1, E-1, payloads/registered/x.json."""
    from generator.ledger.register import register as registered
    from generator.render import site

    record, evaluations = site.gather(_found(root))
    report = site.judge(record, evaluations)
    if report.refusals:
        _finish(report, "text")
    try:
        lines = registered(record, evaluations.values(), identifiers)
    except Refused as refused:
        _finish(Report(list(refused.refusals)), "text")
    except KeyError as unknown:
        _misuse(str(unknown.args[0]))
    except OSError as error:
        _misuse(f"findings/REGISTERED cannot be written: {error.strerror}.")
    for each in lines:
        click.echo(f"{each.id} is registered: {each.path}, {each.source[:12]}.")
    click.echo("Commit findings/REGISTERED; from then on neither text nor line may change.")


@main.command()
@click.argument("reference", metavar="F-01#STATEMENT")
@_root
@click.option("--kind", type=click.Choice(ERRATUM_KINDS), required=True, help="What is corrected.")
@click.option("--payload", default="", help="The payload that holds the new value.")
@click.option("--field", default="", metavar="PTR", help="JSON pointer of the new value.")
@click.option("--old-field", default="", metavar="PTR", help="That of the old one, where it is another.")
@click.option("--reason", required=True, help="Why, in words without a typed number.")
def erratum(
    reference: str, root: Path | None, kind: str, payload: str, field: str, old_field: str, reason: str
) -> None:
    """Begin an erratum on a statement, ready to build; says what it will change."""
    from generator.errata import scaffold
    from generator.errata.fields import Request, Unfit
    from generator.errata.telling import told
    from generator.render import site

    finding, _, statement = reference.partition("#")
    record, evaluations = site.gather(_found(root))
    report = site.judge(record, evaluations)
    if report.refusals:
        _finish(report, "text")
    try:
        made = scaffold.draft(
            record, evaluations, Request(finding, statement, kind, reason, payload, field, old_field)
        )
        scaffold.write(made)
    except Unfit as unfit:
        _misuse(str(unfit))
    except Refused as refused:
        _finish(Report(list(refused.refusals)), "text")
    except OSError as error:
        _misuse(f"{error.filename2 or error.filename} cannot be written: {error.strerror}.")
    for line in (*told(made.effects), *scaffold.left(made)):
        click.echo(line)


@main.command()
@_root
@click.option("--out", type=click.Path(path_type=Path), default=Path("site"), show_default=True)
@click.option("--again", is_flag=True, help="Build also where nothing has changed since the last build.")
def build(root: Path | None, out: Path, again: bool) -> None:
    """Build the site and audit it; a refused build leaves the former site as it was."""
    from generator.render import unchanged

    found = _found(root)
    folder = (found / out).resolve()
    made_of = unchanged.made_of(found, folder)
    said = None if again else unchanged.recall(folder, made_of)
    if said is not None:
        click.echo("Nothing has changed since this site was built, neither the record nor the site.")
    else:
        said = _built(found, folder)
        same = unchanged.made_of(found, folder) == made_of  # a source may be saved while the site is built
        unchanged.remember(folder, made_of if same else None, said)
    click.echo(said)
    click.echo(f"Open {folder / 'index.html'}")


def _built(root: Path, folder: Path) -> str:
    """Build a site and print what changed in it; returns what was traced."""
    from generator.render.publish import publish

    changed: list[str] = []
    with _building():
        report = publish(root, folder, lambda old, new: changed.extend(_changed(old, new)))
    for line in changed:
        click.echo(line)
    return _traced(report)


@main.command()
@_root
@click.option("--address", default="127.0.0.1:8000", show_default=True, help="Host and port.")
def serve(root: Path | None, address: str) -> None:
    """Show the site at a local address, and follow its sources as they are saved."""
    from mkdocs.exceptions import MkDocsException

    from generator.render import preview
    from generator.render.publish import Misuse

    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        _misuse(f"{address} is no address: give a host and a port, such as 127.0.0.1:8000.")
    try:
        preview.serve(_found(root), host, int(port))
    except MkDocsException as error:
        click.echo(str(error), err=True)
        sys.exit(1)
    except Misuse as misuse:
        _misuse(str(misuse))
    except OSError as error:
        _misuse(f"{address} cannot be served: {error.strerror}.")


@main.command()
@click.argument("site", type=click.Path(path_type=Path))
@_root
@_format
def verify(site: Path, root: Path | None, form: str) -> None:
    """Re-derive everything that a finished site shows, whoever built it."""
    from generator import audit

    found = _found(root)
    folder = found / site if (found / site).is_dir() else site
    if not folder.is_dir():
        _misuse(f"{site} is not a folder.")
    try:
        report = audit.verify(found, folder)
    except Refused as refused:
        report = Report(list(refused.refusals))
    _finish(report, form, found)


@main.command()
@_root
@click.option("--at-least", type=click.IntRange(min=0), default=0, help="Faults that have to be planted.")
@click.option("--all", "every", is_flag=True, help="Plant every fault, also where many are alike.")
def selftest(root: Path | None, at_least: int, every: bool) -> None:
    """Plant faults in a copy of the record and its site, and see that each is refused as it should be."""
    from generator.selftest.run import selftest as planted

    found = _found(root)
    with _building():
        tally = planted(found, click.echo, every=every)
    click.echo(tally.told(at_least))
    sys.exit(0 if tally.holds(at_least) else 1)


@main.command()
@click.argument("reference")
@_root
def explain(reference: str, root: Path | None) -> None:
    """Where numbers come from: F-01, one statement F-01#tokens, a payload, or a pasted address."""
    from generator.render.site import gather
    from generator.trace.address import Unknown
    from generator.trace.explanation import explain as explained

    try:
        click.echo(explained(*gather(_found(root)), reference), nl=False)
    except Unknown as unknown:
        _misuse(str(unknown))


@main.command()
@click.argument("reference")
@_root
def reproduce(reference: str, root: Path | None) -> None:
    """Run the command behind a finding, a statement or a payload again and compare value by value."""
    from generator.render.site import gather
    from generator.trace.address import Unknown
    from generator.trace.program import NotRun
    from generator.trace.reproduction import cited, report
    from generator.trace.reproduction import reproduce as reproduced

    record, evaluations = gather(_found(root))
    try:
        outcomes = reproduced(
            record, cited(record, evaluations, reference), lambda line: click.echo(line, err=True)
        )
    except Unknown as unknown:
        _misuse(str(unknown))
    except NotRun as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)
    except Refused as refused:
        _finish(Report(list(refused.refusals)), "text")
    click.echo("\n".join(report(outcomes)))
    sys.exit(0 if all(each.good for each in outcomes) else 1)


@main.command()
@click.argument("old")
@click.argument("new", required=False)
@_root
@click.option("--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text")
@click.option("--exit-code", is_flag=True, help="Exit 1 where anything changed, as git does.")
@click.option("--keep", is_flag=True, help="Also keep it in findings/changes/ for the site to show.")
def diff(old: str, new: str | None, root: Path | None, form: str, exit_code: bool, keep: bool) -> None:
    """What became of each number between two revisions (default: the working tree), or two built sites."""
    from generator.diff import forms, release, sides
    from generator.diff.change import compare

    found = _found(root)
    try:
        before, after = sides.read(found, old, new)
    except sides.Misuse as misuse:
        _misuse(str(misuse))
    except Refused as refused:
        click.echo("\n".join(text.line(each) for each in refused.refusals), err=True)
        sys.exit(1)
    changes = compare(before, after)
    try:
        if keep:
            click.echo(f"Kept in {release.keep(found, before, after, changes)}; commit it.", err=True)
    except release.Unnameable as unnameable:
        _misuse(str(unnameable))
    except OSError as error:
        _misuse(f"findings/changes cannot be written: {error.strerror}.")
    click.echo(forms.FORMS[form](before, after, changes), nl=False)
    sys.exit(1 if changes and exit_code else 0)


@main.command()
@click.argument("tag")
@_root
@_format
def release(tag: str, root: Path | None, form: str) -> None:
    """Prove that the record can be released as TAG (such as v1.2.3), and write its manifest and version."""
    from generator.release.run import Unprovable, commands
    from generator.release.run import release as released
    from generator.release.standing import TAG

    if not TAG.fullmatch(tag):
        _misuse(f"{tag} is no tag of the form v1.2.3.")
    found = _found(root)
    with _building():
        try:
            report = released(found, tag)
        except Unprovable as unprovable:
            _misuse(str(unprovable))
        except OSError as error:
            _misuse(f"{error.filename} cannot be written: {error.strerror}.")
    if report.refusals:
        _finish(report, form, found)
    _print(report, form, found)
    said = f"{tag} is proved. The manifest and the version are written; to release it:"
    for line in (said, *commands(tag)):
        click.echo(line, err=form != "text")


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
def init(folder: Path) -> None:
    """Begin a record in a folder (default: here): a first payload and finding, CI; then build it."""
    from generator.init.run import begin
    from generator.render.publish import publish

    try:
        folder.mkdir(parents=True, exist_ok=True)
        begun = begin(folder.resolve())
    except Refused as refused:
        _finish(Report(list(refused.refusals)), "text")
    except OSError as error:
        _misuse(f"{error.filename} cannot be written: {error.strerror}.")
    for path in begun.written:
        click.echo(f"Written: {path}")
    for path, lines in begun.left.items():
        click.echo(f"Left as it is: {path}. Add to it:\n{lines.rstrip()}")
    with _building():
        report = publish(folder.resolve(), folder.resolve() / "site")
    click.echo(_traced(report))
    click.echo(f"Open {folder.resolve() / 'site' / 'index.html'}, then commit what was written.")


def _pairs(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Options of the form NAME=TEXT; misuse where one is not."""
    pairs = {name: said for name, _, said in (each.partition("=") for each in given)}
    if not all(pairs) or not all(pairs.values()) or len(pairs) < len(given):
        raise click.BadParameter("each is NAME=TEXT, and each name stands once.")
    return pairs


@main.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@_root
@click.option("--out", default="", help="The payload. Default: payloads/imported/ and the file's name.")
@click.option(
    "--unit", "units", multiple=True, metavar="FIELD=UNIT", callback=_pairs, help="A unit; * for all."
)
@click.option("--regime", multiple=True, metavar="NAME=TEXT", callback=_pairs, help="A condition of the run.")
@click.option("--key", "keys", multiple=True, help="A column, or a field of each line, that names the rows.")
@click.option("--question", default="", help="What was asked, in words.")
def import_(
    file: Path,
    root: Path | None,
    out: str,
    units: dict[str, str],
    regime: dict[str, str],
    keys: tuple[str, ...],
    question: str,
) -> None:
    """Make a payload from results in JSON, a table in CSV, or a log in JSONL, digit for digit."""
    from generator.importing import told
    from generator.importing.run import Misuse, Request, make

    request = Request(_found(root), file, out, question, keys, units, regime)
    try:
        made = make(request)
    except Misuse as misuse:
        _misuse(str(misuse))
    except Refused as refused:
        for line in told.asked(refused.refusals):
            click.echo(line, err=True)
        _finish(Report(list(refused.refusals)), "text")
    except OSError as error:
        _misuse(f"{error.filename} cannot be written: {error.strerror}.")
    for line in told.lines(made):
        click.echo(line)


@main.command()
@_root
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new or empty folder.")
def export(root: Path | None, out: Path) -> None:
    """Write the record for other machines: RO-Crate, PROV, assertions, identifiers, and one archive."""
    found = _found(root)
    try:
        from generator.export import run
        from generator.export.contents import Unciteable, Undated
    except ImportError as missing:
        _misuse(f"{missing.name} is not installed: pip install 'specdec-sidechannels[export]'.")
    folder = (found / out).resolve()
    with _building():
        try:
            written = run.export(found, folder)
        except (run.Misuse, Unciteable, Undated) as misuse:
            _misuse(str(misuse))
        except OSError as error:
            _misuse(f"{error.filename} cannot be written: {error.strerror}.")
    click.echo(f"{len(written)} files in {folder / run.FOLDER} and {folder / run.ARCHIVE}; to check a copy:")
    click.echo(f"cd {folder / run.FOLDER} && sha256sum --check --quiet {run.SUMS}")


@main.command()
@_root
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="A new folder, or one staged before."
)
def stage(root: Path | None, out: Path) -> None:
    """Write the pages as Markdown that MkDocs, ProperDocs or Zensical build without a plugin."""
    from generator.render import staged

    found = _found(root)
    folder = (found / out).resolve()
    try:
        pages = staged.stage(found, folder)
    except staged.Misuse as misuse:
        _misuse(str(misuse))
    except Refused as refused:
        _finish(Report(list(refused.refusals)), "text")
    except OSError as error:
        _misuse(f"{error.filename} cannot be written: {error.strerror}.")
    click.echo(
        f"{pages} pages in {folder / staged.PAGES}. Build them there, for example with mkdocs build, then"
    )
    click.echo("hold the result against the record: findings verify SITE")


@main.command()
@_root
def lsp(root: Path | None) -> None:
    """Answer an editor: refusals as you type, where numbers come from, what can be written next."""
    try:
        from generator.lsp.server import serve as served
    except ImportError as missing:
        _misuse(f"{missing.name} is not installed: pip install 'specdec-sidechannels[lsp]'.")
    served(_found(root) if root else None)


main.add_command(lane)


def _found(root: Path | None) -> Path:
    """The record's folder, from the option or from where the command was called."""
    found = root or find_root(Path.cwd())
    if found is None or not (found / "findings").is_dir():
        _misuse("There is no record here: no folder findings/ in this folder or above it.")
    return found.resolve()


@contextmanager
def _building() -> Iterator[None]:
    """What ends a command that builds a site: misuse, refusals, or MkDocs itself."""
    from mkdocs.exceptions import Abort

    from generator.render.mkdocs_plugin import Stopped
    from generator.render.publish import Misuse

    try:
        yield
    except Misuse as misuse:
        _misuse(str(misuse))
    except Stopped as stopped:
        _finish(stopped.report, "text")
    except Abort as abort:
        click.echo(str(abort), err=True)
        sys.exit(1)


def _finish(report: Report, form: str, root: Path | None = None) -> NoReturn:
    """Print a report; exit 1 where anything is refused."""
    _print(report, form, root)
    sys.exit(1 if report.refusals else 0)


def _print(report: Report, form: str, root: Path | None = None) -> None:
    """Print a report in a form; what code hosts read names files from the root of the repository."""
    if root and form in ("github", "sarif"):
        report = report.below((repository.ask(root, "rev-parse", "--show-prefix") or "").strip())
    click.echo(_FORMS[form](report).rstrip("\n"))


def _changed(old: Path, new: Path) -> list[str]:
    """What a site changes in the one that it replaces."""
    from generator.diff.replaced import lines

    return lines(old, new)


def _traced(report: Report) -> str:
    total = report.numbers + report.derived
    return (
        f"{total} numbers traced to their lines ({report.derived} of them derived), {report.claims} claims "
        f"checked, {report.computed} numbers computed, on {report.pages} pages.\n"
        f"Exempt: {text.exempt(report) or 'nothing'}; by page and by use in coverage.html."
    )


def _misuse(message: str) -> NoReturn:
    click.echo(f"Error: {message}", err=True)
    sys.exit(2)
