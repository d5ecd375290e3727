# make site   environment, install, build the bundled archive, say where the site is
# make test   install what the tests need (a browser included) and run all of them
# make trackers  an environment with the trackers' own packages and verl's Tracking, which the tests write with
# make lint   formatting, style, types, layers
# make bench  the measurements behind ARCHITECTURE.md, as ratios
# make detection  how well the rules detect, on simulated runs; writes the scorecard of the rules' pages and
#                 fails where a target is missed
# make runs   train the demo runs again (tests/tinyrl)

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SEEDS  ?= 3
SCORECARD ?= sitegen/rules/scorecard.json
TRACKERS := $(VENV)/trackers
NODE   := $(BIN)/python tests/publishing/npm.py

.PHONY: site serve test lint trackers bench detection runs clean

site: $(VENV)/.installed
	$(BIN)/sitegen build runs -o site
	@echo
	@echo "The site is in site/. To read it:  $(BIN)/sitegen serve runs"

serve: $(VENV)/.installed
	$(BIN)/sitegen serve runs

test: $(VENV)/.test $(TRACKERS)/.installed lint
	CHROMIUM="$$(tests/browser.sh $(BIN)/python)" $(BIN)/pytest -n auto --dist loadgroup

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The packages that write what is read: they need versions that the rest of the tests could not have.
trackers: $(TRACKERS)/.installed

bench: $(VENV)/.test
	$(BIN)/python -m tests.bench

# Rules are tuned on other seeds: python -m tests.detection --seeds dev --list
detection: $(VENV)/.test
	@mkdir -p $(dir $(SCORECARD))
	$(BIN)/python -m tests.detection --seeds test --runs $(SEEDS) --json $(SCORECARD)

runs: $(VENV)/.installed
	$(BIN)/python -m tests.tinyrl runs

clean:
	rm -rf $(VENV) .sitegen site tests/publishing/node_modules templates/assets/lib sitegen/packaging/.fetched

# Python >= 3.11 is asked for here, where a message can still say so.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "sitegen needs Python >= 3.11; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 site"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' || { echo "the module venv is missing. Try: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml sitegen/packaging/package-lock.json | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

$(VENV)/.test: pyproject.toml tests/publishing/package-lock.json | $(VENV)/.installed
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test]'
	$(NODE) ci --prefix tests/publishing
	@touch $@

$(TRACKERS)/.installed: tests/trackers/requirements.txt | $(VENV)/bin/python
	$(BIN)/python -m venv $(TRACKERS)
	$(TRACKERS)/bin/python -m pip install -q --disable-pip-version-check -r tests/trackers/requirements.txt
	$(TRACKERS)/bin/python -m pip install -q --disable-pip-version-check --no-deps "verl>=0.9.1,<0.10"
	@touch $@
