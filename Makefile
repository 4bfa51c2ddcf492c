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

UNIT := 'src/**/*.test.ts' 'tools/**/*.test.ts' 'controlplane/**/*.test.ts' 'bench/**/*.test.ts' 'tests/kit/**/*.test.ts'
PROGRAMS := 'tests/programs/**/*.test.ts'
CLUSTER := 'tests/cluster/**/*.test.ts'
FAULTS := 'tests/faults/**/*.test.ts'
CAMPAIGN := 'tests/campaign/**/*.test.ts'
NODES := 'tests/node/**/*.test.ts'

# Test files that run at once. Each cluster or fault test has a control plane of its own, about 600 MB.
JOBS ?= 2
RUN_TESTS := node --import ./tools/time-limit.ts --test --test-reporter=spec --test-timeout=600000 --test-concurrency=$(JOBS)
# Real nodes share the machine's kernel and its disk: one file at a time.
RUN_NODE_TESTS := $(RUN_TESTS) --test-concurrency=1

# What the control planes of a whole run leave behind, to be looked at in the end.
KEPT := $(CURDIR)/build/run

# A cluster is acted on only where the command line names it: a variable of the environment may mean something else.
ifneq ($(origin CONTEXT),command line)
override CONTEXT :=
endif
ifneq ($(origin NODE),command line)
override NODE :=
endif
IMG ?=
NAMESPACES ?=
NAMESPACE ?= default
MODELS ?=
CONTAINER_TOOL ?= docker
PLATFORMS ?= linux/amd64,linux/arm64
INSTALL := node tools/install/main.ts

##@ Run

.PHONY: run
ifeq ($(CONTEXT),)
run: controlplane ## Show a model's life on this machine, without a cluster (NODE=real: Linux, root); with CONTEXT=name run the operator against that one
	@node tools/run/main.ts $(if $(NODE),--node='$(NODE)')
else
run: $(INSTALLED)
	node src/operator/main.ts --context='$(CONTEXT)' $(ARGS)
endif

.PHONY: demo
demo: controlplane ## The same as run without a person: ends when the sample is Ready (NODE=real: and has answered)
	@node tools/run/main.ts --demo $(if $(NODE),--node='$(NODE)')

##@ Test

.PHONY: test
test: lint controlplane node-programs ## Run everything: lint, unit, cluster and fault tests, and real nodes on Linux as root
	@rm -rf $(KEPT)
	BATON_KEEP=$(KEPT) $(RUN_NODE_TESTS) $(NODES)
	BATON_KEEP=$(KEPT) $(RUN_TESTS) $(UNIT) $(PROGRAMS) $(CLUSTER) $(FAULTS) $(CAMPAIGN)
	@node tools/recorded/main.ts $(KEPT)

.PHONY: test-unit
test-unit: $(INSTALLED) ## Run the tests that need no cluster (seconds)
	$(RUN_TESTS) $(UNIT)

.PHONY: test-programs
test-programs: $(INSTALLED) ## Run what runs in pods, each program as a process, with public clients (a minute; Python)
	$(RUN_TESTS) $(PROGRAMS)

.PHONY: test-cluster
test-cluster: controlplane ## Run the stories on a real API server (minutes)
	$(RUN_TESTS) $(CLUSTER)

.PHONY: test-faults
test-faults: controlplane ## Run the stories with crashes, cuts and lost answers (minutes)
	$(RUN_TESTS) $(FAULTS)

.PHONY: test-campaign
test-campaign: controlplane ## Run a short campaign: a value of every property, every rule broken, planted faults (minutes)
	$(RUN_TESTS) $(CAMPAIGN)

.PHONY: test-node
test-node: controlplane node-programs ## Run the stories on real nodes (Linux, root; minutes)
	$(RUN_NODE_TESTS) $(NODES)

.PHONY: campaign
campaign: controlplane ## Try every value of every property of every kind (SEED, OPERATIONS, LANES, KIND; half an hour)
	node tests/campaign/main.ts

