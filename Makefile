# The targets only call CMake presets and the scripts under hack/. `make help` lists them.
SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
JOBS := $(shell nproc)
OPERATOR := build/release/bin/yurtappdaemon-operator
# The default is the image name in the chart.
IMAGE ?= yurtappdaemon-operator:$(shell sed -n 's/^project(.* VERSION \([0-9.]*\) .*/v\1/p' CMakeLists.txt)

# The test programs of tests/CMakeLists.txt: one program for each folder of unit tests, and one program each for
# loopback, cluster and chart.
UNIT := $(foreach folder,$(sort $(notdir $(patsubst %/,%,$(dir $(wildcard tests/unit/*/*_test.cc))))),unit_$(folder)_test)
# The unit tests that run under TSan. These tests do not:
# - api and workload: pure functions
# - capacity: one key, so its reconciles never run at the same time
# - plugin: its only other thread is an Informer, which the tests of runtime cover
# - time_zones: replaces functions that TSan also replaces
THREADED := $(filter-out unit_api_test unit_workload_test unit_capacity_test unit_plugin_test unit_time_zones_test,$(UNIT))
LOOPBACK := $(if $(wildcard tests/loopback/*_test.cc),loopback_test)
CLUSTER := $(if $(wildcard tests/cluster/*_test.cc),cluster_test)
CHART := $(if $(wildcard tests/chart/*_test.cc),chart_test)
MICRO := $(if $(wildcard tests/bench/micro/*.cc),micro_bench)
MODEL := $(if $(wildcard tests/model/*_test.cc),model_test)

FUZZ_SECONDS ?= 10

# Clang compiles the tests under sanitizers, in 0.6 of GCC's time, if it is installed. GCC compiles everything else.
# The target `clang`, which installs it, must be a prerequisite: make expands all lines of a recipe before it runs the
# first line.
CLANG = $(shell command -v clang++-16)

# The thread sanitizer of GCC 12 does not work with the randomized addresses of newer kernels.
FIXED_ADDRESSES := $(shell setarch -R true 2>/dev/null && echo setarch -R)

# The progress that ninja prints: finished steps, all steps, and the seconds since the start.
export NINJA_STATUS ?= [%f/%t, %e s] $()
# ctest runs tests in parallel up to this sum of their weights (PROCESSORS in tests/CMakeLists.txt). A part of the unit
# tests has the weight 2, and a part of the loopback tests, which mostly wait, has the weight 1.
export CTEST_PARALLEL_LEVEL ?= $(shell echo $$((2 * $(JOBS) + 2)))
export ASAN_OPTIONS ?= strict_string_checks=1:detect_stack_use_after_return=1:malloc_context_size=6
export UBSAN_OPTIONS ?= print_stacktrace=1:halt_on_error=1
export LSAN_OPTIONS ?= suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0
export TSAN_OPTIONS ?= halt_on_error=1:second_deadlock_stack=1:suppressions=$(CURDIR)/tests/tsan.supp

.DEFAULT_GOAL := help
.PHONY: help build image test test-unit test-tsan test-model test-control-plane test-cluster test-chart test-image test-arm64 test-long fuzz bench demo assets assets-dir packages release test-release docs lint tidy format clean clang

help: ## list the targets
	@echo "yurtappdaemon-operator: make TARGET"
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

build: packages ## the operator and kubectl-yad, in build/release/bin
	cmake --preset release >/dev/null
	cmake --build --preset release -j $(JOBS) --target yurtappdaemon-operator kubectl-yad

image: ## the container image, with buildah, podman or docker; IMAGE=name:tag, ARGUMENTS for the builder
	hack/image.sh $(IMAGE) $(ARGUMENTS)

# Each run of `make test` tries the same inputs, so that the fuzzers fail only because of a change.
test: export FUZZ_SEED = 1
test: FUZZ_SECONDS = 5
# In `make test`, the base of the image is this machine's Debian, because ccache then has the results of its compiler. In
# `make test-image`, the base is the Debian of a release.
test: export IMAGE_DEBIAN = $(shell . /etc/os-release && echo $$VERSION_CODENAME)
test: lint test-unit test-tsan test-model test-control-plane test-image fuzz ## all checks that must pass

test-unit: clang ## unit and loopback tests under ASan and UBSan; how other tools read status
	cmake --preset test $(if $(CLANG),-DCMAKE_CXX_COMPILER=$(CLANG)) >/dev/null
	cmake --build --preset test -j $(JOBS) --target $(UNIT) $(LOOPBACK)
	ctest --test-dir build/test -L '^(unit|loopback|tools)$$' --output-on-failure --no-tests=error

test-tsan: clang ## unit and loopback tests of code with threads, under TSan
	cmake --preset tsan $(if $(CLANG),-DCMAKE_CXX_COMPILER=$(CLANG)) >/dev/null
	$(FIXED_ADDRESSES) cmake --build --preset tsan -j $(JOBS) --target $(THREADED) $(LOOPBACK)
	$(FIXED_ADDRESSES) ctest --test-dir build/tsan -R '^($(subst $() ,|,$(strip $(THREADED) $(LOOPBACK))))-' --output-on-failure --no-tests=error

test-model: packages ## every history of a small cluster, and random histories of larger clusters; YAD_ALL=1 for more
	cmake --preset release >/dev/null
	cmake --build --preset release -j $(JOBS) --target $(MODEL)
	ctest --test-dir build/release -L '^model$$' --verbose --no-tests=error

test-control-plane: LABELS = cluster|chart
test-control-plane: build assets ## test-cluster and test-chart in parallel, because both mostly wait
test-cluster: LABELS = cluster
test-cluster: build assets ## the released binary against a real control plane
test-chart: LABELS = chart
test-chart: build assets ## the Helm chart: what it renders, its alerts, and installing it on a real control plane
test-control-plane test-cluster test-chart:
	hack/packages.sh chart || true
	hack/packages.sh browser || true
	hack/axe.sh || true
	@# The benchmarks are compiled here, so that they keep compiling. `make bench` runs them.
	cmake --build --preset release -j $(JOBS) --target bench $(MICRO) $(foreach label,$(subst |, ,$(LABELS)),$(label)_test)
	hack/old-release.sh
	ctest --test-dir build/release -j 7 -L '^($(LABELS))$$' --output-on-failure --no-tests=error

test-image: build ## build the image on a Debian base that is created here, and check it; skipped if this machine cannot do so
	hack/packages.sh image || true
	tests/image/image_test.sh

test-arm64: packages ## unit and loopback tests, cross-compiled and run by qemu: slow, so not a part of `make test`
	hack/packages.sh arm64
	cmake --preset release -B build/arm64 --toolchain hack/arm64.cmake -DCMAKE_SYSROOT="$$(hack/arm64-root.sh)" >/dev/null
	cmake --build build/arm64 -j $(JOBS) --target $(UNIT) $(LOOPBACK)
	@# These tests can't pass under qemu: its /proc/self/stat has no memory of the process, the process of a death test
	@# can't be started without qemu, and posix_spawn reports no missing program.
	GTEST_FILTER=-MetricsTest.ProcessMetricsAreRendered:*DeathTest.*:*TimeZonesTest.*:ExecCredentialClientTest.MissingPluginIsAConfigErrorWithTheHint \
	  ctest --test-dir build/arm64 -L '^(unit|loopback)$$' --output-on-failure --no-tests=error

test-long: build assets ## the full version of each part of `make test`: several hours
	cmake --build --preset release -j $(JOBS) --target $(CLUSTER)
	cmake --build --preset release -j $(JOBS) --target $(CHART)
	YAD_ALL=1 build/release/bin/cluster_test
	YAD_ALL=1 build/release/bin/chart_test
	$(MAKE) test-model YAD_ALL=1
	$(MAKE) fuzz FUZZ_SECONDS=600

fuzz: packages ## the fuzzers under ASan and UBSan; FUZZ_SECONDS=10 for each
	hack/packages.sh clang
	cmake --preset test -DCMAKE_CXX_COMPILER=clang++-16 >/dev/null
	cmake --build --preset test -j $(JOBS) --target fuzzers
	FUZZ_SECONDS=$(FUZZ_SECONDS) hack/fuzz.sh

bench: build assets ## cost and speed, with their bounds: about ten minutes; ARGUMENTS=--only=start for one part
	hack/packages.sh bench || true
	cmake --build --preset release -j $(JOBS) --target bench
	mkdir -p build/bench
	$(if $(MICRO),cmake --build --preset release -j $(JOBS) --target $(MICRO))
	$(if $(MICRO),build/release/bin/$(MICRO) --benchmark_out=build/bench/micro.json --benchmark_out_format=json)
	build/release/bin/bench $(ARGUMENTS)

demo: packages ## a demo of the operator on a real control plane; KEEP=1 leaves it running
	@# The sources of the control plane are downloaded while the operator is compiled.
	@hack/assets.sh fetch 2>/dev/null & $(MAKE) build; code=$$?; wait; exit $$code
	@$(MAKE) assets
	KEEP=$(KEEP) hack/demo.sh $(OPERATOR)

assets: packages ## find etcd, Kubernetes, KWOK, kubectl and helm, or build them once into the cache folder
	hack/assets.sh

assets-dir: ## the same programs, and print their folder (with make -s)
	@hack/packages.sh >&2
	@hack/assets.sh >&2
	@hack/assets.sh dir

packages: ## the Debian packages that building and testing need
	hack/packages.sh

clang: packages
	hack/packages.sh clang || true

release: packages ## everything that a release consists of, in build/dist; ARCHES="amd64 arm64" (docs/releasing.md)
	hack/packages.sh release || true
	hack/release.sh

test-release: assets ## check the files in build/dist: checksums, archives, image, installation and upgrade on a real control plane
	hack/old-release.sh
	tests/release/release_test.sh
	tests/release/readme_test.sh

docs: ## the site of the documentation, in build/site; fails on a broken link
	hack/packages.sh docs || true
	hack/docs.sh

lint: packages ## includes, header guards, formatting, scripts, links between pages
	hack/lint.sh

tidy: packages ## clang-tidy over all C++ (tens of minutes), or over the files that differ from BASE=main
	hack/packages.sh tidy
	hack/tidy.sh $(BASE)

format: ## clang-format over all C++
	clang-format-16 -i $$(git ls-files --cached --others --exclude-standard '*.cc' '*.h')

clean: ## remove the folder build (the assets stay in the cache folder)
	rm -rf build
