"""Every scheme by name, over models that are fetched, or over any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.contract.errors import UnknownName
from engine.decode import eagle
from engine.decode.drafts import bild, lade, rest
from engine.decode.drafts.eagle import FeatureDraft
from engine.decode.drafts.lookup import Lookup
from engine.decode.drafts.model import ModelDraft
from engine.decode.llama import Llama
from engine.decode.scheme import Chain, Nothing, Request, Scheme, Speculative

NAMES = ("plain", "lookup", "draft", "rest", "lade", "eagle", "bild")
CHAIN = 4
"""Draft tokens a round of lookup, draft model and EAGLE."""


@dataclass(frozen=True)
class Parts:
    """What the schemes are made of; those that a scheme does not need may be absent."""

    target: Llama
    draft: Llama | None = None
    head: eagle.Head | None = None
    datastore: rest.Datastore | None = None
    lade: lade.Settings = field(default_factory=lade.Settings)
    bild: bild.Settings = field(default_factory=bild.Settings)
    length: int = CHAIN
    longest: int = 3
    shortest: int = 1


def scheme(name: str, parts: Parts) -> Scheme:
    """One scheme of its parts. Raises `UnknownName`."""
    makers = {
        "plain": _plain,
        "lookup": _lookup,
        "draft": _draft,
        "rest": _rest,
        "lade": _lade,
        "eagle": _eagle,
        "bild": _bild,
    }
    if name not in makers:
        raise UnknownName(name, "is no scheme.", f"Known: {', '.join(NAMES)}.")
    return makers[name](parts)


def _plain(parts: Parts) -> Scheme:
    return Speculative("plain", 1, parts.target, lambda _: Nothing())


def _lookup(parts: Parts) -> Scheme:
    def drafter(_: Request) -> Chain:
        return Chain(Lookup(parts.longest, parts.shortest), parts.length)

    return Speculative("lookup", parts.length + 1, parts.target, drafter)


def _draft(parts: Parts) -> Scheme:
    assert parts.draft is not None
    model = parts.draft

    def drafter(request: Request) -> Chain:
        temperature = request.temperature or 1.0
        return Chain(ModelDraft(model, request.last + parts.length, temperature), parts.length)

    return Speculative("draft", parts.length + 1, parts.target, drafter)


def _rest(parts: Parts) -> Scheme:
    assert parts.datastore is not None
    retrieval = rest.Retrieval(parts.datastore)
    return Speculative("rest", parts.datastore.settings.following + 1, parts.target, lambda _: retrieval)


def _lade(parts: Parts) -> Scheme:
    def drafter(request: Request) -> lade.Lookahead:
        return lade.Lookahead(parts.target, request, parts.lade)

    return Speculative("lade", parts.lade.ngram - 1, parts.target, drafter)


def _eagle(parts: Parts) -> Scheme:
    assert parts.head is not None
    head = parts.head

    def drafter(request: Request) -> FeatureDraft:
        return FeatureDraft(head, request, parts.length)

    return Speculative("eagle", parts.length + 1, parts.target, drafter)


def _bild(parts: Parts) -> Scheme:
    assert parts.draft is not None
    return bild.BigLittle(parts.target, parts.draft, parts.bild)


def parts(names: Sequence[str] = NAMES) -> Parts:
    """The fetched models that the named schemes need. Raises `ModelMissing`."""
    from engine.decode import eagle_training, models

    wanted = set(names)
    target = models.load("smollm2")
    return Parts(
        target,
        draft=models.load("smollm2-draft") if wanted & {"draft", "bild"} else None,
        head=eagle_training.load("smollm2-eagle", target) if "eagle" in wanted else None,
        datastore=rest.Datastore(eagle_training.samples("smollm2-eagle")) if "rest" in wanted else None,
    )


def load(names: Sequence[str] = NAMES) -> dict[str, Scheme]:
    """Schemes over the fetched models, which they share."""
    found = parts(names)
    return {name: scheme(name, found) for name in names}
