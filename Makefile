# `make` lists the targets. CONTRIBUTING.md lists the programs that they need (the race detector needs a C compiler, `check`
# also needs Python and Node.js). tools/go.mod pins the build's tools, which are built on first use.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

# Each module is built with the versions of its own go.mod; go.work is for editors.
export GOWORK := off
# Binaries are static. vet, lint and the end-to-end tests build with the same setting, so that they share one build cache;
# race tests need cgo and set CGO_ENABLED=1.
export CGO_ENABLED := 0
# `go generate` finds the pinned tools by name.
export PATH := $(CURDIR)/.cache/bin:$(PATH)

empty :=
comma := ,
space := $(empty) $(empty)

# Variables that a user may set:
#   make test PKG=./pkg/store/... TESTFLAGS='-run TestDue -v'
#   make test MODULES=e2e
#   make run ARGS='--listen 127.0.0.1:9090'
#   make sim SEEDS=100000; make sim FIRST=4185 SEEDS=1; make kill ROUNDS=50; make kill SEEDS=20 ROUNDS=1 KILLS=5
#   make kill ROUNDS=20 STORE=postgres BUS=kafka; make sdk-test-java KILLS=20
#   make campaign SEEDS=3 BUS=nats,kafka FIRST=1
#   make bench SHORT=1; make bench ROUNDS=5 ARGS='-phases lateness,busy'; make bench BUS=nats,kafka
PKG          ?= ./...
TESTFLAGS    ?=
TEST_TIMEOUT ?= 20m
FUZZTIME     ?= 10s
ARGS         ?=
SEEDS        ?= 1000
FIRST        ?= 0
ROUNDS       ?=
BUS          ?=
SHORT        ?=
STORE        ?= embedded
API_SECONDS  ?= 25
# The modules. PKG refers to the root module.
MODULES      ?= $(if $(filter ./...,$(PKG)),. e2e benchmark benchmark/peers tools examples examples/verify/go pkg/timertest/timercontainer,.)

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT  := $(shell git rev-parse HEAD 2>/dev/null)
TOOLS   := .cache/bin/.built
# grpcnotrace leaves out a debug page of gRPC, a part of the exporter of traces, whose templates would keep the linker from
# removing unused methods: 10 MB. The AWS SDK, gRPC and the messages of Kafka wait for the network, so their functions are not
# inlined: 1 MB. Nor are those of packages that work at the start or when a caller logs in: 0.1 MB.
NOT_INLINED := github.com/aws/... google.golang.org/... github.com/twmb/franz-go/pkg/kmsg github.com/spf13/... \
	go.yaml.in/... github.com/pressly/... github.com/coreos/... github.com/go-jose/... golang.org/x/oauth2/...
SMALL   := -tags grpcnotrace $(foreach packages,$(NOT_INLINED),-gcflags='$(packages)=-l')

# $(call each,command) runs a command in every module and stops at the first failure.
each = for module in $(MODULES); do (cd "$$module" && $(1)); done
say  = printf '\n== %s\n'

# The real servers that the tests of PKG need: those in lines like `//testenv:need postgres` of their
# files. tools/testenv starts them, sets their addresses in the environment, and stops them after the tests.
TESTENV := .cache/bin/testenv
testfiles = {{$$d := .Dir}}{{range .TestGoFiles}}{{$$d}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$$d}}/{{.}} {{end}}
servers = { go list -f '$(testfiles)' $(PKG) | xargs -r grep -hE '^//testenv:need ' || true; } | \
	sed 's,^//testenv:need ,,' | tr -s ' ' '\n' | sort -u | paste -sd, -

##@ Use

.PHONY: help
help: ## Show this help
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
# -s and -w leave out the symbol table and DWARF, a third of the file; stack traces and profiles do not need them.
build: ## Build bin/timerbus, a static binary
	@go build $(SMALL) -ldflags '-s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)' -o bin/timerbus ./cmd/timerbus

.PHONY: image-files
# -trimpath and fixed timestamps make the files a function of the commit and the Go version. The SBOM lists the modules that are
# linked into the binary.
build_release = go build -trimpath -buildvcs=false $(SMALL) -ldflags '-s -w -buildid= -X main.version=$(VERSION) -X main.commit=$(COMMIT)'
IMAGE     ?= ghcr.io/timerbus/timerbus
TAG       ?= dev
PLATFORMS ?= linux/amd64 linux/arm64
image-files: $(TOOLS) ## Build bin/image: the static binaries of the image, its other files, and an SBOM of each binary (PLATFORMS)
	@mkdir -p bin/image
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) go run -C tools ./imageroot '$(CURDIR)/bin/image/rootfs.tar'
	@for platform in $(PLATFORMS); do \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} $(build_release) -o bin/image/$$platform/timerbus ./cmd/timerbus; \
		cyclonedx-gomod bin -json -noserial -notimestamp -version '$(VERSION)' -output bin/image/$$platform/timerbus.cdx.json bin/image/$$platform/timerbus; \
	done; \
	cd bin/image && find . -type f ! -name SHA256SUMS | sort | xargs sha256sum | tee SHA256SUMS

