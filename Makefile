.DEFAULT_GOAL := help
PYTHON := .venv/bin/python

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

.PHONY: proto
proto: ## Generate orchestration/pb from the .proto files
	$(PYTHON) proto/generate.py

.PHONY: proto-check
proto-check: ## Lint the .proto files and check that orchestration/pb is current
	.venv/bin/buf lint proto
	.venv/bin/buf format --diff --exit-code --path proto/submind proto
	$(PYTHON) proto/generate.py --check