.PHONY: bench
bench: controlplane ## Measure the engine, downloads, the registry client, the model server and whole operators, side by side with others
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

.PHONY: node-programs
node-programs: $(INSTALLED) ## Build the programs of real nodes, where those can run (once per machine and version, with Go)
	node controlplane/node/build.ts

.PHONY: cluster-up
cluster-up: controlplane ## Start a real control plane with a simulated node on this machine (NODE=real for a real one: Linux, root)
	node controlplane/up.ts $(if $(NODE),--node='$(NODE)')

.PHONY: cluster-down
cluster-down: $(INSTALLED) ## Stop it and remove its data
	node controlplane/down.ts

##@ Install

.PHONY: install
install: $(INSTALLED) ## Install the kinds and their policy (CONTEXT=name)
	@$(INSTALL) install --context='$(CONTEXT)'

.PHONY: uninstall
uninstall: $(INSTALLED) ## Remove them again; refused while there are models (CONTEXT=name)
	@$(INSTALL) uninstall --context='$(CONTEXT)' --models='$(MODELS)'

.PHONY: deploy
deploy: $(INSTALLED) ## Install the kinds and the operator (CONTEXT=name IMG=name:tag, NAMESPACES=a,b for Roles only)
	@$(INSTALL) deploy --context='$(CONTEXT)' --image='$(IMG)' --namespaces='$(NAMESPACES)'

.PHONY: undeploy
undeploy: $(INSTALLED) ## Remove the operator; kinds and models stay (CONTEXT=name)
	@$(INSTALL) undeploy --context='$(CONTEXT)' --namespaces='$(NAMESPACES)'

.PHONY: samples
samples: $(INSTALLED) ## Apply the examples (CONTEXT=name, NAMESPACE=default)
	@$(INSTALL) samples --context='$(CONTEXT)' --namespace='$(NAMESPACE)'

.PHONY: build-installer
build-installer: $(INSTALLED) ## Write dist/install.yaml, the whole installation in one file (IMG=name:tag)
	@$(INSTALL) build-installer --image='$(IMG)' --namespaces='$(NAMESPACES)'

.PHONY: named-image
named-image:
	@if [ -z '$(IMG)' ]; then echo 'Name the image: make $(MAKECMDGOALS) IMG=name:tag' >&2; exit 2; fi

.PHONY: docker-build
docker-build: named-image ## Build the image for this machine (IMG=name:tag, CONTAINER_TOOL=docker)
	$(CONTAINER_TOOL) build --tag '$(IMG)' .

.PHONY: docker-push
docker-push: named-image ## Push it (IMG=name:tag)
	$(CONTAINER_TOOL) push '$(IMG)'

.PHONY: docker-buildx
docker-buildx: named-image ## Build for several platforms and push (IMG=name:tag, PLATFORMS=linux/amd64,linux/arm64)
	$(CONTAINER_TOOL) buildx build --platform '$(PLATFORMS)' --tag '$(IMG)' --push .

##@ Rest

.PHONY: clean
clean: ## Remove what was made in this checkout (the cache of control-plane programs stays)
	rm -rf build dist node_modules

.PHONY: help
help: ## Show this help
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# npm runs on the machine's own Node, 20 or newer, whose age it would warn about: only errors are shown. A platform
# package that could not be installed is silent, so the Node that came out is checked before anything runs on it.
$(INSTALLED): package-lock.json
	@command -v npm > /dev/null || { echo 'npm is missing: install Node 20 or newer with npm, then run make again' >&2; exit 1; }
	@cmp -s $< $@ || [ ! -L node_modules ] || { echo 'node_modules is a link: npm ci would empty the folder behind it. Remove the link, then run make again' >&2; exit 1; }
	@cmp -s $< $@ || { echo 'Installing packages with npm (once, about 300 MB) ...' && PATH='$(MACHINE_PATH)' npm ci --loglevel=error; }
	@node tools/check-node.cjs
	@cp $< $@