.PHONY: image
# A local image has the tag of its platform; that of this machine's platform also has TAG, which deploy/compose uses. Docker
# without BuildKit builds its own platform only.
image: image-files ## Build the container image for amd64 and arm64 with Docker (IMAGE, TAG, PLATFORMS)
	@docker version --format 'Docker engine {{.Server.Version}}, {{.Server.Os}}/{{.Server.Arch}}'
	@for platform in $(PLATFORMS); do \
		docker build --quiet --platform $$platform --build-arg TARGETPLATFORM=$$platform -f deploy/image/Dockerfile \
			-t $(IMAGE):$(TAG)-$${platform#*/} bin/image; \
	done; \
	docker tag $(IMAGE):$(TAG)-$$(docker version --format '{{.Server.Arch}}') $(IMAGE):$(TAG); \
	docker image ls --filter reference='$(IMAGE):$(TAG)*'

.PHONY: packages
PACKAGE_PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
PACKAGE_VERSION   ?= $(shell cat sdk/VERSION)
packages: ## Build bin/packages: wheels and npm packages with the program (PACKAGE_PLATFORMS, PACKAGE_VERSION)
	@for platform in $(PACKAGE_PLATFORMS); do \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} $(build_release) -o bin/packages/$$platform/timerbus ./cmd/timerbus; \
	done
	@go run -C tools ./binarypackages '$(PACKAGE_VERSION)' '$(CURDIR)/sdk' '$(CURDIR)/bin/packages' \
		$(foreach platform,$(PACKAGE_PLATFORMS),$(platform)='$(CURDIR)/bin/packages/$(platform)/timerbus')

.PHONY: check-image
check-image: ## Build the files of the image twice, in two folders without a build cache, and compare them (minutes)
	@deploy/image/check

.PHONY: run
run: build ## Build and start the whole service on this machine (ARGS='--listen …')
	@exec bin/timerbus dev $(ARGS)

.PHONY: demo
demo: build ## Start the service and a receiver, fire timers of every kind, print the lateness of each
	@go build -C e2e -o ../bin/timerbus-demo ./demo
	@exec bin/timerbus-demo $(ARGS)

.PHONY: examples
examples: ## Run every example on real servers and compare its output
	@$(MAKE) --no-print-directory test MODULES=examples PKG=. TESTFLAGS='-count=1 -v -run TestOutput'

##@ Change

.PHONY: fmt
fmt: $(TOOLS) ## Format all code
	@golangci-lint fmt

.PHONY: zones
zones: ## Replace the time zone database by that of the installed Go release, and print its version for internal/zone
	@gzip -9 -n -c "$$(go env GOROOT)/lib/time/zoneinfo.zip" > internal/zone/zoneinfo.zip.gz
	@grep '^DATA=' "$$(go env GOROOT)/lib/time/update.bash"

.PHONY: generate
generate: $(TOOLS) ## Write generated code (go:generate lines)
	@$(call each,go generate ./...)

.PHONY: go-api
go-api: ## Write docs/go-api.txt, the exported identifiers of the public packages
	@go build -C tools -o ../.cache/bin/goapi ./goapi
	@.cache/bin/goapi ./pkg/... > docs/go-api.txt

.PHONY: tidy
tidy: ## Update go.mod and go.sum of every module
	@for module in $(sort $(MODULES) tools); do (cd "$$module" && go mod tidy); done

##@ Test

.PHONY: test
# The root module uses the cache of go test. The other modules do not, because that cache does not know the programs that
# their tests build and the files that they read outside their module.
uncached = $$([[ "$$module" == . ]] || echo -count=1)
test: ## Run every test of every module: race detector, random order (PKG, TESTFLAGS)
	@$(call each,need=$$($(servers)) && \
		$(say) "test $$module: $$(go list $(PKG) | wc -l) packages; servers: $${need:-none}" && \
		{ [[ -z "$$need" ]] || go build -C '$(CURDIR)/tools' -o ../$(TESTENV) ./testenv; } && \
		$${need:+'$(CURDIR)/$(TESTENV)' --need "$$need" --} $(CURDIR)/tools/racetest \
		-timeout $(TEST_TIMEOUT) $(uncached) $(TESTFLAGS) -- $(PKG))

