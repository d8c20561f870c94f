# `make help` lists all targets. Node.js is the version in package-lock.json, not the one that is installed on the machine.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

# The targets share the two processors, and the folder build.
.NOTPARALLEL:

PACKAGES := node_modules/.package-lock.json

##@ Try it
.PHONY: demo demo-argocd demo-karpenter up down
demo: deps controlplane ## Run a Windows pool through its lifecycle, on a real Kubernetes and a local AWS; with NODE=none, the operator runs in no pod.
	@NODE='$(NODE)' node test/fakes/testenv/main.ts demo

demo-argocd: deps controlplane ## Have a real Argo CD sync the operator and a pool from a Git repository, and push a commit.
	@node hack/gitops/demo.ts

demo-karpenter: deps controlplane ## Have a real Karpenter create simulated Windows nodes for pods, and verify, gate and replace them.
	@node hack/karpenter/demo.ts

up: deps controlplane ## Start the same environment in the background; with NODE=real, the operator runs in a pod. Prints the environment variables to set.
	@NODE='$(NODE)' node test/fakes/testenv/main.ts up

down: deps ## Stop the environment of `make up`.
	@node test/fakes/testenv/main.ts down

##@ Test
.PHONY: test test-all unit tool-test coverage model record crash cluster-test cluster-test-all e2e
test: lint verify unit docs tool-test cluster-test ## Run the tests that must pass before a commit, in at most 20 minutes: the cheapest proof of each promise.

test-all: lint verify coverage docs cluster-test-all ## Run every test, some suites on Kubernetes 1.34, and a soak test of SOAK_MINUTES (10).
	@KUBERNETES=1.34 node hack/suites/main.ts
	@node hack/bench/soak.ts

unit: deps ## Run the unit tests of the product.
	@mocha --config test/unit.mocharc.mjs

tool-test: build/tool-test ## Run the tests of the test tools in hack and test/fakes, if a tool has changed since they last passed.

