# `make demo` and `make test` work on a machine that has only Python, pip and make.
# The virtual environment is made once, and again only when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check docs bench picture clean help
help:
	@echo "make demo    train on the bundled digits and show what came of it"
	@echo "make test    run all tests"
	@echo "make check   lint, types, layers"
	@echo "make docs    build the documentation into .venv/site; a broken link is an error"
	@echo "make bench   measure, write benchmarks/results.json and benchmarks/RESULTS.md"
	@echo "make picture draw the pictures of the README anew"

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

# numba caches each compiled loop by its own file alone: when one of them changes, all are compiled anew.
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

bench: $(VENV)/.test $(VENV)/.loops
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks scripts -name __pycache__ -prune -exec rm -rf {} +

# The pictures of the README and of the documentation, from run files, and the page of each experiment.
picture: $(VENV)/.test $(VENV)/.loops
	for experiment in svm network stragglers delays; do \
	  $(BIN)/paraactive reproduce $$experiment --scale small --out $(VENV)/reproduce/$$experiment || exit 1; \
	  cp $(VENV)/reproduce/$$experiment/*.svg docs/figures/; \
	  cp $(VENV)/reproduce/$$experiment/$$experiment.json docs/figures/; \
	done
