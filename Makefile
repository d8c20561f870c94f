# Every target is explained by `make help`. Node is the one from package-lock.json, whatever the machine has.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

PACKAGES := node_modules/.package-lock.json

##@ Try it
.PHONY: demo up down
demo: deps controlplane ## From nothing to a verified Windows pool and back, on a real Kubernetes and a local AWS.
	@node hack/testenv/main.ts demo

up: deps controlplane ## Start the same in the background; prints the kubeconfig's path.
	@node hack/testenv/main.ts up

down: deps ## Stop what `make up` started.
	@node hack/testenv/main.ts down

##@ Test
.PHONY: test unit model crash cluster-test e2e
test: lint verify unit cluster-test ## Everything that must pass before a commit.

unit: deps ## Unit tests, and the line coverage that the domain must have.
	@c8 --all --check-coverage --lines 95 --include 'controllers/windowspool/**/*.ts' \
	  --exclude '**/*.test.ts' --exclude '**/*.gen.ts' --exclude '**/{model,ports,testing}/**' --reporter text-summary --reporter html --reports-dir build/coverage \
	  mocha --config test/unit.mocharc.mjs

model: deps ## Live MODEL_RUNS random lives of pools (3000), of which `make unit` lives 30. MODEL_SEED and MODEL_PATH repeat one.
	@MODEL_RUNS=$${MODEL_RUNS:-3000} mocha --no-config --timeout 0 hack/simulation/life.test.ts

crash: deps binaries ## Kill the operator's process at every request, where `make test` takes a sample. About 20 minutes.
	@CRASH_POINTS=all mocha --no-config --require test/sharedWorld.ts --timeout 120000 test/crash/pool.test.ts test/crash/nodeOperations.test.ts

cluster-test: deps binaries ## Tests against a real API server, scheduler and controller manager, in SUITE_PROCESSES processes (2).
	@node hack/suites/main.ts

e2e: deps ## Live the life of one pool on a real EKS cluster: costs money, see docs/e2e.md. Writes build/e2e.json.
	@node hack/e2e/main.ts

##@ Change
.PHONY: build bench soak generate verify lint fmt
build: deps ## Bundle the operator into build/operator/.
	@node hack/build.ts

bench: deps controlplane ## Measure; writes build/bench.json.
	@node hack/bench/main.ts

soak: deps controlplane ## Ten minutes of broken networks and restarts (SOAK_MINUTES); at the end the cache equals the API server.
	@node hack/bench/soak.ts

generate: deps ## Make the generated files: API types, tables of reasons and of metrics.
	@node hack/generate/main.ts

verify: deps ## Fail when a generated file is stale.
	@node hack/generate/main.ts --check

lint: deps ## Check types, style, import walls, floating promises and unused code.
	@tsc --noEmit
	@biome check --error-on-warnings
	@knip

fmt: deps ## Format the code and put right what the linter can.
	@biome check --write

##@ Deploy
KUBECTL ?= kubectl
OVERLAY ?= config/default
UNDEPLOY_TIMEOUT ?= 60m

.PHONY: deploy undeploy
deploy: ## Install the CRD, the rights and the operator of OVERLAY (config/default) into the cluster of your kubeconfig.
	@$(KUBECTL) apply -k $(OVERLAY)

undeploy: ## Delete all pools and wait for them, then the operator, then the CRD (UNDEPLOY_TIMEOUT).
	@KUBECTL='$(KUBECTL)' hack/undeploy.sh '$(UNDEPLOY_TIMEOUT)'

##@ Prepare
.PHONY: help deps binaries controlplane
deps: $(PACKAGES) ## Install the npm packages, Node included.

$(PACKAGES): package.json package-lock.json
	@echo 'Installing the npm packages of package-lock.json'
	@# Not npm ci: it refuses a lock file that names no registry, because that leaves out other platforms' optional packages.
	@npm install --no-save --no-progress --loglevel=error
	@touch $@

binaries: deps controlplane ## Build all that is made with Go, once for all checkouts: the control plane, and the tools of the tests.
	@node hack/tools/main.ts

controlplane: deps ## Build only the local Kubernetes, which is all that the demo needs.
	@node hack/controlplane/main.ts build

help: ## Show this list.
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