TOOL_FILES := $(wildcard $(shell git ls-files 'hack/*.ts' 'hack/*.go' 'hack/*go.mod' 'test/fakes/*.ts' 'test/testenv/*.ts' 2>/dev/null))
build/tool-test: $(PACKAGES) package-lock.json $(TOOL_FILES)
	@$(MAKE) --no-print-directory tools
	@UNIT_TESTS=tools mocha --config test/unit.mocharc.mjs
	@node hack/suites/main.ts test/testenv/*.test.ts
	@mkdir -p build && touch $@

coverage: deps ## Run all unit tests, also those of the tools. They must cover 95% of the lines of the domain.
	@UNIT_TESTS=all c8 --all --check-coverage --lines 95 --include 'controllers/windowspool/**/*.ts' \
	  --exclude '**/*.test.ts' --exclude '**/*.gen.ts' --exclude '**/{model,ports,testing}/**' --reporter text-summary --reporter html --reports-dir build/coverage \
	  mocha --config test/unit.mocharc.mjs

model: deps ## Run MODEL_RUNS (3000) random pool lifecycles in memory, with one operator and with two replicas; `make unit` runs some.
	@MODEL_RUNS=$${MODEL_RUNS:-3000} mocha --no-config --timeout 0 test/fakes/simulation/*.test.ts

record: deps ## Compare what the operator does with what the version at AGAINST does, see hack/recorder/README.md.
	@node hack/recorder/main.ts --against "$${AGAINST:?Set AGAINST to a commit, such as that of the last release}"

crash: deps binaries ## Kill the operator before and after every request, in about 20 minutes. `make test-all` runs a sample.
	@CRASH_POINTS=all mocha --no-config --require test/sharedWorld.ts --timeout 120000 test/crash/pool.test.ts test/crash/nodeOperations.test.ts

cluster-test: tools ## Run the suites of `make test` against a real Kubernetes (KUBERNETES=1.34: an older one), in SUITE_PROCESSES (4) processes.
	@node hack/suites/main.ts

cluster-test-all: binaries ## Run all suites, and then check that the operators needed exactly the shipped permissions.
	@node hack/suites/main.ts --all

e2e: deps ## Run a pool through its lifecycle on a real EKS cluster. Costs money, see hack/e2e/README.md. Writes build/e2e.json.
	@node hack/e2e/main.ts

##@ Documentation
.PHONY: docs docs-serve docs-look
docs: build/docs/index.html ## Build the site of docs/ into build/docs/, and check its links. DOCS_BASE is its path on the host (/).

DOCS_FILES := $(wildcard $(shell git ls-files --cached --others --exclude-standard docs hack/site 2>/dev/null))
build/docs/index.html: $(PACKAGES) $(DOCS_FILES) package.json
	@node hack/site/main.ts build

docs-serve: deps ## Build the site, and serve it on http://127.0.0.1:4321 (PORT).
	@node hack/site/main.ts serve

docs-look: deps ## Check the site in Chromium (CHROMIUM): accessibility, width, search. Needs apt if Chromium is missing. Writes pictures to build/docs-look/.
	@[ -x "$${CHROMIUM:-/usr/bin/chromium}" ] || { apt-get update -q && apt-get install -q -y chromium; }
	@node hack/site/main.ts look

##@ Develop
.PHONY: build image image-pins kubectl-plugin release release-check set-version sbom bench profile soak generate verify lint fmt
build: deps ## Bundle the operator into build/operator/.
	@node hack/build.ts

image: deps ## Build the image for linux/amd64 and linux/arm64 into build/image/, as an OCI archive. Needs apt, but no container engine.
	@node hack/image/main.ts

image-pins: deps ## Update the packages in the image to the newest versions, in hack/image/pins.json.
	@node hack/image/main.ts --update-pins

kubectl-plugin: deps ## Bundle kubectl windowspool into build/kubectl-plugin/: put that folder on your PATH.
	@node hack/build.ts --kubectl-plugin

release: deps controlplane ## Write all files of the release VERSION, which package.json has, into build/release/. Publishes nothing.
	@node hack/release/main.ts "$${VERSION:?Set VERSION to the version in package.json}"

release-check: deps ## Build a release from two fresh clones, compare their files, and install it from a local registry on a real node.
	@node hack/release/check.ts

set-version: deps ## Set VERSION in package.json and in all files that repeat it.
	@node hack/release/setVersion.ts "$${VERSION:?Set VERSION to the version of the next release, such as 1.2.3}"
	@node hack/generate/main.ts

sbom: deps ## Write build/sbom.json: a CycloneDX SBOM of the packages in the bundle.
	@node hack/supplyChain/main.ts sbom

bench: deps controlplane ## Run the benchmarks, see hack/bench/README.md. Writes build/bench.json.
	@node hack/bench/main.ts

profile: deps controlplane ## Run a SECTION of the benchmarks, such as noise, and write a flame graph of the operator to build/profile/SECTION.
	@node hack/bench/profile.ts "$${SECTION:?Set SECTION to a section of the benchmarks, such as noise}"

soak: deps controlplane ## Run 2 replicas with faults, pauses and churn for SOAK_MINUTES (10), and look for double writes. Writes build/soak.json.
	@node hack/bench/soak.ts

generate: deps ## Generate the API types, the reference pages, the dashboards and the files of the chart.
	@node hack/generate/main.ts

verify: deps ## Fail if a generated file is out of date.
	@node hack/generate/main.ts --check

lint: deps ## Check types, style, import boundaries, unused code, wording, and the licences and advisories of shipped packages.
	@tsc --noEmit
	@biome check --error-on-warnings
	@knip
	@node hack/prose/main.ts
	@node hack/supplyChain/main.ts check

fmt: deps ## Format the code, and fix what the linter can fix.
	@biome check --write

##@ Deploy
KUBECTL ?= kubectl
OVERLAY ?= config/default
UNDEPLOY_TIMEOUT ?= 60m

.PHONY: deploy undeploy
deploy: ## Install the CRD, the permissions and the operator from OVERLAY (config/default) in the cluster of your kubeconfig.
	@$(KUBECTL) apply -k $(OVERLAY)

undeploy: ## Delete all pools, wait for them for UNDEPLOY_TIMEOUT (60m), then delete the operator and the CRD.
	@KUBECTL='$(KUBECTL)' hack/undeploy.sh '$(UNDEPLOY_TIMEOUT)'

##@ Prepare
.PHONY: help deps binaries tools controlplane
deps: $(PACKAGES) ## Install the npm packages, which include Node.js.

$(PACKAGES): package.json package-lock.json
	@echo 'Installing the npm packages of package-lock.json'
	@npm ci --no-progress --loglevel=error
	@touch $@

binaries: deps controlplane ## Build all Go programs: those of `make tools`, and Helm 3, Argo CD, Flux, Cluster API and OpenShift's Machine API. All checkouts share them.
	@node hack/tools/main.ts --all

tools: deps controlplane ## Build the Go programs that `make test` needs: the local Kubernetes, helm and Prometheus.
	@node hack/tools/main.ts

controlplane: deps ## Build only the local Kubernetes, which is enough for the demo.
	@node hack/controlplane/main.ts

help: ## Show this help.
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
