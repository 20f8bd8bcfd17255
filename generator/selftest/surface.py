"""A place where a text can be seen or heard, and the forms of the table that are planted there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from unicodedata import category

from generator.selftest.cases import Form
from generator.selftest.fault import Fault


@dataclass(frozen=True)
class Surface:
    """A place in a file: from a text to the file that shows it there.

    Where markup is rendered, `write` writes any form of the table for it. Elsewhere a text shows as it is
    written, and a form that only markup makes is none there. A `strict` file is refused for characters
    that show nothing before anything in it is judged.
    """

    name: str
    path: str
    plant: Callable[[str], str]
    write: Callable[[Form], str] | None = None
    strict: bool = False

    def changed(self, form: Form) -> dict[str, str]:
        """The file with a form of the table in this place."""
        return {self.path: self.plant(self.write(form) if self.write else form.text)}

    @cached_property
    def line(self) -> int:
        """Where in the file the text comes to stand."""
        planted = self.plant("QQQ")
        return planted.count("\n", 0, planted.index("QQQ")) + 1


def planted(surfaces: Iterable[Surface], forms: Iterable[Form]) -> Iterator[Fault]:
    """Every form on every surface that can show it."""
    for surface in surfaces:
        for form in forms:
            if surface.write or form.plain:
                what = f"{form.text!r}, row {form.row} of the table"
                hidden = surface.strict and any(category(each) == "Cf" for each in form.text)
                due = {"bad-encoding" if hidden else form.code: 1}
                changes = partial(surface.changed, form)
                yield Fault(surface.name, surface.path, surface.line, what, due, changes)