.PHONY: test-short
# Prints the servers, of those in lines like `//testenv:need postgres`, that have no address in the environment.
left_out = { $(call each,$(servers)); } | tr , '\n' | sed '/^$$/d' | sort -u | while read -r server; do \
	variable=TIMERBUS_TEST_$${server^^}; [[ -n "$${!variable:-}" ]] || echo "$$server"; done | paste -sd ' ' -
# All modules are tested at the same time, and several packages of each, because most tests wait.
test-short: ## Run the tests that need no server, without the race detector, with fewer repetitions: two minutes (PKG, TESTFLAGS)
	@left=$$($(left_out)); \
	echo "without the race detector, with fewer repetitions$${left:+; left out: the tests that need $$left (make test starts these servers)}"; \
	logs=$$(mktemp -d); trap 'kill -INT $$(jobs -p) 2>/dev/null || true; rm -rf "$$logs"' EXIT; \
	for module in $(MODULES); do \
		(cd "$$module" && exec go test -short -p 4 $(uncached) -timeout $(TEST_TIMEOUT) $(TESTFLAGS) $(PKG)) >"$$logs/$${module//\//_}.log" 2>&1 & \
		declare "pid_$${module//[^a-z]/_}=$$!"; \
	done; \
	failed=; \
	for module in $(MODULES); do \
		pid=pid_$${module//[^a-z]/_}; code=0; wait "$${!pid}" || code=$$?; \
		$(say) "test $$module"; grep -v '\[no test files\]$$' "$$logs/$${module//\//_}.log" || true; \
		((code == 0)) || failed+=" $$module"; \
	done; \
	[[ -z "$$failed" ]] || { echo "failed:$$failed" >&2; exit 1; }

.PHONY: test-clusters
test-clusters: testenv ## Run the suites of NATS and Kafka on clusters of three and kill brokers (minutes; `test` uses single servers)
	@$(TESTENV) --need nats,nats3,kafka,kafka3 -- env CGO_ENABLED=1 go test -race -shuffle=on -count=1 -p 1 -timeout 30m $(TESTFLAGS) ./pkg/bus/natsbus ./pkg/bus/kafkabus

.PHONY: test-dynamodb
test-dynamodb: testenv ## Run the DynamoDB engine's suite with large batches and long walks (minutes; `test` runs smaller ones)
	@TIMERBUS_DYNAMODB_FULL=1 $(TESTENV) --need dynamodb -- env CGO_ENABLED=1 go test -race -shuffle=on -count=1 -timeout 30m $(TESTFLAGS) ./pkg/store/dynamostore

.PHONY: sim
sim: ## Simulate the whole service in virtual time with SEEDS seeds, from seed FIRST on
	@cd e2e && SIM_SEEDS=$(SEEDS) SIM_FIRST=$(FIRST) go test -count=1 -timeout 2h -v -run TestSeeds ./sim

.PHONY: mutants
# The seed of a sample is the tree of the commit, so that other code runs other patches.
mutants: testenv ## Break one rule after another in the code and run the tests that must notice it (SAMPLE: only so many; RUN='^I7$$|egress'; ARGS=-list)
	@go build -C tools -o ../.cache/bin/mutants ./mutants
	@.cache/bin/mutants -testenv $(CURDIR)/$(TESTENV) $(if $(SAMPLE),-sample $(SAMPLE) -seed "$$(git rev-parse 'HEAD^{tree}' 2>/dev/null)") $(if $(RUN),-run '$(RUN)') $(ARGS) e2e/mutants

.PHONY: kill-keys
kill-keys: testenv ## Kill and freeze processes while API keys change and are used, in ROUNDS (20) of about 17 s
	@$(TESTENV) --need postgres -- env -C e2e TIMERBUS_KEYS_ROUNDS=$(or $(ROUNDS),20) go test -count=1 -timeout 2h -v -run TestKeysAcrossKillsAndFreezes .

.PHONY: kill
# The servers of STORE and BUS, without the embedded ones.
kill_servers = $(subst $(space),$(comma),$(strip $(if $(filter embedded,$(STORE)),,$(store_server)) $(BUS)))
kill: testenv ## Kill the service (kill -9) under full load, KILLS times (2) in each of ROUNDS (30), print when the last overdue timer was delivered (SEEDS: new data folders, 1; FIRST; STORE=postgres, mysql or mariadb, BUS=nats or kafka)
	@cd e2e && TIMERBUS_KILL_ROUNDS=$(or $(ROUNDS),30) TIMERBUS_KILL_KILLS=$(or $(KILLS),2) TIMERBUS_KILL_BUS=$(BUS) \
		TIMERBUS_E2E_STORE=$(filter-out embedded,$(STORE)) \
		TIMERBUS_KILL_SEEDS=$(if $(filter file,$(origin SEEDS)),1,$(SEEDS)) TIMERBUS_KILL_FIRST=$(or $(filter-out 0,$(FIRST)),1) \
		$(if $(kill_servers),../$(TESTENV) --need $(kill_servers) --) go test -count=1 -timeout 4h -v -run TestKillUnderLoad .

.PHONY: testenv
testenv:
	@go build -C tools -o ../$(TESTENV) ./testenv

.PHONY: e2e
# The name of the server of STORE in tools/testenv.
store_server = $(if $(filter embedded,$(STORE)),postgres,$(if $(filter dynamodb,$(STORE)),dynamodbdisk,$(STORE)))

e2e: testenv ## Run the end-to-end tests on another store (STORE: postgres, mysql, mariadb, dynamodb)
	@cd e2e && TIMERBUS_E2E_STORE=$(if $(filter embedded,$(STORE)),postgres,$(STORE)) ../$(TESTENV) --need $(store_server) -- go test -count=1 -timeout 30m -v .

.PHONY: e2e-schedules
e2e-schedules: ## Measure SCHEDULES (100000) schedules with an occurrence in each minute on the embedded service, print the lateness
	@cd e2e && TIMERBUS_SCHEDULES=$(or $(SCHEDULES),100000) go test -count=1 -timeout 30m -v -run TestI22_ManySchedules . | grep -E 'lateness|^(---|ok|FAIL)'

.PHONY: e2e-pause
e2e-pause: ## Pause TIMERS timers (100000), let them become due, resume them at a rate of a two-hundredth, check each delivery
	@cd e2e && TIMERBUS_PAUSED_TIMERS=$(or $(TIMERS),100000) go test -count=1 -timeout 60m -v -run TestI20PauseOfManyTimers .

.PHONY: e2e-buses
e2e-buses: testenv ## Kill, freeze and stop schedulers and brokers under load on clusters of NATS and of Kafka, print take-over times
	@cd e2e && ../$(TESTENV) --need postgres,nats,nats3,kafka,kafka3 -- go test -count=1 -timeout 30m -v \
		-run 'TestSchedulersComeAndGo|TestBrokersAreKilledUnderLoad|TestLostDueTopic' .

.PHONY: e2e-upgrade
e2e-upgrade: testenv ## Upgrade a cluster on PostgreSQL and NATS from the previous release, one process after another, under load (FROM: its commit, e2e/upgrade/previous)
	@cd e2e && TIMERBUS_UPGRADE_FROM=$(or $(FROM),$(shell cat e2e/upgrade/previous)) \
		../$(TESTENV) --need postgres,nats -- go test -count=1 -timeout 30m -v -run TestRollingUpgrade .

.PHONY: e2e-compose
# It needs root, and builds or downloads what it runs on into .cache/compose: minutes at first.
e2e-compose: ## Start the files of deploy/compose, fire timers, kill NATS (FILES='compose.yaml compose.kafka.yaml'; ENGINE=present: on the Docker engine of this machine)
	@ENGINE=$(or $(ENGINE),own) deploy/compose/test/run $(FILES)

.PHONY: e2e-containers
e2e-containers: ## Build the image, and run it in containers by pkg/timertest/timercontainer (ENGINE=present: on the Docker engine of this machine; else it needs root)
	@ENGINE=$(or $(ENGINE),own) deploy/image/test

.PHONY: e2e-helm
# No container is started. testenv builds the API server and etcd into its cache: minutes at first.
e2e-helm: testenv ## Install, upgrade, roll back and uninstall deploy/helm/timerbus on an API server of Kubernetes, and run its roles
	@$(TESTENV) --need kubernetes,postgres,nats -- go test -C tools -count=1 -timeout 10m -v -run 'On(Kubernetes|Servers)$$' ./deploy

.PHONY: campaign
campaign: testenv ## Kill, freeze and cut off every role, broker and database under load, print the lateness of timers (BUS=nats,kafka; SEEDS: 3, each 5 to 6 minutes on each bus; FIRST; STORE)
	@cd e2e && TIMERBUS_E2E_STORE=$(filter-out embedded,$(STORE)) TIMERBUS_CAMPAIGN_BUS=$(or $(BUS),nats$(comma)kafka) \
		TIMERBUS_CAMPAIGN_SEEDS=$(if $(filter file,$(origin SEEDS)),3,$(SEEDS)) TIMERBUS_CAMPAIGN_FIRST=$(or $(filter-out 0,$(FIRST)),1) \
		../$(TESTENV) --need $(store_server),$(or $(BUS),nats$(comma)kafka) -- go test -count=1 -timeout 4h -v -run TestClusterCampaign .

.PHONY: soak
soak: testenv ## Load a cluster for MINUTES (5) without a pause, kill -9 a process about every 20 s and the database once (STORE; BUS=nats or kafka; FIRST: seed)
	@cd e2e && TIMERBUS_E2E_STORE=$(filter-out embedded,$(STORE)) TIMERBUS_SOAK_MINUTES=$(or $(MINUTES),5) TIMERBUS_SOAK_BUS=$(or $(BUS),nats) \
		TIMERBUS_SOAK_FIRST=$(or $(filter-out 0,$(FIRST)),1) \
		../$(TESTENV) --need $(store_server),$(or $(BUS),nats) -- go test -count=1 -timeout 4h -v -run 'TestSoak$$' .

.PHONY: check
check: check-format check-arrows check-tidy check-generated check-go-api lint check-alerts check-api check-mutants check-tests ## Run all checks that a change must pass; CI runs this

.PHONY: check-format
check-format: $(TOOLS) ## Fail if `make fmt` would change anything
	@$(say) format
	@golangci-lint fmt --diff

.PHONY: check-arrows
check-arrows: ## Fail on an import that layout_test.go does not allow
	@$(say) imports
	@go test -count=1 .

.PHONY: check-tidy
check-tidy: ## Fail if `make tidy` would change anything
	@$(say) tidy
	@untidy=; for module in $(sort $(MODULES) tools); do \
		(cd "$$module" && go mod tidy -diff) || untidy+=" $$module"; \
	done; \
	if [[ -n "$$untidy" ]]; then echo "Run \`make tidy\`; untidy:$$untidy" >&2; exit 1; fi

# Compares the generated files before and after, not with git, because the tree may contain other changes.
generated = { grep -rlE --include='*.go' --include='*.py' --include='*.ts' --include='*.java' --exclude-dir={.git,.cache,node_modules,dist,target} \
	'^(//|\#) Code generated .* DO NOT EDIT\.$$' . || true; ls deploy/grafana/*.json internal/ui/dist/app.* internal/ui/dist/licenses.txt sdk/typescript/package*.json sdk/java/{,*/}pom.xml; } | sort | xargs -r sha256sum

