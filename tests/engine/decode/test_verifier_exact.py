"""What verification emits has exactly the target's law: every branch enumerated, in fractions.

The code under test runs as it is on arrays of fractions. A uniform draw is a coin that is only ever
compared or turned into a token; each comparison opens two branches with their exact chances, each token
one branch a token. Nothing is sampled and nothing is rounded.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.contract.errors import BadData
from engine.decode import tree as trees
from engine.decode import verifier
from engine.decode.tree import ROOT, Tree, kept, verify_by_match, verify_tree, verify_tree_greedy
from engine.decode.verifier import Proposal, verify

Text = tuple[int, ...]
Law = dict[Text, Fraction]
Fractions = Any  # an array of Fraction, (V,)


class More(Exception):
    """A decision that the branch does not hold yet, with the chance of each outcome."""

    def __init__(self, chances: list[Fraction]) -> None:
        self.chances = chances


class Branch:
    """Decisions taken so far; a new one ends the run, to be started again once an outcome is chosen."""

    def __init__(self, outcomes: Text) -> None:
        self.left = list(outcomes)

    def decide(self, chances: list[Fraction]) -> int:
        """The outcome of the next decision."""
        assert sum(chances) == 1, f"chances that sum to {sum(chances)}"
        if not self.left:
            raise More(chances)
        return self.left.pop(0)


class Coin:
    """A uniform number that nobody has looked at."""

    def __init__(self, branch: Branch) -> None:
        self.branch = branch

    def __ge__(self, chance: Any) -> bool:
        return not self < chance

    def __lt__(self, chance: Any) -> bool:
        exact = Fraction(chance)
        return self.branch.decide([exact, 1 - exact]) == 0

    def uniform(self, count: int) -> list[Coin]:
        """As a stream, it gives itself."""
        assert count == 1
        return [self]


def toss(law: Fractions, coin: Coin) -> int:
    """In place of `draw`: a branch for each token."""
    return coin.branch.decide([Fraction(each) for each in law])


@pytest.fixture(autouse=True)
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens are branches, not draws."""
    monkeypatch.setattr(verifier, "draw", toss)


def enumerate_law(run: Callable[[Branch], Text]) -> Law:
    """The law of what a run gives, by visiting every branch."""
    law: Law = defaultdict(Fraction)
    open_branches: list[tuple[Text, Fraction]] = [((), Fraction(1))]
    while open_branches:
        outcomes, chance = open_branches.pop()
        try:
            law[run(Branch(outcomes))] += chance
        except More as more:
            options = ((i, p) for i, p in enumerate(more.chances) if p)
            open_branches += [((*outcomes, i), chance * p) for i, p in options]
    return law


# Worlds: the law of the next token after each text, for target and draft


def world(seed: int, size: int, *, zeros: bool = False) -> Callable[[Text], Fractions]:
    """A law after each text, of small fractions; with zeros, of few tokens."""
    known: dict[Text, Fractions] = {}

    def after(text: Text) -> Fractions:
        if text not in known:
            source = random.Random(f"{seed} {text}")
            weights = [source.choice([0, 0, 1, 3] if zeros else [1, 2, 3, 5]) for _ in range(size)]
            weights[source.randrange(size)] += 1
            known[text] = np.array([Fraction(w, sum(weights)) for w in weights], dtype=object)
        return known[text]

    return after


After = Callable[[Text], Fractions]


def plain(target: After, size: int, length: int) -> Law:
    """The target's own law of texts."""
    law: Law = {}
    for text in product(range(size), repeat=length):
        chance = Fraction(1)
        for at, token in enumerate(text):
            chance *= target(text[:at])[token]
        law[text] = chance
    return law


def continued(law: Law, target: After, size: int, length: int) -> Law:
    """Each text carried on by the target up to some length."""
    out: Law = defaultdict(Fraction)
    for text, chance in law.items():
        for more in product(range(size), repeat=length - len(text)):
            whole, weight = (*text, *more), chance
            for at in range(len(text), length):
                weight *= target(whole[:at])[whole[at]]
            out[whole] += weight
    return out


def same(law: Law, target: After, size: int, length: int) -> bool:
    """Whether a round and plain decoding after it have the target's law, exactly."""
    made = continued(law, target, size, length)
    return all(made[text] == chance for text, chance in plain(target, size, length).items())


Judge = Callable[..., Any]
Report = Callable[[Fractions], Fractions]


