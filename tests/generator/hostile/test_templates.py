"""A source can read no file, import nothing, call nothing out and hold nothing up: each try is refused."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import sample_record
from command import call

TRIES = {
    "a file": "{{ open('/etc/passwd').read() }}",
    "an include": "{% include '/etc/passwd' %}",
    "an import": "{% import 'os' as os %}{{ os.system('true') }}",
    "an extension of another template": "{% extends '/etc/passwd' %}",
    "the class of a string": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "the class of a payload": "{{ a.__class__.__init__.__globals__ }}",
    "the class, by its name in brackets": "{{ a['__class__']['__base__'] }}",
    "the class, through a filter": "{{ a.results | attr('__class__') }}",
    "a known way out of Jinja": "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "another way out of Jinja": "{{ lipsum.__globals__['os'].environ }}",
    "its own names": "{{ self._TemplateReference__context }}",
    "the environment": "{{ config.items() }}",
    "a method": "{{ a.results.vanilla.upper() }}",
    "a format string": "{{ '{0.__class__}'.format(a) }}",
    "a loop without end": "{% for i in range(10 ** 12) %}a{% endfor %}",
    "a loop of a payload": "{% for each in a.results %}{{ each }}{% endfor %}",
    "a huge range": "{{ range(10 ** 12) | list }}",
    "a huge power": "{{ 9 ** 9 ** 9 }}",
    "a huge string": "{{ 'a' * 10 ** 12 }}",
    "an assignment": "{% set a = 1 %}{{ a }}",
    "a macro": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "raw text": "{% raw %}{{ 7 }}{% endraw %}",
    "a statement of Python": "{% do a.update() %}",
    "a file by verbatim, from the root": '{% verbatim "/etc/passwd" %}',
    "a file by verbatim, from above": '{% verbatim "../../etc/passwd" %}',
    "a device by verbatim": '{% verbatim "/dev/zero" %}',
    "a rule that the generator does not know": '{{ computed("os.environ") }}',
    "a condition around prose": "{% if a %}words{% endif %}",
}


@pytest.mark.parametrize("path", ["findings/F-01.md", "templates/landing.md.j2", "title"])
@pytest.mark.parametrize("name", TRIES)
def test_what_a_source_tries_is_refused_at_its_place(tmp_path: Path, name: str, path: str) -> None:
    whole = sample_record.files()
    if path == "title":
        tried = TRIES[name].replace("\\", "\\\\").replace('"', "'")
        changes = {"findings/F-02.md": whole["findings/F-02.md"].replace("The margin is not", tried)}
        path, line = "findings/F-02.md", 3
    else:
        changes = {path: f"{whole[path]}\n{TRIES[name]}\n"}
        line = whole[path].count("\n") + 2
    root = sample_record.write(tmp_path, changes)
    before = time.process_time()
    result = call("check", "--root", root)
    assert result.exit_code == 1
    assert f"{path}:{line}:" in result.output
    assert "root:" not in result.output
    assert time.process_time() - before < 5


HELD_UP = {
    "brackets": "{{ " + "(" * 50_000 + "a.seeds.root" + ")" * 50_000 + " }}",
    "signs": "{{ " + "-" * 50_000 + "a.seeds.root }}",
    "a long sum": "{{ a.seeds.root" + " + a.seeds.root" * 20_000 + " }}",
    "a long product": "{{ (a.seeds.root" + " * a.seeds.root" * 240 + ") | sig(3) }}",
    "braces that open": "{{ " * 50_000,
    "braces that open and quote": "{{ ' " * 50_000,
    "tags that open": "{% claim '" * 20_000,
    "comments that open": "{# " * 50_000,
    "braces that close": " }}" * 50_000,
}


@pytest.mark.parametrize("name", HELD_UP)
def test_a_template_cannot_hold_the_check_up(tmp_path: Path, name: str) -> None:
    root = sample_record.write(tmp_path, {"findings/F-01.md": f"{sample_record.FINDING}\n{HELD_UP[name]}\n"})
    before = time.process_time()
    result = call("check", "--root", root)
    assert result.exit_code == 1
    assert "findings/F-01.md:35:" in result.output
    assert time.process_time() - before < 10
