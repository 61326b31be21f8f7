# Everything a newcomer, a developer and CI run. `make run` needs Python 3.11+ and nothing else.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8000
# The benchmarks' interpreter: the system's, which is built with optimisation as that of the image is.
MEASURED_PYTHON ?= $(shell /usr/bin/python3 -c 'import sys; exit(sys.version_info < (3, 11))' 2> /dev/null && echo /usr/bin/python3 || echo $(PYTHON))
FAULT_SECONDS ?= 150
HOURS ?= 8
ROLE ?= full key
BACKENDS ?= embedded
BIN = $(VENV)/bin
REPORTS = build/contract
CONTRACT = $(BIN)/pytest -n auto --dist=worksteal contract-tests
MANIFESTS = $(filter-out %/kustomization.yaml,$(wildcard deploy/kubernetes/base/*.yaml deploy/kubernetes/overlays/*/*.yaml))

.PHONY: run install install-dev check test contract contract-long contract-serve lies sdks faults screenshots bench format release-document constraints migration clean

run: install  ## Start the whole service with a demo team; honours PORT
	PORT=$(PORT) exec $(BIN)/monitoring dev

install: $(VENV)/.installed
install-dev: $(VENV)/.installed-dev

$(VENV)/.installed: constraints.txt pyproject.toml
	@echo "Installing into $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes -r constraints.txt
	@$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed constraints-dev.txt
	@$(BIN)/python -m pip install --quiet --require-hashes -r constraints-dev.txt
	@touch $@

check: install-dev  ## Style, types, import direction, the document and what it breaks, the docs, what is deployed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/openapi-spec-validator openapi.yaml
	PATH="$(abspath $(BIN)):$$PATH" contract-tests/lint/run
	$(BIN)/python contract-tests/breaking_changes.py
	$(BIN)/python docs/check.py
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec compose.yaml
	$(BIN)/kubernetes-validate --strict --quiet $(MANIFESTS)

test: install-dev  ## The whole suite, twice; installs PostgreSQL, Redis, Apertium and Chromium when missing (Debian)
	.ci/install-engines
	$(BIN)/pytest -n auto --backends=embedded
	$(BIN)/pytest -n auto --backends=production

contract: install-dev  ## Prove on both backends that the running service and openapi.yaml say the same
	.ci/install-engines
	rm -rf $(REPORTS)
	CONTRACT_REPORTS=$(REPORTS) $(CONTRACT) --backends=embedded --junitxml=$(REPORTS)/junit-embedded.xml
	CONTRACT_REPORTS=$(REPORTS) $(CONTRACT) --backends=production --junitxml=$(REPORTS)/junit-production.xml
	PYTHONPATH=tests $(BIN)/python contract-tests/seen.py $(REPORTS)/seen

contract-long: install-dev  ## Fuzz with new seeds for HOURS; stops at the first failure
	.ci/install-engines
	HOURS=$(HOURS) $(BIN)/python contract-tests/fuzz_for_hours.py

contract-serve: install-dev  ## Serve what ROLE was fuzzed with on PORT, to repeat a failure's curl lines
	PYTHONPATH=tests $(BIN)/python contract-tests/serve_role.py "$(ROLE)" $(PORT) --backends=$(BACKENDS)

lies: install-dev  ## Plant every lie of contract-tests/lies.py in a copy, and see that the suite catches it
	$(BIN)/pytest -n auto contract-tests/every_lie_is_caught.py

sdks: install-dev build/sdks/.installed  ## Generate six SDKs, compile them, and run journeys and examples with them
	$(BIN)/python sdks/build.py
	$(BIN)/pytest -n 2 sdks

build/sdks/.installed: sdks/install-tools sdks/requirements.txt sdks/package.json sdks/package-lock.json sdks/tsconfig.json
	@sdks/install-tools
	@mkdir -p $(@D)
	@$(BIN)/python -m venv $(@D)/venv
	@$(@D)/venv/bin/python -m pip install --quiet --require-hashes -r sdks/requirements.txt
	@cp sdks/.npmrc sdks/package.json sdks/package-lock.json sdks/tsconfig.json $(@D)
	@npm ci --prefix $(@D) --loglevel=error > /dev/null
	@touch $@

faults: install-dev  ## Break everything the service stands on, for FAULT_SECONDS, and see that nothing is lost
	.ci/install-engines
	$(BIN)/pytest faults
	$(BIN)/python faults/run.py --seconds $(FAULT_SECONDS) $(if $(FAULT_SEED),--seed $(FAULT_SEED))

screenshots: install-dev  ## Take pictures of every page of the app, for docs/app.md
	.ci/install-engines
	PYTHONPATH=tests $(BIN)/python docs/screenshots.py

bench: install-dev build/bench/.installed  ## Measure the service beside its peers; QUICK=1 takes minutes, ONLY=api,checks parts
	.ci/install-engines
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python benchmarks/side_by_side.py $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) $(if $(HEALTHCHECKS),--healthchecks $(HEALTHCHECKS)) $(if $(UPTIME_KUMA),--uptime-kuma $(UPTIME_KUMA))

build/bench/.installed: Makefile constraints.txt pyproject.toml benchmarks/requirements.txt benchmarks/install-exporter
	@mkdir -p $(@D)
	@benchmarks/install-exporter $(@D)/blackbox_exporter
	@$(BIN)/uv venv --quiet --clear --no-python-downloads --python $(MEASURED_PYTHON) $(@D)/service
	@$(BIN)/python -m pip --python $(@D)/service/bin/python install --quiet --require-hashes -r constraints.txt
	@$(BIN)/python -m pip --python $(@D)/service/bin/python install --quiet --no-deps --editable .
	@$(BIN)/uv venv --quiet --clear --no-python-downloads --python $(MEASURED_PYTHON) $(@D)/peers
	@$(BIN)/python -m pip --python $(@D)/peers/bin/python install --quiet --require-hashes -r benchmarks/requirements.txt
	@touch $@

format: install-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

release-document: install-dev  ## Keep openapi.yaml as what later versions must not break
	$(BIN)/python contract-tests/breaking_changes.py
	cp openapi.yaml contract-tests/released/openapi.yaml

constraints: install-dev  ## Pin what pyproject.toml allows: versions and hashes, no addresses
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header pyproject.toml -o constraints.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --extra dev -c constraints.txt pyproject.toml -o constraints-dev.txt
	cd sdks && $(abspath $(BIN))/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header requirements.in -o requirements.txt
	cd benchmarks && $(abspath $(BIN))/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header requirements.in -o requirements.txt

migration: install-dev  ## make migration NAME=add_monitor_tags
	$(BIN)/python -W ignore -m monitoring.backends.schema $(NAME)
	$(BIN)/ruff format --quiet src/monitoring/backends/migrations

clean:
	rm -rf $(VENV) build dist *.egg-info src/*.egg-info
