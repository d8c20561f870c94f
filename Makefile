# Every target is explained by `make help`. Node is the one from package-lock.json, whatever the machine has.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

MODULES := node_modules/.package-lock.json

.PHONY: help
help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(MODULES): package.json package-lock.json
	@echo 'Installing the npm packages of package-lock.json'
	@npm ci --no-progress --loglevel=error
	@touch $@

.PHONY: deps
deps: $(MODULES) ## Install the npm packages, Node included.

.PHONY: unit
unit: deps ## Run the unit tests, with the coverage that the domain must have.
	@c8 --check-coverage --lines 95 --include 'controllers/windowspool/*.ts' --exclude '**/*.test.ts' --exclude '**/*.gen.ts' --reporter text-summary --reporter html \
	  mocha --config test/unit.mocharc.yaml

.PHONY: lint
lint: deps ## Check types, style, import walls, floating promises and unused code.
	@tsc --noEmit
	@biome check --error-on-warnings
	@knip

.PHONY: fmt
fmt: deps ## Format the code and fix what the linter can fix by itself.
	@biome check --write
