"""The sample record with a page of figures of every kind, a criterion with a bar, and an erratum."""

from __future__ import annotations

import datetime
import hashlib
import json

ALPHA = {
    "schema": "specdec-sidechannels/payload/1",
    "name": "acceptance/lengths",
    "question": "How does it grow?",
    "regime": {"target": "SmolLM2-135M-Instruct"},
    "config": {"lengths": [1, 2, 4]},
    "seeds": {"root": 1},
    "provenance": {
        "command": ["engine", "run", "lengths"],
        "commit": "3f0c1ab09f3b5f6d0d1c9f8f3c1d2e4a5b6c7d8e",
        "dirty": False,
        "versions": {},
        "device": "CPU",
        "models": [],
        "inputs": [],
    },
    "results": {
        name: {
            "value": value,
            "low": low,
            "high": high,
            "level": 0.95,
            "method": "percentile prompt-cluster bootstrap",
            "resamples": 100,
            "clusters": 30,
            "observations": 300,
            "unit": unit,
        }
        for name, value, low, high, unit in (
            ("short", 1.25, 1.2, 1.3, "tokens"),
            ("middle", 1.5, 1.4, 1.6, "tokens"),
            ("long", 1.45, 1.35, 1.55, "tokens"),
            ("cheap", 0.5, 0.4, 0.6, "seconds"),
            ("dear", 0.9, 0.8, 0.95, "seconds"),
            ("dearest", 1.2, 1.1, 1.25, "seconds"),
        )
    }
    | {"plain": {"value": 1, "unit": "tokens"}},
    "state": {"columns": ["cluster"], "rows": [[0]]},
}

PAGE = """---
title: Figures
payloads:
  a: payloads/acceptance/lengths.json
---

# Figures

{% figure "forest" %}
Tokens; the line is {% bar %}plain decoding, {{ a.results.plain | places(2) }}{% endbar %}.

| draft | tokens |
|---|---|
| short | {{ a.results.short | ci(2) }} |
| long | {{ a.results.long | ci(2) }} |
| no draft | {{ a.results.plain | places(2) }} |
{% endfigure %}

{% figure "histogram" %}
| draft | tokens |
|---|---|
| short | {{ a.results.short | places(2) }} |
| long | {{ a.results.long | places(2) }} |
{% endfigure %}

{% figure "curve" %}
Over the draft length, against {% bar %}plain decoding, {{ a.results.plain | places(2) }}{% endbar %}.

| length | tokens | otherwise |
|---|---|---|
| {{ a.config.lengths["0"] }} | {{ a.results.short | ci(2) }} | {{ a.results.plain | places(2) }} |
| {{ a.config.lengths["1"] }} | {{ a.results.middle | ci(2) }} | {{ a.results.short | places(2) }} |
| {{ a.config.lengths["2"] }} | {{ a.results.long | ci(2) }} | {{ a.results.long | places(2) }} |
{% endfigure %}

{% figure "curve" %}
| step | tokens |
|---|---|
| early | {{ a.results.short | places(2) }} |
| late | {{ a.results.long | places(2) }} |
{% endfigure %}

{% figure "frontier" %}
| draft | seconds | tokens |
|---|---|---|
| cheap | {{ a.results.cheap | ci(2) }} | {{ a.results.short | ci(2) }} |
| dear | {{ a.results.dear | ci(2) }} | {{ a.results.middle | ci(2) }} |
| dearest | {{ a.results.dearest | ci(2) }} | {{ a.results.long | ci(2) }} |
{% endfigure %}
"""

KILL = """---
id: K-2
title: The draft is not better than nothing
fires_when: a.results.short.high < a.results.plain
payloads:
  a: payloads/acceptance/lengths.json
---
"""

ERRATUM = f"""---
id: E-1
finding: F-01
statement: gain
date: {datetime.date.today().isoformat()}
kind: wording
reason: "Read: its rate of tokens."
payloads: {{}}
---
"""


def files() -> dict[str, str | bytes | None]:
    """What is added to the sample record."""
    text = json.dumps(ALPHA, indent=2) + "\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {
        "payloads/acceptance/lengths.json": text,
        "payloads/SHA256SUMS": f"{digest}  payloads/acceptance/lengths.json\n",
        "site_src/figures.md": PAGE,
        "findings/K-2.md": KILL,
        "findings/errata/E-1.md": ERRATUM,
    }