.PHONY: check-generated
check-generated: $(TOOLS) ## Fail if `make generate` changes anything
	@$(say) 'generated code'
	@before=$$($(generated)); \
	$(call each,go generate ./...); \
	after=$$($(generated)); \
	if [[ "$$before" != "$$after" ]]; then \
		diff <(echo "$$before") <(echo "$$after") || true; \
		echo "Generated code was out of date and has been updated: commit it." >&2; exit 1; \
	fi; \
	echo "$$(grep -c . <<<"$$after" || true) generated files, all up to date"

.PHONY: check-go-api
check-go-api: ## Fail if docs/go-api.txt differs from the public Go packages
	@$(say) 'Go API'
	@go build -C tools -o ../.cache/bin/goapi ./goapi
	@diff -u docs/go-api.txt <(.cache/bin/goapi ./pkg/...) || \
		{ echo 'The public Go API has changed: run `make go-api`, and describe the change in CHANGELOG.md if users must know it.' >&2; exit 1; }
	@echo "$$(wc -l < docs/go-api.txt) exported identifiers, as in docs/go-api.txt"

.PHONY: check-api
check-api: build ## Test the real service against schemas/openapi.yaml with a property-based client (API_SECONDS)
	@$(say) 'API'
	@tools/schemathesis/run $(API_SECONDS)

