# One task runner; `make help` lists what there is. Python 3.11 or newer and make are all it needs.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Package downloads trust what the machine trusts, also behind a proxy with its own authority.
export UV_SYSTEM_CERTS := true

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
PINS := requirements/constraints.txt
RUN_EXTRAS := redis,qdrant,s3
ALL_EXTRAS := redis,postgres,postgres-embedded,qdrant,s3,ocr,mcp,oidc,otel
PORT ?= 8000
DATA_DIR ?=
SEEDS ?= 2000
MINUTES ?= 10
TESTS ?= tests

.PHONY: help setup setup-dev run test lint format types arch check audit-dependencies simulate chaos bench docs site ui ui-dev clean

help:  ## list the tasks
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

.venv/bin/uv:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name one with PYTHON=..."; exit 1; }
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

.venv/.run: pyproject.toml $(PINS) | .venv/bin/uv
	@echo "setting up (.venv) ..."
	@$(BIN)/uv pip install --quiet --python $(BIN)/python -c $(PINS) -e '.[$(RUN_EXTRAS)]' || \
		$(BIN)/python -m pip install --quiet -c $(PINS) -e '.[$(RUN_EXTRAS)]'
	@touch $@

.venv/.dev: pyproject.toml $(PINS) | .venv/bin/uv
	@echo "setting up for development (.venv) ..."
	@$(BIN)/uv pip install --quiet --python $(BIN)/python -c $(PINS) -e '.[$(ALL_EXTRAS)]' --group dev || { \
		$(BIN)/python -m pip install --quiet --upgrade pip && \
		$(BIN)/python -m pip install --quiet -c $(PINS) -e '.[$(ALL_EXTRAS)]' --group dev; }
	@touch $@ .venv/.run

setup: .venv/.run  ## install what `make run` needs into .venv

setup-dev: .venv/.dev  ## install everything, tools included

run: .venv/.run  ## set up and start the service with its UI on http://127.0.0.1:8000 (PORT, DATA_DIR)
	@exec env PORT=$(PORT) $(if $(DATA_DIR),DATA_DIR=$(DATA_DIR),) $(BIN)/agentscope-rag serve

test: .venv/.dev  ## set up and run the whole suite (TESTS=path for a part)
	$(BIN)/python -m pytest $(TESTS) -n 2 --dist loadgroup --durations 15

lint: .venv/.dev  ## ruff and typos
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/typos

format: .venv/.dev  ## let ruff format and fix
	$(BIN)/ruff check --fix src tests benchmarks examples
	$(BIN)/ruff format src tests benchmarks examples

types: .venv/.dev  ## mypy --strict
	$(BIN)/mypy

arch: .venv/.dev  ## imports only go down
	$(BIN)/lint-imports

check: lint types arch test  ## everything CI runs

audit-dependencies: .venv/.dev  ## known vulnerabilities of what is pinned, where advisories can be reached (STRICT=1)
	$(BIN)/python requirements/audit.py $(if $(STRICT),--strict,)

simulate: .venv/.dev  ## the simulation with many seeds (SEEDS=2000)
	AGENTSCOPE_TEST_SEEDS=$(SEEDS) $(BIN)/python -m pytest tests/simulation -q -n 2

chaos: .venv/.dev  ## real processes killed at random (MINUTES=10)
	for backend in embedded redis postgres; do $(BIN)/python -m benchmarks.chaos --backend $$backend --minutes $(MINUTES); done

bench: .venv/.dev  ## all benchmarks, one JSON line each
	for script in benchmarks/bench_*.py; do $(BIN)/python -m benchmarks.$$(basename $$script .py); done
	for backend in sqlite postgres redis; do $(BIN)/python benchmarks/storage.py --backend $$backend; done

docs: .venv/.dev  ## write the generated reference pages
	$(BIN)/python docs/generate.py

site: .venv/.dev  ## build the documentation site into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

ui:  ## build the web UI into the package (needs Node and pnpm)
	cd examples/web_ui && pnpm install --frozen-lockfile && pnpm build

ui-dev:  ## the web UI with hot reload on http://localhost:5173
	cd examples/web_ui && pnpm install && pnpm dev

clean:  ## remove what the tasks above made
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
