# Everything runs on the Node that npm put into node_modules/.bin, or on the machine's own where that one is new enough
# and npm has none for the platform. One step at a time, also under `make -j`: the steps use all cores themselves.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

MACHINE_PATH := $(PATH)
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

# A copy of the lockfile that node_modules was made from: a lockfile that is only newer installs nothing.
INSTALLED := node_modules/.installed-lock.json

UNIT := 'src/**/*.test.ts' 'tools/**/*.test.ts' 'controlplane/**/*.test.ts' 'tests/kit/**/*.test.ts'
CLUSTER := 'tests/cluster/**/*.test.ts'
FAULTS := 'tests/faults/**/*.test.ts'

# Test files that run at once. Each cluster or fault test has a control plane of its own, about 600 MB.
JOBS ?= 2
RUN_TESTS := node --import ./tools/time-limit.ts --test --test-reporter=spec --test-timeout=600000 --test-concurrency=$(JOBS)

##@ Test

.PHONY: test
test: lint controlplane ## Run everything: lint, unit, cluster and fault tests
	$(RUN_TESTS) $(UNIT) $(CLUSTER) $(FAULTS)

.PHONY: test-unit
test-unit: $(INSTALLED) ## Run the tests that need no cluster (seconds)
	$(RUN_TESTS) $(UNIT)

.PHONY: test-cluster
test-cluster: controlplane ## Run the stories on a real API server (minutes)
	$(RUN_TESTS) $(CLUSTER)

.PHONY: test-faults
test-faults: controlplane ## Run the stories with crashes, cuts and lost answers (minutes)
	$(RUN_TESTS) $(FAULTS)

.PHONY: bench
bench: controlplane ## Measure memory, stalls and cost per write, side by side with Go
	node bench/main.ts

##@ Write

.PHONY: lint
lint: $(INSTALLED) ## Check types, lint, format and the size of files and functions
	tsc --noEmit
	oxlint --type-aware --deny-warnings
	biome format

.PHONY: fmt
fmt: $(INSTALLED) ## Format the sources
	biome format --write

.PHONY: manifests
manifests: $(INSTALLED) ## Write deploy/ from the schemas and the controller definitions
	node tools/manifests.ts

##@ Cluster

.PHONY: controlplane
controlplane: $(INSTALLED) ## Build the control plane's programs (once per machine and version, with Go)
	node controlplane/build.ts

.PHONY: cluster-up
cluster-up: controlplane ## Start a real control plane with simulated nodes on this machine
	node controlplane/up.ts

.PHONY: cluster-down
cluster-down: $(INSTALLED) ## Stop it and remove its data
	node controlplane/down.ts

##@ Rest

.PHONY: clean
clean: ## Remove what was made in this checkout (the cache of control-plane programs stays)
	rm -rf build node_modules

.PHONY: help
help: ## Show this help
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# npm runs on the machine's own Node, 20 or newer, whose age it would warn about: only errors are shown. A platform
# package that could not be installed is silent, so the Node that came out is checked before anything runs on it.
$(INSTALLED): package-lock.json
	@command -v npm > /dev/null || { echo 'npm is missing: install Node 20 or newer with npm, then run make again' >&2; exit 1; }
	@cmp -s $< $@ || { echo 'Installing packages with npm (once, about 300 MB) ...' && PATH='$(MACHINE_PATH)' npm ci --loglevel=error; }
	@node tools/check-node.cjs
	@cp $< $@
