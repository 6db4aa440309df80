# `make demo` and `make test` need only Python 3.11 or later (with venv and pip), make, and network access for the first call.
# The virtual environment is created once, and updated when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test check docs bench bench-full picture clean
help:
	@echo "make demo      train on the bundled digits and print a summary           about 10 s"
	@echo "make check     lint, types, import contract                              about 1 min"
	@echo "make docs      build the documentation into .venv/site                   about 5 s"
	@echo "make test      run all tests and doctests                                about 12 min"
	@echo "make picture   run the experiments, draw the figures of README and docs  minutes"
	@echo "make bench     measure in small, into .venv/quick                        about 10 min"
	@echo "make bench-full  measure all of it: RESULTS.md, README's table, picture  hours, nothing else running"
	@echo "make clean     remove .venv and all caches                               1 s"
	@echo
	@echo "Times are for two cores. The first call also installs packages into .venv, which takes minutes, and the first"
	@echo "run after a change of a compiled loop compiles for about half a minute."

$(VENV)/.package: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]' --constraint constraints.txt
	@touch $@

$(VENV)/.check: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[check]' --constraint constraints.txt
	@touch $@

$(VENV)/.bench: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]' --constraint constraints.txt
	@touch $@

# numba checks only the file of each compiled loop. When one such file changes, all loops must be compiled again.
LOOPS := $(shell grep -rlE "njit|intrinsic" --include=*.py src/paraactive)
$(VENV)/.loops: $(VENV)/.package $(LOOPS)
	@find src tests -name '*.nb[ic]' -delete
	@touch $@

demo: $(VENV)/.package $(VENV)/.loops
	@$(BIN)/paraactive demo

test: $(VENV)/.test $(VENV)/.loops
	$(BIN)/python -m pytest -q

check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --warnings
	$(BIN)/lint-imports

docs: $(VENV)/.check
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/.bench $(VENV)/.loops
	$(BIN)/python -m benchmarks --quick

bench-full: $(VENV)/.bench $(VENV)/.loops
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks scripts -name __pycache__ -prune -exec rm -rf {} +

# Draws the figures of README and docs from run files, and writes the page of each experiment.
picture: $(VENV)/.test $(VENV)/.loops
	for experiment in svm network stragglers delays; do \
	  $(BIN)/paraactive reproduce $$experiment --scale small --out $(VENV)/reproduce/$$experiment || exit 1; \
	  cp $(VENV)/reproduce/$$experiment/*.svg docs/figures/; \
	  cp $(VENV)/reproduce/$$experiment/$$experiment.json docs/figures/; \
	done
