"""The page parts that the generator itself writes. The one door to jinja2: sandboxed, strict, escaping.

Sources of a record never come here; they are read by generator.number, which cannot run anything.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import BaseLoader, StrictUndefined, TemplateNotFound
from jinja2 import Environment as _Jinja
from jinja2.sandbox import ImmutableSandboxedEnvironment


class _PackageFiles(BaseLoader):
    """Templates that ship with the generator."""

    def get_source(self, environment: _Jinja, template: str) -> tuple[str, None, None]:
        file = files("generator.render").joinpath("templates", template)
        if not file.is_file():
            raise TemplateNotFound(template)
        return file.read_text("utf-8"), None, None


@cache
def _environment() -> _Jinja:
    return ImmutableSandboxedEnvironment(
        loader=_PackageFiles(),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def part(template: str, **values: object) -> str:
    """Render one of the generator's own page parts; texts are escaped unless they are markup."""
    return _environment().get_template(template).render(**values)


def asset(name: str) -> bytes:
    """A file that ships with the generator and goes to the site as it is."""
    return files("generator.render").joinpath("assets", name).read_bytes()


def default(name: str) -> str:
    """The text of a template that stands in where a record has none of its own."""
    return files("generator.render").joinpath("templates", name).read_text("utf-8")
