# Everything runs inside .venv, which is made on first use and refreshed only when the
# package's metadata or a C source changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PACKAGES := workbench reports abstraction reach simulate models
C_SOURCES := $(wildcard */*.c */*.h */*/*.c */*/*.h)
WORKERS ?= 2

# Tests start the command many times: let Python keep its compiled modules.
export PYTHONDONTWRITEBYTECODE :=

FOLDER ?= out/project
TESTS ?= tests

.DEFAULT_GOAL := help
.PHONY: help venv serve vscode demo test test-all coverage mutants bench lint clean

help: ## say what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

venv: $(INSTALLED) ## create .venv and install the project into it

$(INSTALLED): pyproject.toml setup.py build_studio.py $(C_SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

serve: $(INSTALLED) ## open the workbench in the browser; FOLDER=... is the project
	@mkdir -p $(FOLDER)
	$(BIN)/python build_studio.py
	$(BIN)/workbench serve $(FOLDER)

vscode: ## pack the extension for VS Code (needs npm)
	cd workbench/editors/vscode && npm ci --no-audit --no-fund && npm run package

lint: $(INSTALLED) ## format, style, types and the import order of the packages
	$(BIN)/ruff format --check $(PACKAGES) tests setup.py build_studio.py
	$(BIN)/ruff check $(PACKAGES) tests setup.py build_studio.py
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

test: lint ## lint and the quick tests
	HYPOTHESIS_PROFILE=ci $(BIN)/pytest -n $(WORKERS) -m "not slow"

test-all: lint ## lint and every test, the slow ones included
	HYPOTHESIS_PROFILE=ci $(BIN)/pytest -n $(WORKERS)

coverage: $(INSTALLED) ## what the quick tests reach; a page in out/coverage/html
	@mkdir -p out/coverage
	HYPOTHESIS_PROFILE=ci $(BIN)/pytest -n $(WORKERS) -m "not slow" $(TESTS) \
	  --cov --cov-report=term --cov-report=html

bench: $(INSTALLED) ## measure beside other tools; prints tables, writes docs/benchmarks*.md
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/pytest tests/benchmarks -s
	$(BIN)/python tests/benchmarks/simulation/measure.py
	$(BIN)/python -m tests.benchmarks.falsification.measure
	$(BIN)/python -m tests.benchmarks.reachability.measure

demo: $(INSTALLED) ## prove the platoon safe, break its twin with weak brakes; reports in out/demo
	@mkdir -p out/demo
	$(BIN)/workbench verify platoon -p "no collision" --certificate out/demo/platoon.certificate.json
	$(BIN)/workbench recheck platoon out/demo/platoon.certificate.json
	$(BIN)/workbench report platoon platoon_weak -o out/demo || test $$? -eq 10  # 10: falsified
	@echo "Open out/demo/index.html in a browser: verdicts, evidence, plots and replay of both."

clean: ## remove everything that can be made again
	rm -rf workbench/studio/bundle workbench/studio/node_modules
	rm -rf build dist out *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis $(VENV)
	find $(PACKAGES) tests -name __pycache__ -type d -prune -exec rm -rf {} +
	find $(PACKAGES) -name '*.so' -delete
