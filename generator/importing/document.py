"""Numbers of a JSON document: what evaluation harnesses write, and any other nesting of objects."""

from __future__ import annotations

from pathlib import PurePosixPath

from generator.importing.found import Found, Left, Lexeme, Taken, refused
from generator.record import strict
from generator.record.encoding import decoded
from generator.record.tree import Node, grow

BESIDE = frozenset(
    ["name", "value", "unit", "params", "options", "metadata", "group", "description", "method"]
)
"""What may stand beside a value in an object that is one number."""

INTERVAL = ("low", "high", "level")

LM_EVAL = {
    "harness": "/lm_eval_version",
    "model": "/config/model",
    "model_args": "/config/model_args",
    "model_name": "/model_name",
    "limit": "/config/limit",
    "num_fewshot": "/config/num_fewshot",
}
OF_LM_EVAL = frozenset({"configs", "n-shot", "versions"})
"""What only that harness writes beside its results."""

INSPECT = {"task": "/eval/task", "model": "/eval/model", "dataset": "/eval/dataset/name", "status": "/status"}
"""Where each of two harnesses says how a run was made, by the name that it gets in the regime."""


def read(path: str, data: bytes) -> Taken:
    """Every number of a document; raises Refused at the place of what is no strict JSON."""
    root = parsed(path, data)
    if root.kind != "object":
        raise refused(
            path, root.line, root.column, "", "The file is no JSON object, whose numbers have names."
        )
    results = root.members.get("results")
    if results is not None and "eval" in root.members and "scores" in results.members:
        return _inspect(path, root, results)
    if results is not None and results.kind == "object" and OF_LM_EVAL & root.members.keys():
        return _lm_eval(root, results)
    taken = Taken("plain JSON")
    if results is not None and results.kind == "object":
        members(taken, results)
        _left_beside(taken, root)
    else:
        members(taken, root)
    return taken


def parsed(path: str, data: bytes) -> Node:
    """The tree of a strict JSON text; raises Refused."""
    text = decoded(path, data)
    strict.load(path, data, text)
    try:
        return grow(data)
    except ValueError as error:
        raise refused(path, 1, 1, PurePosixPath(path).name, f"{error}.") from None


def members(taken: Taken, node: Node) -> None:
    """Take the numbers below an object, each under its name at least."""
    for key, below in node.members.items():
        walk(taken, (key,), below)


def walk(taken: Taken, tokens: tuple[str, ...], node: Node) -> None:
    """Take the numbers at and below a value; lists are entered where their entries have names."""
    if node.kind == "object" and _is_quantity(node):
        _take_quantity(taken, tokens, node)
    elif node.kind == "object":
        for key, below in node.members.items():
            walk(taken, (*tokens, key), below)
    elif node.kind == "array" and (named := _named(node)) is not None:
        for name, below in named.items():
            walk(taken, (*tokens, name), below)
    elif node.kind == "number":
        taken.numbers.append(Found(tokens, Lexeme(node.lexeme), node.line, node.column))
    else:
        why = {"array": "a list without names", "string": "text"}.get(node.kind, node.kind)
        taken.left.append(Left(tokens, node.line, why))


def _is_quantity(node: Node) -> bool:
    """Whether an object is one number with what belongs to it."""
    value = node.members.get("value")
    return value is not None and value.kind == "number" and node.members.keys() <= {*BESIDE, *INTERVAL}


def _take_quantity(taken: Taken, tokens: tuple[str, ...], node: Node) -> None:
    members = node.members
    unit = members["unit"].text if "unit" in members and members["unit"].kind == "string" else ""
    ends: dict[str, Lexeme | str] = {}
    if all(each in members and members[each].kind == "number" for each in INTERVAL):
        ends = {each: Lexeme(members[each].lexeme) for each in INTERVAL}
        if "method" in members and members["method"].kind == "string":
            ends["method"] = members["method"].text
    value = members["value"]
    taken.numbers.append(Found(tokens, Lexeme(value.lexeme), value.line, value.column, unit, ends))


def _named(node: Node) -> dict[str, Node] | None:
    """The entries of a list by their names; None where one has none or two share one."""
    names = [each.members["name"].text for each in node.items if _has_name(each)]
    if not names or len(names) < len(node.items) or len(set(names)) < len(names):
        return None
    return dict(zip(names, node.items, strict=True))


def _has_name(node: Node) -> bool:
    return "name" in node.members and node.members["name"].kind == "string"


def _lm_eval(root: Node, results: Node) -> Taken:
    taken = Taken("lm-evaluation-harness")
    members(taken, results)
    if "n-samples" in root.members:
        walk(taken, ("n-samples",), root.members["n-samples"])
    _facts(taken, root, LM_EVAL)
    _left_beside(taken, root, "n-samples")
    return taken


def _inspect(path: str, root: Node, results: Node) -> Taken:
    taken = Taken("inspect")
    for key, below in results.members.items():
        if key != "scores":
            walk(taken, (key,), below)
    for tokens, score in _scores(path, results.members["scores"]).items():
        walk(taken, tokens, score.members.get("metrics", score))
    _facts(taken, root, INSPECT)
    _left_beside(taken, root)
    packages = root.members["eval"].members.get("packages")
    for name, version in packages.members.items() if packages else ():
        if version.kind == "string" and version.text:
            taken.versions[name] = version.text
    return taken


def _scores(path: str, scores: Node) -> dict[tuple[str, ...], Node]:
    """The scores of a log by name, and by reducer where several have one name; raises Refused."""
    found: dict[tuple[str, ...], Node] = {}
    names = [each.members["name"].text for each in scores.items if _has_name(each)]
    for each in scores.items:
        name = (each.members["name"].text,) if _has_name(each) else ()
        if names.count("".join(name)) > 1 and "reducer" in each.members:
            name = (*name, each.members["reducer"].text)
        if not name or name in found:
            message = "A score needs a name, or a reducer, that no other has. Name it in the file."
            raise refused(path, each.line, each.column, " ".join(name), message)
        found[name] = each
    return found


def _left_beside(taken: Taken, root: Node, *read: str) -> None:
    """Say what holds numbers beside the results and is not imported."""
    for key, node in root.members.items():
        if key not in ("results", *read) and _holds_number(node):
            taken.left.append(Left((key,), node.line, "stands beside the results"))


def _holds_number(node: Node) -> bool:
    below = (
        [*node.members.values()] if node.kind == "object" else [*node.items] if node.kind == "array" else []
    )
    return node.kind == "number" or any(map(_holds_number, below))


def _facts(taken: Taken, root: Node, pointers: dict[str, str]) -> None:
    """What a log says of its run, as far as it is one text or one number."""
    for name, pointer in pointers.items():
        node = root
        for token in pointer.split("/")[1:]:
            if token not in node.members:
                break
            node = node.members[token]
        else:
            if node.kind == "number":
                taken.regime[name] = Lexeme(node.lexeme)
            elif node.kind == "string" and node.text:
                taken.regime[name] = node.text