def chain(
    branch: Branch, target: After, draft: After, drafts: int, judge: Judge, report: Report = lambda law: law
) -> Text:
    """One round of a chain: drafts drawn from their laws, judged, and what is emitted."""
    coin = Coin(branch)
    tokens: list[int] = []
    laws = []
    for _ in range(drafts):
        laws.append(draft(tuple(tokens)))
        tokens.append(toss(laws[-1], coin))
    rows = np.array([target(tuple(tokens[:at])) for at in range(drafts + 1)], dtype=object)
    reported = np.array([report(law) for law in laws], dtype=object) if laws else None
    streams = SimpleNamespace(draft=coin, accept=coin, residual=coin, bonus=coin)
    verdict = judge(Proposal(tuple(tokens), reported), rows, streams)
    return (*tokens[: verdict.accepted], verdict.token)


CASES = [(2, 3), (3, 3), (4, 2), (6, 1), (6, 2)]


@pytest.mark.parametrize("zeros", [False, True], ids=["full", "with zeros"])
@pytest.mark.parametrize("judge", [verify, verify_by_match], ids=["ratio", "match"])
@pytest.mark.parametrize(("size", "drafts"), CASES)
def test_a_chain_emits_exactly_the_targets_law(size: int, drafts: int, judge: Judge, zeros: bool) -> None:
    target, draft = world(1, size, zeros=zeros), world(2, size, zeros=zeros)
    law = enumerate_law(lambda branch: chain(branch, target, draft, drafts, judge))
    assert same(law, target, size, drafts + 1)


@pytest.mark.parametrize("rule", ["ratio", "match"])
def test_each_rule_keeps_as_much_as_it_says(rule: Any) -> None:
    judge = {"ratio": verify, "match": verify_by_match}[rule]
    target, draft = world(3, 5), world(4, 5)
    law = enumerate_law(lambda branch: chain(branch, target, draft, 1, judge))
    stands = sum(chance for text, chance in law.items() if len(text) == 2)
    assert stands == kept(target(()), draft(()), rule)


def test_the_ratio_test_keeps_more_than_the_match() -> None:
    target, draft = world(3, 5)(()), world(4, 5)(())
    assert kept(target, draft, "ratio") > kept(target, draft, "match")


# Trees

SHAPES = {
    "two tokens": (ROOT, ROOT),
    "three tokens": (ROOT, ROOT, ROOT),
    "two, and one below each": (ROOT, ROOT, 0, 1),
    "one, and two below it": (ROOT, 0, 0),
    "two, and two below the second": (ROOT, ROOT, 1, 1),
    "a chain": (ROOT, 0, 1),
}


def grown(
    branch: Branch, parents: Text, target: After, draft: After, *, repeats: bool
) -> tuple[Tree, Any, SimpleNamespace]:
    """A tree whose nodes are drawn, the target's laws at its nodes, and streams."""
    coin = Coin(branch)
    tokens: list[int] = []
    laws: list[Fractions] = []
    for node, parent in enumerate(parents):
        law = draft(above(parent, parents, tokens)).copy()
        if not repeats:
            for sibling in range(node):
                if parents[sibling] == parent:
                    law[tokens[sibling]] = Fraction(0)
            law = law / law.sum()
        laws.append(law)
        tokens.append(toss(law, coin))
    rows = [target(())] + [target(above(node, parents, tokens)) for node in range(len(parents))]
    streams = SimpleNamespace(draft=coin, accept=coin, residual=coin, bonus=coin)
    tree = Tree(tuple(tokens), parents, np.array(laws, dtype=object))
    return tree, np.array(rows, dtype=object), streams


def above(node: int, parents: Text, tokens: list[int]) -> Text:
    """The text that ends with a node."""
    text: Text = ()
    while node != ROOT:
        text, node = (tokens[node], *text), parents[node]
    return text


def tree_round(
    branch: Branch, parents: Text, target: After, draft: After, judge: Judge, *, repeats: bool
) -> Text:
    """One round of a tree and what is emitted."""
    tree, rows, streams = grown(branch, parents, target, draft, repeats=repeats)
    path = judge(tree, rows, streams)
    return (*(tree.tokens[node] for node in path.nodes), path.token)


def depth(parents: Text) -> int:
    """Tokens of the longest branch."""
    return max(len(above(node, parents, [0] * len(parents))) for node in range(len(parents)))


