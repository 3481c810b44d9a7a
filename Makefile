# Every verb sets up what it needs. `make demo` and `make test` are all a fresh machine needs.
.PHONY: demo test checks tests lint types imports generate bench setup system lock clean
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
MINUTES ?= 3
SCENARIO ?= night
# one more than cores: many tests wait for servers
JOBS ?= 3

help:
	@echo "make demo      an emulated supernode and this host, watched and judged for $(MINUTES) minutes"
	@echo "make test      everything: style, types, layers, generated files, tests"
	@echo "make lint | types | imports | generate | bench"

# the environment: pinned, hashed, and this checkout in it
$(READY): requirements.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

setup: $(READY)

# real peers for the tests; installed where we may, else one line says how
PACKAGES := prometheus prometheus-alertmanager redis-server ethtool iproute2 \
	ibsim-utils opensm infiniband-diags lldpd snmp snmpd victoria-metrics influxdb \
	chromium fonts-wqy-microhei systemd
system:
	@sh tests/system-packages.sh $(PACKAGES)
	@sh tests/node-packages.sh tests/dashboards/schema tests/deploy/crds

demo: $(READY)
	$(BIN)/fabrichealth demo --scenario $(SCENARIO) --minutes $(MINUTES)

# what is written is read beside what runs: most of the tests wait for servers now and then
test: $(READY) system
	@$(MAKE) --no-print-directory --jobs 2 checks tests

checks: lint types imports fresh

tests: $(READY)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadscope --durations=15

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports

generate: $(READY)
	$(BIN)/fabrichealth generate

fresh: $(READY)
	$(BIN)/fabrichealth generate --check

bench: $(READY)
	$(BIN)/python -m benchmarks

# new pins, when a dependency is added or renewed; those of the container are among those of all
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --no-header
CONTAINER := deploy/container
lock:
	$(LOCK) --all-extras --group dev pyproject.toml -o requirements.txt
	$(LOCK) --all-extras -c requirements.txt pyproject.toml -o $(CONTAINER)/requirements.txt
	echo "hatchling" | $(LOCK) -c requirements.txt - -o $(CONTAINER)/build-requirements.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
