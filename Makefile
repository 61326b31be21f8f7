# Everything a newcomer, a developer and CI run; `make` lists it. `make run` needs Python 3.11+ and nothing else.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8000
# The benchmarks' interpreter: the system's, which is built with optimisation as that of the image is.
MEASURED_PYTHON ?= $(shell /usr/bin/python3 -c 'import sys; exit(sys.version_info < (3, 11))' 2> /dev/null && echo /usr/bin/python3 || echo $(PYTHON))
FAULT_SECONDS ?= 150
ROLE ?= full key
BACKENDS ?= embedded
FUZZING_SEED ?= 1
BIN = $(VENV)/bin
REPORTS = build/contract-whole
# Tests wait for processes, servers and browsers, and a fuzzer for its service: three workers for two cores are quicker.
WORKERS ?= $$(((3 * $$(getconf _NPROCESSORS_ONLN) + 1) / 2))
SHARED_OUT = $(BIN)/pytest $(PYTEST_OPTIONS) -n $(WORKERS) --dist=worksteal
MANIFESTS = $(filter-out %/kustomization.yaml,$(wildcard deploy/kubernetes/base/*.yaml deploy/kubernetes/overlays/*/*.yaml))

# Modules are compiled once, whatever the caller's environment says: pytest compiles its tests for 6 s of CPU a worker.
unexport PYTHONDONTWRITEBYTECODE

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# uv believes the machine's authorities, as pip does: behind a proxy that reads TLS, its own are not enough.
export UV_SYSTEM_CERTS := 1

.DEFAULT_GOAL = help
.PHONY: help run install install-dev servers check check-code check-document check-deployment quick test test-servers contract test-whole contract-whole night contract-long contract-serve lies dist sdks faults soak image-test screenshots bench corpus coverage format release-document constraints migration clean

# Tests make thousands of small databases and files, and sync each. In memory, where there is such a folder, that is quick.
quick test test-servers test-whole contract contract-whole faults: export TMPDIR := $(firstword $(wildcard /dev/shm) $(TMPDIR) /tmp)

help:  ## List these commands
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/\1\t\2/p' Makefile | expand -t 18

run: install  ## Start the whole service with a demo team; honours PORT
	PORT=$(PORT) exec $(BIN)/monitoring dev

install: $(VENV)/.installed  ## Install the service into .venv
install-dev: $(VENV)/.installed-dev  ## Install what developing takes as well

servers:  ## Install the programs without which tests are skipped (Debian; root or sudo)
	.ci/install-servers

$(VENV)/.installed: constraints.txt pyproject.toml
	@echo "Installing into $(VENV): one minute or two ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes -r constraints.txt
	@$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

# constraints-dev.txt has all of constraints.txt. uv, itself from there, takes a tenth of pip's time; pip stands in
# where uv finds nothing, since pip has settings that uv does not read. It knows no overrides: it installs what is listed.
$(VENV)/.installed-dev: constraints-dev.txt constraints.txt pyproject.toml
	@echo "Installing what developing takes into $(VENV), about a gigabyte ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@sed -n '/^uv==/,/^[^ ]/{/^uv==/p;/^ /p}' constraints-dev.txt > $(VENV)/uv.txt
	@$(BIN)/python -m pip install --quiet --require-hashes -r $(VENV)/uv.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r constraints-dev.txt \
	    || $(BIN)/python -m pip install --quiet --no-deps --require-hashes -r constraints-dev.txt
	@$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $(VENV)/.installed $@

check: check-code check-document check-deployment  ## Style, types, import direction, the document and what it breaks, the docs, what is deployed

check-code: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check-document: install-dev
	$(BIN)/openapi-spec-validator openapi.yaml
	PATH="$(abspath $(BIN)):$$PATH" contract-tests/lint/run
	$(BIN)/python contract-tests/breaking_changes.py
	$(BIN)/python docs/check.py

check-deployment: install-dev
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec compose.yaml
	$(BIN)/kubernetes-validate --strict --quiet $(MANIFESTS)
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml examples/github-actions/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml

quick: install-dev  ## What changed since main in less than a minute; ROOM=checks for all tests of a room
	$(BIN)/python tests/quick.py $(ROOM)

test: install-dev  ## Test on the embedded backends; skips what needs a missing program, which `make servers` installs
	$(SHARED_OUT) --gate --backends=embedded

test-servers: install-dev servers  ## Test our SQL, locks, queues and files, and each operation, on PostgreSQL, Redis and S3
	$(SHARED_OUT) --gate --backends=production
	$(SHARED_OUT) --gate --backends=production contract-tests