.PHONY: check-clients
check-clients: build ## Generate clients from schemas/openapi.yaml with three generators, check their types, use them
	@$(say) clients
	@tools/clients/run

.PHONY: check-signatures
check-signatures: build ## Verify signed callbacks with the Standard Webhooks libraries of Go, Python and JavaScript
	@$(say) signatures
	@tools/signatures/run

.PHONY: check-ui
# UI_MS is the time within which the first page must be usable. It is longer beside other tests.
UI_MS ?= 300
check-ui: build ## Check the types of the web UI, and test it in Chromium with the real service (CHROMIUM, ARGS='--test-name-pattern=dead', UI_MS)
	@$(say) 'web UI'
	@TIMERBUS_UI_MS=$(UI_MS) tools/ui/run $(ARGS)

.PHONY: ui-screenshots
ui-screenshots: build ## Write the screenshots of docs/ui.md
	@tools/ui/run --screenshots

.PHONY: sdk-test sdk-test-go sdk-test-python sdk-test-typescript sdk-test-java
sdk-test: sdk-test-go sdk-test-python sdk-test-typescript sdk-test-java ## Check the SDKs with the tools of their languages, run the conformance scripts in four languages, and kill the service KILLS times (2) while each SDK creates timers
sdk-test-go:
	@$(say) 'conformance of the Go client'
	@cd e2e && go test -count=1 -run 'TestConformance$$' .
