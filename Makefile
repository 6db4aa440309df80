# `make demo` and `make test` work on a machine that has only Python, pip and make.
# The virtual environment is made once, and again only when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check bench clean help
help:
	@echo "make demo    train on the bundled digits and show what came of it"
	@echo "make test    run all tests"
	@echo "make check   lint, types, layers"
	@echo "make bench   measure, write benchmarks/results.json and benchmarks/RESULTS.md"

$(VENV)/.package: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

$(VENV)/.check: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[check]'
	@touch $@

demo: $(VENV)/.package
	@$(BIN)/paraactive demo

test: $(VENV)/.test
	$(BIN)/python -m pytest -q

check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --warnings
	$(BIN)/lint-imports

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .import_linter_cache
