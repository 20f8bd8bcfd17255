"""What both packages offer to Python: public names with their signatures and docstrings, read by griffe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import griffe

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("engine", "generator")


def texts() -> dict[str, str]:
    """A text for each package below the two, and one for the modules beside those, by file name."""
    made = {}
    for name in PACKAGES:
        package = griffe.load(name, search_paths=[ROOT], allow_inspection=False, resolve_aliases=False)
        modules = list(_below(package))
        for each in modules:
            if each.is_subpackage:
                made[f"api/{each.path}.txt"] = _text(each)
        beside = "\n".join(_text(each) for each in modules if not each.is_subpackage)
        made[f"api/{name}.txt"] = beside
    return made


def _text(module: griffe.Module) -> str:
    return "\n".join(_module(module)).rstrip() + "\n"


def _module(module: griffe.Module) -> Iterator[str]:
    """A module, then the modules in it."""
    yield f"{module.path}"
    yield from _said(module, 2)
    for each in module.members.values():
        if not isinstance(each, griffe.Module):
            yield from _member(each, 2)
    yield ""
    for below in _below(module):
        yield from _module(below)


def _below(module: griffe.Module) -> Iterator[griffe.Module]:
    """The modules of a package by name; those that it only imports are aliases."""
    found = (each for each in module.members.values() if isinstance(each, griffe.Module))
    yield from sorted((each for each in found if _public(each)), key=lambda each: each.name)


def _member(member: griffe.Object | griffe.Alias, depth: int) -> Iterator[str]:
    """A function, a class with its members, or a value that has a docstring."""
    if member.is_alias or not _public(member):
        return
    space = " " * depth
    if isinstance(member, griffe.Function):
        yield f"{space}{member.signature()}"
        yield from _said(member, depth + 4)
    elif isinstance(member, griffe.Class):
        bases = f"({', '.join(str(base) for base in member.bases)})" if member.bases else ""
        yield f"{space}class {member.name}{bases}"
        yield from _said(member, depth + 4)
        for each in member.members.values():
            yield from _member(each, depth + 4)
    elif isinstance(member, griffe.Attribute) and (
        member.docstring or (member.parent and member.parent.is_class)
    ):
        kind = f": {member.annotation}" if member.annotation else ""
        yield f"{space}{member.name}{kind}"
        yield from _said(member, depth + 4)


def _public(member: griffe.Object | griffe.Alias) -> bool:
    return not member.name.startswith("_")


def _said(member: griffe.Object | griffe.Alias, depth: int) -> Iterator[str]:
    if member.docstring:
        yield indent(member.docstring.value, " " * depth)