@pytest.mark.parametrize("repeats", [True, False], ids=["drawn independently", "drawn without repetition"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [3, 4])
def test_a_tree_emits_exactly_the_targets_law(size: int, shape: str, repeats: bool) -> None:
    parents = SHAPES[shape]
    target, draft = world(5, size), world(6, size)
    law = enumerate_law(
        lambda branch: tree_round(branch, parents, target, draft, verify_tree, repeats=repeats)
    )
    assert same(law, target, size, depth(parents) + 1)


@pytest.mark.parametrize("size", [3, 6])
def test_a_tree_of_undrawn_tokens_emits_exactly_the_targets_law(size: int) -> None:
    target = world(7, size)
    tree = Tree((0, 2, 1), (ROOT, ROOT, 1))

    def run(branch: Branch) -> Text:
        coin = Coin(branch)
        streams = SimpleNamespace(draft=coin, accept=coin, residual=coin, bonus=coin)
        rows = np.array([target(text) for text in [(), (0,), (2,), (2, 1)]], dtype=object)
        path = verify_tree(tree, rows, streams)  # type: ignore[arg-type]
        return (*(tree.tokens[node] for node in path.nodes), path.token)

    assert same(enumerate_law(run), target, size, 3)


def test_more_branches_keep_more() -> None:
    target, draft = world(5, 4), world(6, 4)

    def stands(parents: Text) -> Fraction:
        law = enumerate_law(
            lambda branch: tree_round(branch, parents, target, draft, verify_tree, repeats=False)
        )
        return sum((chance for text, chance in law.items() if len(text) > 1), Fraction(0))

    assert stands((ROOT,)) < stands((ROOT, ROOT)) < stands((ROOT, ROOT, ROOT))


def test_a_greedy_tree_follows_the_top_tokens() -> None:
    tree = Tree((1, 2, 0, 3), (ROOT, ROOT, 1, 2))
    path = verify_tree_greedy(tree, np.array([2, 9, 0, 7, 9]))
    assert (path.nodes, path.token) == ((1, 2), 7)
    assert verify_tree_greedy(tree, np.array([4, 9, 9, 9, 9])).nodes == ()


@pytest.mark.parametrize(
    "tree",
    [Tree((1, 2), (ROOT,)), Tree((1, 2), (1, ROOT)), Tree((1, 2), (ROOT, -2)), Tree((1, 1), (ROOT, ROOT))],
    ids=["too few parents", "a parent after its child", "no such parent", "one token twice"],
)
def test_what_is_no_tree_is_refused(tree: Tree) -> None:
    with pytest.raises(BadData):
        verify_tree_greedy(tree, np.zeros(3, dtype=np.int64))


# Mutants: each a defect that was met elsewhere; the proof must tell each from the rule


def half(value: Any) -> Any:
    """A chance as a half-precision float keeps it."""
    return Fraction(float(np.float16(float(value))))


def unscaled(target: Any, draft: Any, token: int) -> Any:
    """The residual as it is left, not a law again."""
    return np.maximum(target - draft, 0)


def underflown(target: Any, draft: Any, token: int) -> Any:
    """The ratio with a draft chance in half precision: what underflows is kept whatever the target says."""
    proposed = half(draft[token])
    return 1 if proposed == 0 else min(1, target[token] / proposed)


def bonus_early(proposal: Proposal, target: Any, draws: Any) -> Any:
    """The bonus token from the law before the last draft token."""
    return verify(proposal, np.concatenate([target[:-1], target[-2:-1]]), draws)


def greedily(proposal: Proposal, target: Any, draws: Any) -> Any:
    """Drawn tokens judged as greedy ones."""
    return verifier.verify_greedy(proposal.tokens, np.array([int(np.argmax(row)) for row in target]))


def rounded(law: Fractions) -> Fractions:
    """A law as bfloat16 keeps it, seven bits of each chance: not the one that was drawn from."""
    scaled = [Fraction(int(each * 2**8), 2**8) or Fraction(1, 2**8) for each in law]
    return np.array([each / sum(scaled) for each in scaled], dtype=object)


def tempered(law: Fractions) -> Fractions:
    """Another temperature than the one that was drawn at."""
    squares = law * law
    return squares / squares.sum()


TINY = Fraction(1, 2**26)


def tiny_world(weights: tuple[Any, ...]) -> After:
    """One law whatever the text."""
    law = np.array([Fraction(each) for each in weights], dtype=object)
    return lambda text: law / law.sum()


def mutated(**patches: Any) -> Callable[[pytest.MonkeyPatch], Judge]:
    """The rule with a piece of it replaced."""

    def make(patch: pytest.MonkeyPatch) -> Judge:
        for name, piece in patches.items():
            patch.setattr(verifier, name, piece)
        return verify

    return make


MUTANTS: dict[str, tuple[Callable[[pytest.MonkeyPatch], Judge], Report]] = {
    "always accept": (mutated(acceptance=lambda target, draft, token: 1), lambda law: law),
    "the rejected replaced from the target": (
        mutated(residual=lambda target, draft, token: target),
        lambda law: law,
    ),
    "the residual not made a law again": (mutated(residual=unscaled), lambda law: law),
    "the bonus off by one": (lambda patch: bonus_early, lambda law: law),
    "drawn tokens treated as greedy": (lambda patch: greedily, lambda law: law),
    "another law returned than drawn from": (lambda patch: verify, tempered),
    "the draft's law in bfloat16, the ratio in full": (lambda patch: verify, rounded),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_of_the_chain_is_told_from_the_rule(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, report = MUTANTS[name]
    judge = make(monkeypatch)
    target, draft = world(8, 3), world(9, 3)
    with pytest.raises(AssertionError):
        law = enumerate_law(lambda branch: chain(branch, target, draft, 2, judge, report))
        assert same(law, target, 3, 3)


def test_greedy_drafts_judged_by_their_law_are_told_from_the_rule() -> None:
    target, draft = world(8, 3), world(9, 3)

    def run(branch: Branch) -> Text:
        coin = Coin(branch)
        token = int(np.argmax(draft(())))
        rows = np.array([target(()), target((token,))], dtype=object)
        streams = SimpleNamespace(draft=coin, accept=coin, residual=coin, bonus=coin)
        verdict = verify(Proposal((token,), np.array([draft(())])), rows, streams)  # type: ignore[arg-type]
        return (*(token,)[: verdict.accepted], verdict.token)

    assert not same(enumerate_law(run), target, 3, 2)


def test_a_ratio_that_underflows_is_told_from_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    target, draft = tiny_world((TINY / 8, 1, 1)), tiny_world((TINY, 2, 1))
    run = enumerate_law(lambda branch: chain(branch, target, draft, 1, verify))
    assert same(run, target, 3, 2)
    monkeypatch.setattr(verifier, "acceptance", underflown)
    run = enumerate_law(lambda branch: chain(branch, target, draft, 1, verify))
    assert not same(run, target, 3, 2)


def test_equal_laws_leave_no_residual_and_divide_by_nothing() -> None:
    target = world(8, 4)
    law = enumerate_law(lambda branch: chain(branch, target, target, 2, verify))
    assert same(law, target, 4, 3)
    assert {len(text) for text, chance in law.items() if chance} == {3}


def test_a_residual_without_its_guard_divides_by_zero() -> None:
    law = world(8, 4)(())
    rest = np.maximum(law - law, 0)
    with pytest.raises(ZeroDivisionError):
        rest / rest.sum()
    assert (verifier.residual(law, law, 0) == law).all()


def best_of(tree: Tree, target: Any, draws: Any) -> trees.Path:
    """The first sibling that would stand alone, each judged against the whole law: best of k."""
    for node in tree.children(ROOT):
        chance = verifier.acceptance(target[0], tree.probability[node], tree.tokens[node])  # type: ignore[index]
        if draws.accept.uniform(1)[0] < chance:
            return trees.Path((node,), verifier.draw(target[node + 1], draws.bonus.uniform(1)[0]))
    last = verifier.residual(target[0], tree.probability[0], tree.tokens[0])  # type: ignore[index]
    return trees.Path((), verifier.draw(last, draws.residual.uniform(1)[0]))


def test_the_best_of_several_branches_is_told_from_the_rule() -> None:
    target, draft = world(5, 3), world(6, 3)
    law = enumerate_law(lambda branch: tree_round(branch, (ROOT, ROOT), target, draft, best_of, repeats=True))
    assert not same(law, target, 3, 2)


def by_the_whole_law(tree: Tree, target: Any, draws: Any) -> Any:
    """Siblings drawn without repetition judged as if each came from the whole law."""
    first = tree.probability[0]  # type: ignore[index]
    return verify_tree(Tree(tree.tokens, tree.parents, np.array([first, first])), target, draws)


def test_siblings_judged_by_a_law_they_were_not_drawn_from_are_told() -> None:
    target, draft = world(5, 5), world(6, 5)
    law = enumerate_law(
        lambda branch: tree_round(branch, (ROOT, ROOT), target, draft, by_the_whole_law, repeats=False)
    )
    assert not same(law, target, 5, 2)
