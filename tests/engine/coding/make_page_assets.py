"""Make what the page of Lockstep loads: python tests/engine/coding/make_page_assets.py

Browsers load no modules and no JSON into a page that was opened from a file. So the second implementation is
wrapped as a classic script, and the vectors are set down as one; the tests hold both to their sources.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from engine.coding import conformance

ASSETS = Path(conformance.__file__).parents[2] / "site_src/assets"


def classic(module: str) -> str:
    """A module without imports as a classic script that sets `window.Lockstep` to what the module exports."""
    names = re.findall(r"^export (?:class|function|const) (\w+)", module, re.MULTILINE)
    body = re.sub(r"^export ", "", module, flags=re.MULTILINE)
    head = "/* Made from lockstep.mjs by tests/engine/coding/make_page_assets.py. */\n"
    head += 'window.Lockstep = (function () {\n"use strict";\n'
    return f"{head}{body}return {{ {', '.join(names)} }};\n}})();\n"


def vectors() -> str:
    """Every vector, by name, one a line."""
    every = (f"{json.dumps(name)}: {json.dumps(vector)}" for name, vector in conformance.vectors().items())
    head = "/* Made from engine/coding/vectors by tests/engine/coding/make_page_assets.py. */\n"
    return head + "window.lockstepVectors = {\n" + ",\n".join(every) + "\n};\n"


def assets() -> dict[str, str]:
    """File name: what it must hold."""
    module = (ASSETS / "lockstep.mjs").read_text(encoding="utf-8")
    return {"lockstep-classic.js": classic(module), "lockstep-vectors.js": vectors()}


def main() -> None:
    """Write them."""
    for name, text in assets().items():
        (ASSETS / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