contract: install-dev  ## Prove that the running service and openapi.yaml say the same; fuzzes with one seed
	FUZZING_SEED=$(FUZZING_SEED) $(SHARED_OUT) --gate --backends=embedded contract-tests

contract-whole: install-dev servers  ## The same on both backends, with every role, a new seed and the tools of others
	rm -rf $(REPORTS)
	CONTRACT_REPORTS=$(REPORTS) $(SHARED_OUT) contract-tests --backends=embedded --junitxml=$(REPORTS)/junit-embedded.xml
	CONTRACT_REPORTS=$(REPORTS) $(SHARED_OUT) contract-tests --backends=production --junitxml=$(REPORTS)/junit-production.xml
	PYTHONPATH=tests $(BIN)/python contract-tests/seen.py $(REPORTS)/seen
	$(BIN)/python contract-tests/tools_table.py contract-whole --check

test-whole: install-dev servers  ## Every test on both backends
	$(SHARED_OUT) --backends=embedded
	$(SHARED_OUT) --backends=production

night:  ## What the gate leaves out: everything on both backends, faults, SDKs, images; a line for each part
	.ci/night

contract-long: HOURS = 8
contract-long: install-dev servers  ## Fuzz with new seeds for HOURS; stops at the first failure
	HOURS=$(HOURS) $(BIN)/python contract-tests/fuzz_for_hours.py

contract-serve: install-dev  ## Serve what ROLE was fuzzed with on PORT, to repeat a failure's curl lines
	PYTHONPATH=tests $(BIN)/python contract-tests/serve_role.py "$(ROLE)" $(PORT) --backends=$(BACKENDS)

lies: install-dev  ## Plant every lie of contract-tests/lies.py in a copy, and see that the suite catches it
	$(BIN)/pytest -n auto contract-tests/every_lie_is_caught.py

dist: install-dev  ## Write what goes with a release into dist/: a Postman collection
	PATH="$(abspath $(BIN)):$$PATH" contract-tests/strangers/install
	@mkdir -p dist
	PATH="$(abspath $(BIN)):$$PATH" node contract-tests/strangers/make_collection.mjs openapi.yaml dist/monitoring.postman_collection.json

sdks: install-dev build/sdks/.installed  ## Generate SDKs, compile them where a compiler is to be had, and run journeys, recipes and examples
	$(BIN)/python sdks/build.py
	$(BIN)/pytest -n 2 sdks
	$(BIN)/python contract-tests/tools_table.py sdks --check

build/sdks/.installed: sdks/install-tools sdks/requirements.txt sdks/package.json sdks/package-lock.json sdks/tsconfig.json
	@sdks/install-tools
	@mkdir -p $(@D)
	@$(BIN)/python -m venv $(@D)/venv
	@$(@D)/venv/bin/python -m pip install --quiet --require-hashes -r sdks/requirements.txt
	@cp sdks/.npmrc sdks/package.json sdks/package-lock.json sdks/tsconfig.json $(@D)
	@npm ci --prefix $(@D) --loglevel=error > /dev/null
	@touch $@

soak: HOURS = 1
soak: install-dev servers  ## Run at a steady load for HOURS, and see that memory, files and tables stay as they are
	$(BIN)/python faults/soak.py --hours $(HOURS)

faults: install-dev servers  ## Break everything the service stands on, for FAULT_SECONDS, and see that nothing is lost
	$(BIN)/pytest faults
	$(BIN)/python faults/embedded.py $(if $(FAULT_SEED),--seed $(FAULT_SEED))
	$(BIN)/python faults/run.py --seconds $(FAULT_SECONDS) $(if $(FAULT_SEED),--seed $(FAULT_SEED))

image-test: install-dev build/image/.installed  ## Run compose.yaml from the built image, upgrade and break it; follow docs/running.md on a bare Debian (Debian, root)
	image-tests/install-podman
	$(BIN)/pytest -p no:randomly image-tests

build/image/.installed: image-tests/requirements.txt
	@mkdir -p $(@D)
	@$(BIN)/uv venv --quiet --clear $(@D)/venv
	@$(BIN)/python -m pip --python $(@D)/venv/bin/python install --quiet --require-hashes -r $<
	@touch $@

screenshots: install-dev servers  ## Take the pictures of the docs, and of every page of the app into build/screenshots (minutes)
	PYTHONPATH=tests $(BIN)/python docs/screenshots.py

