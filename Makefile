.PHONY: help run test test-all quick fuzz record check fix bench samples pictures lock clean
UV := .uv/bin/uv
PORT ?= 8501
ADDRESS ?= localhost
WORKERS ?= auto
MINUTES ?= 10
# Rewritten assertions are kept, whatever the shell says of bytecode: they are half of finding the tests.
PYTEST := PYTHONDONTWRITEBYTECODE= .venv/bin/python -m pytest --numprocesses $(WORKERS) --dist worksteal -rfE

help:  ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

.uv/bin/uv: tools/bootstrap.sh
	@sh tools/bootstrap.sh && touch -c .uv/bin/uv

.venv/.run: .uv/bin/uv pyproject.toml uv.lock
	@$(UV) sync --locked --no-dev --inexact --compile-bytecode && touch $@

.venv/.dev: .uv/bin/uv pyproject.toml uv.lock
	@$(UV) sync --locked --compile-bytecode && touch $@ .venv/.run
	@# Finding the tests compiles them: once here, and not by every worker of the first run at the same time.
	@PYTHONDONTWRITEBYTECODE= .venv/bin/python -m pytest --collect-only -qq > /dev/null 2>&1 || true

run: .venv/.run  ## Set up, then start the app on http://localhost:8501 (PORT=, ADDRESS=)
	@.venv/bin/stethoscope serve --address $(ADDRESS) --port $(PORT)

test: .venv/.dev  ## Set up, then run every test, browser tests included (WORKERS=)
	@sh tools/chromium.sh
	@$(PYTEST)

test-all: .venv/.dev  ## The same with every sweep, every job run by a worker, and examples drawn at random
	@sh tools/chromium.sh
	@STETHOSCOPE_TEST_ALL=1 STETHOSCOPE_TEST_EXAMPLES=5 $(PYTEST)

quick: .venv/.dev  ## Within 90 s: lint, types, contracts, and the tests nearest to what you changed
	@.venv/bin/python -m tools.quick

fuzz: .venv/.dev  ## Let hypothesis look for what breaks a reader, for MINUTES (10)
	@.venv/bin/python -m tools.fuzz --minutes $(MINUTES)

record: .venv/.dev  ## Record the answers of workers again where the code has left them behind
	@sh tools/chromium.sh
	@.venv/bin/python -m tools.record

check: .venv/.dev  ## Lint, formatting, types, who may import whom
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports --no-logo

fix: .venv/.dev  ## Repair what lint and formatting can repair; write anew what is made of the code
	@.venv/bin/ruff check --fix .
	@.venv/bin/ruff format .
	@.venv/bin/python -m tools.check_pages
	@.venv/bin/python -m tools.rooms

bench: .venv/.dev  ## Run the benchmarks; prints JSON
	@sh tools/chromium.sh
	@.venv/bin/python -m benchmarks

samples: .venv/.dev  ## Build the sample models again
	@.venv/bin/python -m sample_models.build

pictures: .venv/.dev  ## Take the pictures of the documentation again
	@sh tools/chromium.sh
	@.venv/bin/python -m tools.screenshots

lock: .uv/bin/uv  ## Resolve dependencies again
	@$(UV) lock

clean:  ## Remove what was set up
	rm -rf .uv .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
