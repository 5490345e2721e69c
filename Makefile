# What one does with submind. `make` alone lists the targets.

VENV       ?= .venv
PYTHON     ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3)
BIN        := $(VENV)/bin
READY      := $(VENV)/.ready
CODE       := actors environment orchestration
EXAMPLE    := examples/day.jsonl
UTTERANCES ?= $(EXAMPLE)
MOMENTS    ?=
PYTEST     ?=
# Files that are tested at a time: two cores are then hardly ever idle.
JOBS       ?= 3
CLUSTER    ?= ../shared/kubernetes/cluster
BUILD      ?= docker build
REGISTRY   ?= localhost
TAG        ?= dev

.DEFAULT_GOAL := help
.PHONY: help setup run test test-servers test-cluster test-soak test-model lint format types lines check proto proto-check docs docs-check bench screenshots chromium servers image images deploy-dev lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## make the virtual environment, from the lock file

$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or 3.12 is needed: install it, or name it with PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' \
	  || { echo "$(PYTHON) is $$($(PYTHON) -V): Python 3.11 or 3.12 is needed, name it with PYTHON=..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "no virtual environment could be made: on Debian, apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

run: $(READY) ## start a mind on the example day and show its stream, here and on a page
	@$(BIN)/submind run --example

test: $(READY) ## run the tests that need one machine; without chromium or servers all but theirs (PYTEST="-k watch", JOBS=0: one by one)
	@if .ci/chromium; then page=; else page=--ignore=tests/orchestration/page; echo "going on without the page"; fi; \
	  .ci/servers || { echo "going on without Cassandra and etcd"; export SUBMIND_TEST_SERVERS=none; }; \
	  $(BIN)/python -m pytest --numprocesses $(JOBS) -m "not (servers or cluster or soak or model)" $$page $(PYTEST)

test-servers: $(READY) ## run what is tested against real Cassandras and etcds
	@.ci/servers
	@$(if $(SUBMIND_TEST_CASSANDRA),,$(BIN)/python -m tests.servers --for) \
	  $(BIN)/python -m pytest --numprocesses $(JOBS) -m "servers" $(PYTEST)

test-cluster: $(READY) ## run what is tested on Kubernetes: that of SUBMIND_TEST_KUBERNETES, or one started here by CLUSTER (as root)
	@.ci/chromium
	@$(if $(SUBMIND_TEST_KUBERNETES),,.ci/kubernetes with $(CLUSTER)) $(BIN)/python -m pytest -m "cluster" $(PYTEST)

test-soak: $(READY) ## run what takes many minutes: all seeds, and minds that live long or lose parts all the time
	@.ci/servers
	@$(BIN)/python -m pytest --numprocesses $(JOBS) -m "soak" $(PYTEST)

test-model: $(READY) ## run what asks a real language or sentence model; they are fetched the first time (150 MB)
	@.ci/model "$(PYTHON)"
	@$(BIN)/python -m pytest -m "model" $(PYTEST)

lint: $(READY) ## check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(READY) ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(READY) ## check types, strictly
	$(BIN)/mypy

lines: ## count the lines of code, and see that there are not more than there may be
	@$(PYTHON) .ci/lines.py --rooms

check: lint types proto-check docs-check lines ## everything that is checked but the tests

proto: $(READY) ## generate orchestration/pb from proto/
	$(BIN)/python proto/generate.py

proto-check: $(READY) ## lint the proto files, see whether orchestration/pb is current
	$(BIN)/buf lint proto
	$(BIN)/buf format --diff --exit-code --path proto/submind proto
	$(BIN)/python proto/generate.py --check

docs: $(READY) ## generate docs/configuration.md and docs/metrics.md from the code
	$(BIN)/python docs/reference.py
	$(BIN)/python docs/metrics.py

docs-check: $(READY) ## see whether docs/configuration.md and docs/metrics.md are current
	$(BIN)/python docs/reference.py --check
	$(BIN)/python docs/metrics.py --check

bench: $(READY) ## print the figures (UTTERANCES=FILE MOMENTS=FILE measure attention coverage as well)
	@for bench in $$(ls benchmarks/*.py | grep -vE '/(__init__|corpus|worlds|structure|curves|incident_streams|thoughts|loop_month|loop_worlds|coverage|replay|service|talk)\.py$$'); do \
	  echo "== $$bench"; $(BIN)/python $$bench || exit 1; done
	@echo "== benchmarks/replay.py"; $(BIN)/python benchmarks/replay.py $(UTTERANCES)
	@if [ -n "$(MOMENTS)" ]; then echo "== benchmarks/coverage.py"; \
	  $(BIN)/python benchmarks/coverage.py $(UTTERANCES) $(MOMENTS); \
	  echo "== benchmarks/talk.py"; $(BIN)/python benchmarks/talk.py $(UTTERANCES); fi

screenshots: $(READY) chromium ## take the pictures of the page in docs/images
	$(BIN)/python docs/screenshots.py

chromium: ## install the browser that the page is tested in, if it is missing (Debian, as root)
	@.ci/chromium

servers: $(READY) ## start a Cassandra and an etcd to develop and test against, until interrupted
	@.ci/servers
	@$(BIN)/python -m tests.servers

image: ## build the image of a mind (BUILD="docker build" by default, TAG=dev)
	$(BUILD) -f k8s/image/Dockerfile -t $(REGISTRY)/submind:$(TAG) .

images: image $(READY) ## build that and the images of Cassandra and etcd for development
	@.ci/servers
	rm -rf build/cassandra && mkdir -p build
	cp -r "$$($(BIN)/python -c 'from tests.servers.cassandra import jars; print(jars())')" build/cassandra
	$(BUILD) -f k8s/image/cassandra.Dockerfile -t $(REGISTRY)/submind-cassandra:$(TAG) .
	$(BUILD) -f k8s/image/etcd.Dockerfile -t $(REGISTRY)/submind-etcd:$(TAG) .

deploy-dev: ## bring up a mind on the cluster of KUBECONFIG, with a Cassandra and an etcd of its own
	kubectl -n submind delete job migrate bootstrap --ignore-not-found
	kubectl apply -k k8s/overlays/dev

lock: ## pin requirements.lock anew (see CONTRIBUTING.md)
	@.ci/lock "$(PYTHON)"

clean: ## remove what was built, and keep minds
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage coverage.xml htmlcov build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
