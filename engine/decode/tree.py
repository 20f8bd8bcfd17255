"""The accept/reject rule for a tree of drafts, and a second lossless rule for chains.

A tree offers several next tokens at each place. They are judged one after another, each against what the
rejected ones before it left of the target's law (recursive rejection: Miao et al. 2024, SpecInfer; Yang
et al. 2024); at the first that stands the walk goes on below it. Keeping the best of several branches
instead would favour what the draft likes. Shapes: n nodes, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.decode import verifier
from engine.decode.verifier import Draws, Probabilities, Proposal, Verdict

ROOT = -1
"""The parent of a first token."""

Rule = Literal["ratio", "match"]


@dataclass(frozen=True)
class Tree:
    """Drafts that share beginnings; a parent comes before its children, siblings in the order of drawing.

    `probability` (n, V) is the law each node was drawn from, given its earlier siblings: the same law for
    siblings drawn independently, the rest of it renormalised for siblings drawn without repetition. None
    says that no node was drawn at all; siblings then differ.
    """

    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    probability: Probabilities | None = None

    def children(self, node: int) -> list[int]:
        """The nodes below one, or below the root, in order."""
        return [index for index, parent in enumerate(self.parents) if parent == node]


@dataclass(frozen=True)
class Path:
    """The nodes that stand, from the root on, and the token the target adds after them."""

    nodes: tuple[int, ...]
    token: int


def verify_tree(tree: Tree, target: Probabilities, draws: Draws) -> Path:
    """Judge one round. `target` (n+1, V): its law after the text, then after each node.

    Raises `BadData` for what is no tree, for a law that is not one, and for a token its own law could not
    give.
    """
    _check(tree)
    verifier.check_laws(Proposal(tree.tokens, tree.probability), target)
    kept: list[int] = []
    while True:
        node = kept[-1] if kept else ROOT
        below = tree.children(node)
        found, law = _first_kept(tree, below, target[node + 1], draws)
        if found is None:
            stream = draws.residual if below else draws.bonus
            return Path(tuple(kept), verifier.draw(law, stream.uniform(1)[0]))
        kept.append(found)


def _first_kept(
    tree: Tree, below: list[int], law: Probabilities, draws: Draws
) -> tuple[int | None, Probabilities]:
    """The first sibling that stands, None for none, and what the rejected ones left of the law."""
    for node in below:
        draft = None if tree.probability is None else tree.probability[node]
        if draws.accept.uniform(1)[0] < verifier.acceptance(law, draft, tree.tokens[node]):
            return node, law
        law = verifier.residual(law, draft, tree.tokens[node])
    return None, law


def verify_tree_greedy(tree: Tree, best: NDArray[np.int64]) -> Path:
    """Judge one greedy round. `best` (n+1,): the target's top token after the text, then after each node."""
    _check(tree)
    kept: list[int] = []
    while True:
        node = kept[-1] if kept else ROOT
        standing = [each for each in tree.children(node) if tree.tokens[each] == best[node + 1]]
        if not standing:
            return Path(tuple(kept), int(best[node + 1]))
        kept.append(standing[0])


def verify_by_match(proposal: Proposal, target: Probabilities, draws: Draws) -> Verdict:
    """Judge a chain by drawing the target's own token at each place and keeping the draft while it is that.

    As lossless as the ratio test, needs no draft law, and keeps less (`kept`). `target` as in `verify`.
    """
    verifier.check_laws(proposal, target)
    for index, token in enumerate(proposal.tokens):
        own = verifier.draw(target[index], draws.residual.uniform(1)[0])
        if own != token:
            return Verdict(index, own)
    return Verdict(len(proposal.tokens), verifier.draw(target[-1], draws.bonus.uniform(1)[0]))


def kept(target: Probabilities, draft: Probabilities, rule: Rule) -> float:
    """The probability that a drawn draft token stands: sum of min(p, q) by ratio, of p q by match."""
    return np.minimum(target, draft).sum() if rule == "ratio" else (target * draft).sum()  # type: ignore[no-any-return]


def _check(tree: Tree) -> None:
    if len(tree.parents) != len(tree.tokens) or any(
        not ROOT <= parent < node for node, parent in enumerate(tree.parents)
    ):
        raise BadData(f"parents {tree.parents}", "make no tree.", "List every parent before its children.")
    siblings = list(zip(tree.parents, tree.tokens, strict=True))
    if tree.probability is None and len(set(siblings)) < len(siblings):
        raise BadData(f"tokens {tree.tokens}", "repeat a sibling.", "Offer each undrawn token once.")
