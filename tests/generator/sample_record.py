"""A small record in the form of a real one, for tests of rendering and of the commands."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

PAYLOAD = """{
  "schema": "specdec-sidechannels/payload/1",
  "name": "acceptance/lookup",
  "question": "How many tokens does a check emit when the draft looks back in the prompt?",
  "regime": {"target": "SmolLM2-135M-Instruct", "precision": "fp32", "mode": "greedy"},
  "config": {"lookahead": 2, "prompts": 84},
  "seeds": {"root": 20261130},
  "provenance": {
    "command": ["engine", "run", "acceptance", "--draft", "lookup"],
    "commit": "3f0c1ab09f3b5f6d0d1c9f8f3c1d2e4a5b6c7d8e",
    "dirty": false,
    "versions": {"torch": "2.13.0"},
    "device": "two CPU cores",
    "models": [],
    "inputs": []
  },
  "results": {
    "tokens_per_check": {
      "value": 2.5978,
      "low": 2.4102,
      "high": 2.8041,
      "level": 0.95,
      "method": "percentile prompt-cluster bootstrap",
      "resamples": 10000,
      "clusters": 84,
      "observations": 3810,
      "unit": "tokens per check"
    },
    "vanilla": {"value": 1, "unit": "tokens per check"},
    "margin": {
      "value": -0.006860,
      "low": -0.0110,
      "high": 0.0021,
      "level": 0.95,
      "method": "percentile prompt-cluster bootstrap",
      "resamples": 10000,
      "clusters": 84,
      "observations": 3810,
      "unit": "accuracy"
    },
    "drawn": {"value": 14456199684, "unit": "bytes"},
    "seconds": {"value": 0.00000150, "unit": "seconds"},
    "accepted": {"value": 0.125, "unit": "ratio"}
  },
  "state": {
    "columns": ["cluster", "emitted", "checks"],
    "rows": [
      [0, 61, 27],
      [1, 58, 22]
    ]
  }
}
"""

FINDING = """---
id: F-01
title: "Looking back in the prompt emits {{ a.results.tokens_per_check | places(2) }} tokens a check"
record: acceptance
status: holds
holds_when: a.results.tokens_per_check.low > a.results.vanilla
verdict_when:
  faster than plain decoding: a.results.tokens_per_check.low > a.results.vanilla
  as fast as plain decoding: a.results.tokens_per_check.low <= a.results.vanilla
regime: "{{ a.regime.target }}, {{ a.regime.precision }}, {{ a.regime.mode }}"
payloads:
  a: payloads/acceptance/lookup.json
---

{% statement "tokens" %}A check emits {{ a.results.tokens_per_check | ci(2) }} tokens over
{{ a.results.tokens_per_check.clusters }} prompts.{% endstatement %}
{% statement "gain" %}That is {% claim a.results.tokens_per_check.low > a.results.vanilla %}more than
plain decoding{% endclaim %}, {{ (a.results.tokens_per_check / a.results.vanilla) | times(2) }} its
rate.{% endstatement %}

## What {{ a.results.drawn | group }} bytes buy

| form | shown |
| --- | --- |
| signed | {{ a.results.margin | signed(3) }} |
| percent | {{ a.results.accepted | percent(1) }} |
| small | {{ a.results.seconds | sig(3) }} |
| ordinal | {{ a.config.lookahead | ordinal }} |

- **{{ a.results.margin | ci(4, signed=true) }}** is the margin.
- {{ a.config.lookahead | words }} tokens are looked at; {{ a.seeds.root }} is the seed.

{{ a.config.prompts }}. This line starts with a number and stays a paragraph. F-02 says more.
"""

NULL = """---
id: F-02
title: The margin is not told from nothing
record: acceptance
status: "null"
null_when: a.results.margin.low < 0 and a.results.margin.high > 0
regime: "{{ a.regime.target }}, greedy"
payloads:
  a: payloads/acceptance/lookup.json
---

{% statement "margin" %}

The margin is {{ a.results.margin | ci(3) }}, at level {{ a.results.margin.level }}.

It is not decided by these prompts.

{% endstatement %}

See [the finding before](F-01.md) and K-1.
"""

KILL = """---
id: K-1
title: Lookup is not worth its drafts
fires_when: a.results.tokens_per_check.high < a.results.vanilla
payloads:
  a: payloads/acceptance/lookup.json
---

The line of work ends if a check emits fewer than {{ a.results.vanilla }} token.
"""

LANDING = """---
title: What speculative decoding gives away
payloads:
  a: payloads/acceptance/lookup.json
---

# What speculative decoding gives away

A check emits {{ a.results.tokens_per_check | places(2) }} tokens; {{ computed("findings-count:holds") }} of
{{ computed("findings-count") }} findings hold, {{ computed("numbers-count") }} numbers are bound.

{% listing "findings" %}
"""

PAGE = """---
title: How to read this
---

# How to read this

Words of an author, and F-01.

{% verbatim "payloads/acceptance/lookup.json" 2-3 %}
"""

MKDOCS = """site_name: Sample
docs_dir: site_src
theme:
  name: material
plugins:
  - search
  - findings
markdown_extensions:
  - tables
  - toc:
      permalink: true
"""


def files() -> dict[str, str]:
    """The sample record, text by path."""
    digest = hashlib.sha256(PAYLOAD.encode()).hexdigest()
    return {
        "mkdocs.yml": MKDOCS,
        "payloads/acceptance/lookup.json": PAYLOAD,
        "payloads/SHA256SUMS": f"{digest}  payloads/acceptance/lookup.json\n",
        "findings/F-01.md": FINDING,
        "findings/F-02.md": NULL,
        "findings/K-1.md": KILL,
        "findings/terms.toml": "",
        "templates/landing.md.j2": LANDING,
        "site_src/reading.md": PAGE,
    }


def write(root: Path, changes: dict[str, str | bytes | None] | None = None) -> Path:
    """Write the sample record below a folder, with files changed, added, or left out where None."""
    for path, content in {**files(), **(changes or {})}.items():
        if content is not None:
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def payload() -> dict[str, object]:
    """The payload as Python objects."""
    loaded: dict[str, object] = json.loads(PAYLOAD)
    return loaded
