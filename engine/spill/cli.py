"""The `engine spill` commands: serve a scheme on loopback, and audit a server of your own."""

from __future__ import annotations

import signal
from pathlib import Path
from types import FrameType

import click


@click.group()
def spill() -> None:
    """What the packet stream of a server tells a listener, and what hides it."""


@spill.command()
@click.option("--scheme", default="lookup", show_default=True, help="The way of decoding, plain for none.")
@click.option("--mitigation", default="none", show_default=True, help="none, token, fixed:1024, random:48, …")
@click.option("--port", default=8443, show_default=True, type=click.IntRange(1, 65_535))
@click.option(
    "--period", default=0.1, show_default=True, type=click.FloatRange(0.001, 10), help="Seconds a tick."
)
@click.option(
    "--authority",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("authority.pem"),
    show_default=True,
    help="Where the certificate that clients must trust is written.",
)
def serve(scheme: str, mitigation: str, port: int, period: float, authority: Path) -> None:
    """Serve SmolLM2 over HTTPS on 127.0.0.1, streaming round by round, until interrupted."""
    from engine.contract.errors import BadData, UnknownName
    from engine.decode.models import load_chat
    from engine.decode.schemes import NAMES, load
    from engine.spill.mitigate import Mitigation
    from engine.spill.server import Service, Settings
    from engine.spill.server_running import Running
    from engine.spill.tls import Authority

    if scheme not in NAMES:
        raise UnknownName(scheme, "is no scheme.", f"Known: {', '.join(NAMES)}.")
    settings = Settings(mitigation=Mitigation.parse(mitigation), period=period)
    keys = Authority.make()
    service = Service(load((scheme,))[scheme], load_chat("smollm2"), settings)
    running = Running(service, keys.server_context(), port)
    try:
        keys.write(authority)
    except OSError as error:
        raise BadData(str(authority), f"cannot be written: {error.strerror}.", "Choose another.") from None

    def stop(_signal: int, _frame: FrameType | None) -> None:
        running.server.should_exit = True

    signal.signal(signal.SIGTERM, stop)
    click.echo(f"serving {scheme}, {mitigation}, on https://127.0.0.1:{running.port}; trust {authority}")
    running.run()


@spill.command()
@click.argument("url")
@click.option(
    "--authority",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    required=True,
    help="The certificate that the server's is signed by.",
)
@click.option(
    "--repeats", default=3, show_default=True, type=click.IntRange(2, 100), help="Answers a prompt."
)
@click.option("--max-tokens", default=48, show_default=True, type=click.IntRange(8, 1024))
@click.option("--temperature", default=0.3, show_default=True, type=click.FloatRange(0, 2))
@click.option("--gap", default=0.005, show_default=True, type=click.FloatRange(0, 10), help="Seconds.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder that keeps the traces.")
def audit(
    url: str, authority: Path, repeats: int, max_tokens: int, temperature: float, gap: float, out: Path | None
) -> None:
    """Ask your own server at URL on loopback, and tell whether the sizes of its rounds show on the wire."""
    from tqdm import tqdm

    from engine.spill import audit as audits
    from engine.spill.tls import trusting

    audits.port_of(url)
    context = trusting(authority)
    probe = audits.Probe(repeats=repeats, max_tokens=max_tokens, temperature=temperature, gap=gap)
    for filling in (False, True):
        words = "with-filling" if filling else "as-it-is"
        with tqdm(total=repeats * len(audits.PROMPTS), desc=words, unit="answer") as bar:
            report, traces = audits.audit(url, context, probe, filling=filling, each=bar.update)
        click.echo("\n".join(audits.lines(report)))
        if out is not None:
            audits.write(out / f"{words}.json", report, traces)
