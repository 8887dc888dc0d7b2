# Each target sets up what it needs: .venv is made once, and again when the lock file or the build changes.

PYTHON ?= python3
JOBS ?= 2
BIN := .venv/bin
READY := .venv/.ready
REMEDY := Name a newer one: make PYTHON=/path/to/python3.11 $(or $(MAKECMDGOALS),help)
BENCHMARKS := $(filter-out benchmarks/_%,$(wildcard benchmarks/*.py))

.DEFAULT_GOAL := help
.PHONY: help demo test test-all bench docs lint lock clean
.DELETE_ON_ERROR:

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' Makefile

demo: $(READY)  ## a portrait before and after, in demo/
	$(BIN)/elsewho demo --overwrite

test: $(READY)  ## the tests that take seconds, on two cores
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow"

test-all: $(READY)  ## every test
	$(BIN)/python -m pytest -n $(JOBS)

bench: $(READY)  ## every script in benchmarks/; those that need ../shared/data are skipped where it is absent
	@for script in $(BENCHMARKS); do \
	  if grep -q shared "$$script" && [ ! -d ../shared/data ]; then \
	    echo "$$script: skipped, it needs ../shared/data"; \
	  else \
	    echo "$$script"; $(BIN)/python "$$script" || exit 1; \
	  fi; \
	done

docs: $(READY)  ## check that links, commands and examples in the documentation hold
	$(BIN)/python tools/check_docs.py

lint: $(READY)  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lock: $(READY)  ## write requirements.lock anew from pyproject.toml
	CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe \
	  --strip-extras --extra dev --build-deps-for wheel --build-deps-for editable \
	  --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	  --output-file requirements.lock pyproject.toml

clean:  ## remove .venv, caches, builds and demo/; the networks under src/elsewho/find/weights stay
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist demo
	find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# Where the system's Python cannot make a whole virtual environment (Debian without python3-venv), its pip fills one.
$(READY): requirements.lock pyproject.toml hatch_build.py tools/embed_weights.py src/elsewho/find/weights.json
	@command -v $(PYTHON) > /dev/null || { echo "there is no $(PYTHON). $(REMEDY)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; \
	  v >= (3, 11) or sys.exit("elsewho needs Python 3.11 or newer; $(PYTHON) is %d.%d. $(REMEDY)" % v[:2])'
	$(PYTHON) -m venv .venv || { $(PYTHON) -m venv --without-pip .venv && \
	  $(PYTHON) -m pip --python $(BIN)/python install --quiet --require-hashes -r requirements.lock; }
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $(READY)