sdk-test-python sdk-test-typescript sdk-test-java: sdk-test-%: build
	@$(say) 'SDK: $*'
	@TIMERBUS_SDK_KILLS=$(or $(KILLS),2) tools/sdk/run $*

.PHONY: check-outbox
check-outbox: build ## Run the Python example of the outbox with a real PostgreSQL and the real service
	@$(say) 'outbox in Python'
	@go build -C tools -o ../$(TESTENV) ./testenv
	@$(TESTENV) --need postgres -- tools/outbox/run

.PHONY: check-alerts
check-alerts: ## Run the scenarios of the alert rules in deploy/prometheus with promtool
	@$(say) alerts
	@command -v promtool >/dev/null || { echo 'promtool is missing: it is in the package prometheus of Debian, and in the downloads of Prometheus' >&2; exit 1; }
	@cd deploy/prometheus && promtool check rules timerbus.rules.yml && promtool test rules timerbus.rules.test.yml

.PHONY: check-chart
check-chart: ## Lint and render deploy/helm/timerbus, validate it with the schemas of Kubernetes 1.28 to 1.34
	@$(say) chart
	@tools/deploy/chart

.PHONY: check-model
# RUN='queue|hints' limits it to these configurations; ARGS=-all uses their own constants, which takes an hour.
check-model: testenv ## Check the protocol's TLA+ specification (docs/model); with a rule switched off it must fail
	@$(say) model
	@go build -C tools -o ../.cache/bin/modelcheck ./modelcheck
	@$(TESTENV) --need tlc -- .cache/bin/modelcheck $(if $(RUN),-run '$(RUN)') $(ARGS) docs/model

