# Everything runs on the Node that npm put into node_modules/.bin, whatever `node` the machine has.
SHELL := /bin/bash
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
STAMP := node_modules/.package-lock.json
TEST := node --test --test-reporter=spec

.PHONY: help
help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  \033[1m%-14s\033[0m %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# npm is run by the machine's own Node (20 or newer). An optional package that failed to install is silent, so its
# result is checked: the wrong Node would fail later with a syntax error that nobody understands.
$(STAMP): package.json package-lock.json
	npm ci --loglevel=error
	@node tools/check-node.cjs
	@touch $@

.PHONY: lint fmt
lint: $(STAMP) ## Check types, lint, format and the size of files and functions
	tsc --noEmit
	oxlint --type-aware --deny-warnings
	biome format

fmt: $(STAMP) ## Format the sources
	biome format --write

.PHONY: clean
clean: ## Remove what was built in this checkout (the cache of control-plane programs stays)
	rm -rf build node_modules
