# Everything a newcomer, a developer and CI run. `make run` needs Python 3.11+ and nothing else.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8000
FAULT_SECONDS ?= 150
BIN = $(VENV)/bin
MANIFESTS = $(filter-out %/kustomization.yaml,$(wildcard deploy/kubernetes/base/*.yaml deploy/kubernetes/overlays/*/*.yaml))

.PHONY: run install install-dev check test contract faults format constraints migration clean

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

check: install-dev  ## Style, types, import direction, the document, the docs, what is deployed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/openapi-spec-validator openapi.yaml
	$(BIN)/python docs/check.py
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec compose.yaml
	$(BIN)/kubernetes-validate --strict --quiet $(MANIFESTS)

test: install-dev  ## The whole suite, twice; installs PostgreSQL, Redis and Apertium when missing (Debian)
	.ci/install-engines
	$(BIN)/pytest -n auto --backends=embedded
	$(BIN)/pytest -n auto --backends=production

contract: install-dev  ## Prove that the running service and openapi.yaml say the same
	$(BIN)/pytest -n auto contract-tests

faults: install-dev  ## Break everything the service stands on, for FAULT_SECONDS, and see that nothing is lost
	.ci/install-engines
	$(BIN)/pytest faults
	$(BIN)/python faults/run.py --seconds $(FAULT_SECONDS) $(if $(FAULT_SEED),--seed $(FAULT_SEED))

format: install-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

constraints: install-dev  ## Pin what pyproject.toml allows: versions and hashes, no addresses
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header pyproject.toml -o constraints.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --extra dev -c constraints.txt pyproject.toml -o constraints-dev.txt

migration: install-dev  ## make migration NAME=add_monitor_tags
	$(BIN)/python -W ignore -m monitoring.backends.schema $(NAME)
	$(BIN)/ruff format --quiet src/monitoring/backends/migrations

clean:
	rm -rf $(VENV) build dist *.egg-info src/*.egg-info