.PHONY: check-tests
# Most tests wait, so other checks run beside them with a lower priority; those with a time limit do not. The output of these
# checks is printed before that of the tests of the small modules, so that the output of go test comes last. set -m gives each of
# the two a process group, which ends with the tests.
BESIDE_TESTS := check-clients check-signatures check-outbox check-ui check-chart sdk-test-python sdk-test-typescript sdk-test-java
COMPUTATIONS := check-model test-sim
LARGE_MODULES := . e2e
check-tests: testenv build
	@logs=$$(mktemp -d); \
	set -m; \
	nice -n 19 $(MAKE) --no-print-directory --keep-going $(COMPUTATIONS) >"$$logs/2" 2>&1 & computations=$$!; \
	nice -n 5 $(MAKE) --no-print-directory --keep-going UI_MS=5000 $(BESIDE_TESTS) >"$$logs/1" 2>&1 & beside=$$!; \
	set +m; \
	trap 'kill -- "-$$beside" "-$$computations" 2>/dev/null || true; rm -rf "$$logs"' EXIT; \
	$(MAKE) --no-print-directory test MODULES=.; \
	$(MAKE) --no-print-directory test MODULES=e2e PKG="$$(cd e2e && go list ./... | grep -v '/sim$$' | paste -sd ' ' -)"; \
	code=0; wait "$$beside" || code=$$?; wait "$$computations" || code=$$?; cat "$$logs"/*; \
	if ((code)); then exit "$$code"; fi; \
	$(MAKE) --no-print-directory test MODULES='$(filter-out $(LARGE_MODULES),$(MODULES))'

.PHONY: test-sim
test-sim: ## Run the tests of the simulation (minutes of one processor)
	@$(MAKE) --no-print-directory test MODULES=e2e PKG=./sim TEST_TIMEOUT=40m

.PHONY: check-mutants
check-mutants: ## Run a sample of the mutants for at most about 90 s, others for each commit (SAMPLE: 12)
	@$(say) mutants
	@$(MAKE) --no-print-directory mutants SAMPLE=$(or $(SAMPLE),12) ARGS='-within 75s'

.PHONY: vet
# `lint` runs the same analyzers, so `check` does not run this.
vet: ## Run go vet
	@$(say) vet
	@$(call each,go vet ./...)

.PHONY: lint
lint: $(TOOLS) ## Run golangci-lint
	@$(say) lint
	@golangci-lint config verify --config .golangci.yml
	@$(call each,golangci-lint run --config '$(CURDIR)/.golangci.yml' ./...)

.PHONY: check-workflows
check-workflows: ## Check .github/workflows with actionlint
	@go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

.PHONY: fuzz
fuzz: ## Run every fuzz target for a short while (FUZZTIME=10s each)
	@{ grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . || true; } | sort | \
	while IFS=: read -r file declaration; do \
		target=$${declaration#func }; \
		$(say) "fuzz $$target in $$(dirname "$$file")"; \
		(cd "$$(dirname "$$file")" && go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) .); \
	done

.PHONY: bench
# STORE=postgres, mysql or mariadb measures first that store alone, then the service on it; STORE=dynamodb counts requests and
# capacity units. BUS compares buses, such as nats,kafka or nats3,kafka3: first the buses alone, then the service on PostgreSQL
# with each.
BUSES = $(or $(BUS),$(if $(filter-out embedded dynamodb,$(STORE)),nats))
bench_store = $(if $(filter mysql mariadb,$(STORE)),$(STORE),postgres)
bench: $(if $(filter-out embedded,$(STORE)),bench-$(STORE)) $(if $(BUS),bench-bus) $(if $(filter dynamodb,$(STORE)),,bench-service) ## Measure the service and compare it with the aims (SHORT=1: under a minute; STORE=postgres, mysql, mariadb or dynamodb; BUS=nats,kafka; ROUNDS, ARGS)

.PHONY: bench-service
bench-service: build $(if $(BUSES),testenv)
	@go build -C benchmark -o ../bin/timerbus-benchmark .
	@exec bin/timerbus-benchmark -testenv $(TESTENV) $(if $(BUSES),-setup $(bench_store)+$(subst $(comma),$(comma)$(bench_store)+,$(BUSES))) $(if $(SHORT),-short) $(if $(ROUNDS),-rounds $(ROUNDS)) $(ARGS)

# Go benchmarks as a table: each benchmark's name without its first word, then its reported metrics.
metrics = awk '/^Benchmark/ { sub(/^Benchmark/, "", $$1); sub(/-[0-9]+$$/, "", $$1); printf "%-40s", $$1; \
	for (i = 3; i < NF; i += 2) if ($$(i+1) != "ns/op") printf " %10s %-13s", $$i, $$(i+1); print ""; next } \
	!/^(goos|goarch|cpu|pkg|PASS|ok)/ { print }'

.PHONY: bench-postgres
bench-postgres: testenv ## Measure PostgreSQL as a store: writes, polls and outcomes, compared with plain inserts of single rows
	@$(say) 'PostgreSQL as a store'
	@$(TESTENV) --need postgres -- bash -euo pipefail -c " \
		go test -p 1 -run '^$$' -bench '^Benchmark(PlainInsert|Put|FinishDone)$$' -benchtime 60000x ./pkg/store/postgresstore; \
		go test -p 1 -run '^$$' -bench '^BenchmarkDue$$' -benchtime 100x ./pkg/store/postgresstore" | $(metrics)

.PHONY: bench-mysql bench-mariadb
bench-mysql bench-mariadb: bench-%: testenv ## Measure MySQL or MariaDB as a store, and PostgreSQL in the same run: writes, row checks, polls and outcomes
	@$(say) '$* and PostgreSQL as stores'
	@$(TESTENV) --need $*,postgres -- bash -euo pipefail -c " \
		go test -p 1 -run '^$$' -bench '^Benchmark(Put|FinishDone|Current)$$/^($*|postgres)$$' -benchtime 60000x ./pkg/store/postgresstore ./pkg/store/mysqlstore; \
		go test -p 1 -run '^$$' -bench '^BenchmarkDue$$/./^($*|postgres)$$' -benchtime 100x ./pkg/store/postgresstore ./pkg/store/mysqlstore" | $(metrics)

.PHONY: bench-lists
# Filling the stores takes most of the time. Each line is one kind of list, with the durations of polls (due), pages and counts.
bench-lists: testenv ## Measure polls while 8 clients list, on SQLite and PostgreSQL (ROWS=5000000 timers; about half an hour)
	@$(say) 'polls during lists: SQLite'
	@TIMERBUS_BENCH_ROWS=$(or $(ROWS),5000000) go test -timeout 2h -run '^$$' -bench '^BenchmarkLists$$' -benchtime 1x ./pkg/store/sqlitestore | $(metrics)
	@$(say) 'polls during lists: PostgreSQL'
	@TIMERBUS_BENCH_ROWS=$(or $(ROWS),5000000) $(TESTENV) --need postgres -- \
		go test -timeout 2h -run '^$$' -bench '^BenchmarkLists$$' -benchtime 1x ./pkg/store/postgresstore | $(metrics)

.PHONY: bench-bus
bench-bus: testenv ## Measure the buses alone: publish, consume and acknowledge messages of 300 bytes (NEED=nats,kafka)
	@$(TESTENV) --need $(or $(NEED),$(BUS),nats$(comma)nats3$(comma)kafka$(comma)kafka3) -- \
		go test -p 1 -run '^$$' -bench 'Bus/' -benchtime 20x ./pkg/bus/natsbus ./pkg/bus/kafkabus | \
		awk 'BEGIN { printf "%-26s %12s %12s\n", "bus", "published/s", "acked/s" } \
			/published\/s/ { sub(/^BenchmarkBus\//, "", $$1); sub(/-[0-9]+$$/, "", $$1); \
				for (i = 2; i < NF; i++) { if ($$(i+1) == "published/s") p = $$i; if ($$(i+1) == "acked/s") a = $$i } \
				printf "%-26s %12d %12d\n", $$1, p, a; next } \
			!/^(goos|goarch|cpu|pkg|PASS|ok)/ { print }'

.PHONY: bench-peers
# BullMQ needs npm, which installs its packages; without npm the table says that it was not run.
bench-peers: build testenv ## Compare the service with River, asynq, BullMQ and NATS schedules on one workload, print ratios to River (SHORT=1: minutes, few timers; ROUNDS: 3; PEERS='river-tuned,timerbus-postgres')
	@go build -C benchmark/peers -o ../../bin/timerbus-peers .
	@$(if $(and $(PEERS),$(if $(findstring bullmq,$(PEERS)),,no)),,if command -v npm >/dev/null; then npm ci --prefix benchmark/peers/bullmq --no-audit --no-fund --silent; fi)
	@exec bin/timerbus-peers -testenv $(TESTENV) $(if $(SHORT),-short) $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(PEERS),-peers '$(PEERS)') $(ARGS)

.PHONY: bench-dynamodb
# First the calls of the engine, then the running service and an idle hour, each compared with the least possible.
bench-dynamodb: build testenv ## Count requests, capacity units and dollars on DynamoDB, for each timer and idle shard (SHORT=1, ARGS)
	@go build -C benchmark -o ../bin/timerbus-cost ./cost
	@$(TESTENV) --need dynamodb -- bash -euo pipefail -c " \
		go test -run '^$$' -bench . -benchtime $(if $(SHORT),200x,1000x) ./pkg/store/dynamostore | awk -f benchmark/cost/parts.awk; \
		bin/timerbus-cost $(if $(SHORT),-timers 200 -alone 3 -window 30s) $(ARGS)"

.PHONY: bench-watermill
bench-watermill: ## Measure commands per second, native and through a Watermill router (medians of ROUNDS: 5)
	@go test -run '^$$' -bench Commands -benchtime $(or $(ROUNDS),5)x -timeout 30m ./pkg/timerbus | \
		awk 'BEGIN { printf "%-34s %12s\n", "commands come", "commands/s" } \
			/^Benchmark/ { for (i = 3; i < NF; i += 2) { name = $$(i+1); gsub(/_/, " ", name); \
				if (sub(/\/s$$/, "", name)) printf "%-34s %12d\n", name, $$i }; next } \
			!/^(goos|goarch|cpu|pkg|PASS|ok)/ { print }'

.PHONY: bench-go
bench-go: ## Run the Go benchmarks (PKG, TESTFLAGS)
	@$(call each,go test -run '^$$' -bench . -benchmem $(TESTFLAGS) $(PKG))

##@ Maintain

.PHONY: tools
tools: $(TOOLS) ## Build the pinned tools into .cache/bin

$(TOOLS): tools/go.mod tools/go.sum
	@echo "building the tools pinned in tools/go.mod (once; takes a minute or two)"
	@mkdir -p .cache/bin
	@cd tools && go build -o ../.cache/bin/ tool
	@touch $@

.PHONY: clean
clean: ## Remove the output of make (never data folders)
	@rm -rf bin .cache