bench: install-dev servers build/bench/.installed  ## Measure the service beside its peers; QUICK=1 takes minutes, ONLY=api,checks parts
	PYTHONPATH=tests PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python benchmarks/side_by_side.py $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) $(if $(UPTIME_KUMA),--uptime-kuma $(UPTIME_KUMA))

build/bench/.installed: Makefile constraints.txt pyproject.toml benchmarks/requirements.txt benchmarks/install-exporter benchmarks/install-go-peers benchmarks/install-image-python $(wildcard benchmarks/peers/go_*/*.go)
	@mkdir -p $(@D)
	@benchmarks/install-exporter $(@D)/blackbox_exporter
	@benchmarks/install-go-peers $(@D)/go
	@$(BIN)/uv venv --quiet --clear --no-python-downloads --python $(MEASURED_PYTHON) $(@D)/service
	@benchmarks/install-image-python $(@D)/debian13
	@! test -d $(@D)/debian13 || $(BIN)/uv venv --quiet --clear --no-python-downloads --python $(@D)/debian13/usr/bin/python3.13 $(@D)/image
	@for name in service $$(test ! -d $(@D)/debian13 || echo image); do \
	    $(BIN)/uv pip install --quiet --python $(@D)/$$name/bin/python --require-hashes -r constraints.txt \
	    || $(BIN)/python -m pip --python $(@D)/$$name/bin/python install --quiet --require-hashes -r constraints.txt || exit; \
	    $(BIN)/uv pip install --quiet --python $(@D)/$$name/bin/python --no-deps --editable . \
	    || $(BIN)/python -m pip --python $(@D)/$$name/bin/python install --quiet --no-deps --editable . || exit; done
	@$(BIN)/uv venv --quiet --clear --no-python-downloads --python $(MEASURED_PYTHON) $(@D)/peers
	@$(BIN)/python -m pip --python $(@D)/peers/bin/python install --quiet --require-hashes -r benchmarks/requirements.txt
	@touch $@

corpus: install-dev  ## Translate others' documents and count what stays intact; judge others' translations
	PATH="$(abspath $(BIN)):$$PATH" contract-tests/strangers/install
	benchmarks/corpus/install $(BIN) build/corpus
	PATH="$(abspath $(BIN)):$$PATH" tests/articles/exports/sites/eleventy/install
	PATH="$(abspath $(BIN)):$$PATH" tests/articles/exports/sites/astro/install
	PYTHONPATH=benchmarks:build/corpus/python $(BIN)/python -m corpus.check
	PYTHONPATH=benchmarks:build/corpus/python $(BIN)/python -m corpus.trees
	PYTHONPATH=benchmarks:build/corpus/python $(BIN)/python -m corpus.built
	PYTHONPATH=benchmarks $(BIN)/python -m corpus.judged

coverage: install-dev servers  ## Measure which lines and branches the embedded suite runs; no threshold
	$(BIN)/pytest -n auto --backends=embedded --cov --cov-report=term --cov-report=html:build/coverage

format: install-dev  ## Settle the style of everything
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

release-document: install-dev  ## Keep openapi.yaml as the released document, which later ones must not break
	$(BIN)/python contract-tests/breaking_changes.py
	rm contract-tests/released/openapi-*.yaml
	cp openapi.yaml contract-tests/released/openapi-$$(sed -n 's/^  version: //p' openapi.yaml).yaml

constraints: install-dev  ## Pin what pyproject.toml allows: versions and hashes, no addresses
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header pyproject.toml -o constraints.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --extra otel -c constraints.txt pyproject.toml -o constraints-otel.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --extra mcp -c constraints.txt pyproject.toml -o constraints-mcp.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --extra otel --extra mcp --extra dev -c constraints.txt pyproject.toml -o constraints-dev.txt
	cd sdks && $(abspath $(BIN))/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header requirements.in -o requirements.txt
	cd contract-tests/strangers && $(abspath $(BIN))/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header requirements.in -o requirements.txt
	cd image-tests && $(abspath $(BIN))/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header requirements.in -o requirements.txt
	cd benchmarks && $(abspath $(BIN))/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header requirements.in -o requirements.txt
	cd benchmarks/corpus && $(abspath $(BIN))/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header requirements.in -o requirements.txt

migration: install-dev  ## Write a migration: make migration NAME=add_monitor_tags
	$(BIN)/python -W ignore -m monitoring.backends.schema $(NAME)
	$(BIN)/ruff format --quiet src/monitoring/backends/migrations

clean:  ## Remove environments and what was built
	rm -rf $(VENV) build dist *.egg-info src/*.egg-info
