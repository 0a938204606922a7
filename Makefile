# Set-up, runs and checks. A fresh machine needs Python 3.11 or later and make.
# Another interpreter, another place for the virtual environment: make test PYTHON=python3.12 VENV=/tmp/npu-sim

# The first of these that is new enough.
CANDIDATES := python3 python3.11 python3.12 python3.13 python3.14 python
IS_NEW_ENOUGH := -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
PYTHON ?= $(firstword $(shell for p in $(CANDIDATES); do $$p $(IS_NEW_ENOUGH) && echo $$p; done))
VENV ?= .venv
BIN := $(VENV)/bin
RUNTIME_STAMP := $(VENV)/.installed
TEST_STAMP := $(VENV)/.installed-test
# One thread: the matrix products are small, and results are timed in CPU seconds.
export OPENBLAS_NUM_THREADS := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test test-slow check bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

run: $(RUNTIME_STAMP) ## classify the embedded digits on the simulated NPU; compare the three preferences
	$(BIN)/npu-sim run

test: check ## all checks (style, types, imports) and the tests but the slow ones
	$(BIN)/python -m pytest

check: $(TEST_STAMP) ## style, types and import contracts only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-slow: $(TEST_STAMP) ## the slow suites: thousands of random cases, every network
	$(BIN)/python -m pytest -m slow

bench: $(RUNTIME_STAMP) ## compile and run the reference networks; CPU seconds, memory, cycles
	$(BIN)/npu-sim bench

clean: ## remove the virtual environment, outputs and caches
	rm -rf $(VENV) out .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps say which extras are installed; a changed pyproject.toml installs again.
$(RUNTIME_STAMP): $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(TEST_STAMP): $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	@touch $@ $(RUNTIME_STAMP)

$(BIN)/python:
	@test -n "$(PYTHON)" && $(PYTHON) $(IS_NEW_ENOUGH) || { \
	  echo "npu-sim needs Python 3.11 or later; name one that is: make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
