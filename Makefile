# Everything a developer runs. Start with: make help
SHELL      := bash
MINUTES    ?= 2
CYCLES     ?= 1000
FUZZTIME   ?= 5000x
STATICCHECK = go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
SHARED     ?= $(or $(TOOLROOM_SHARED),../shared)

# Packages that run the JavaScript engine. The race detector makes it forty times
# slower, so they run twice: all tests without -race, and those that -short leaves with it.
ENGINE     := . ./internal/engine/... ./internal/worker/... ./internal/runner/... ./mcpserver/... ./internal/cli/...
# What parses bytes from outside.
FUZZED     := $(shell grep -rl --include=*_test.go "^func Fuzz" . | xargs -n1 dirname | sort -u)
# The only code with unsafe pointers: the engine's memory is not Go's.
UNSAFE     := toolroom/internal/engine

.PHONY: help run build test vet staticcheck race full walls fuzz accept bench bench-peers soak crash crash-short golden clean

help: ## show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build everything and serve, on SQLite
	bin/toolroom serve

build: ## build bin/toolroom, without cgo: its workers then need fewer system calls and no library
	CGO_ENABLED=0 go build -trimpath -o bin/toolroom ./cmd/toolroom

test: vet staticcheck fuzz full crash-short race ## all checks: vet, staticcheck, short fuzzing, tests, tests with -race

vet:
	go vet $$(go list ./... | grep -v '^$(UNSAFE)')
	go vet -unsafeptr=false $$(go list ./... | grep '^$(UNSAFE)')
	for os in darwin windows; do GOOS=$$os CGO_ENABLED=0 go vet . ./cmd/toolroom ./internal/sandbox ./internal/runner ./internal/worker ./internal/broker/... || exit 1; done

staticcheck:
	$(STATICCHECK) ./...

full: ## the tests of packages that run the engine, all of them, without -race
	go test $(ENGINE)

walls: ## the tests of confinement as the program is built, without cgo: its workers have fewer system calls
	CGO_ENABLED=0 go test ./internal/sandbox ./internal/runner ./internal/worker ./internal/broker/command

race: ## all packages with -race; -short leaves out the engine's large tables
	go test -race -short -timeout 15m ./...

fuzz: ## fuzz every parser of outside input, FUZZTIME inputs each (5000x; or a time: make fuzz FUZZTIME=5m)
	@for pkg in $(FUZZED); do for f in $$(go test -list '^Fuzz' $$pkg | grep ^Fuzz); do \
	  echo "fuzzing $$pkg $$f for $(FUZZTIME)"; \
	  go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$pkg || exit 1; done; done

accept: build ## try the built program as an unknown client would; skipped without the shared cases
	@if [ ! -f $(SHARED)/accept/accept.py ]; then echo "accept: skipped, there is no $(SHARED)/accept (set TOOLROOM_SHARED)"; exit 0; fi; \
	python3 $(SHARED)/accept/accept.py bin/toolroom $(SHARED)/accept/cases/*.json $(if $(ONLY),--only $(ONLY))

bench: ## the speed of calls; figures are in docs/PERFORMANCE.md
	go test -run '^$$' -bench . -benchmem ./bench/...

bench-peers: build ## the same bodies here and in other runtimes, as one table of ratios
	@if [ ! -d $(SHARED)/peers ]; then echo "bench-peers: skipped, there is no $(SHARED)/peers (set TOOLROOM_SHARED)"; exit 0; fi; \
	go run ./bench/peers --peers $(SHARED)/peers

soak: ## honest and hostile tools together, for MINUTES (2)
	TOOLROOM_SOAK_MINUTES=$(MINUTES) go test -count=1 -run TestSoak -v -timeout 0 ./internal/runner

soak-short: ## a soak of twenty seconds, for every change
	@$(MAKE) --no-print-directory soak MINUTES=0.33

crash: ## kill -9 in a loop, CYCLES times (1000), and look what is left
	TOOLROOM_CRASH_CYCLES=$(CYCLES) go test -run '^TestCrashLosesNothingAcknowledged$$' -v -timeout 60m ./internal/registry

crash-short: ## the same, 100 times: what make test and CI run
	$(MAKE) --no-print-directory crash CYCLES=100

golden: ## write the golden transcripts anew; look at the difference before committing
	go test ./mcpserver ./internal/cli -update

clean: ## remove what was built
	rm -rf bin
