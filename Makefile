# The front door. Meson does the work in build*/; this file only names the usual errands.
#
#   make                 build/wfre and libwfre
#   make check           build and run all tests; ends with "N passed, N failed, N skipped"
#   make check-sanitize  the tests under ASan+UBSan, then the threaded ones under TSan
#   make check-crash     every call on a file fails once, KILLS kills (default 200), losses of power
#   make check-serve     the server with 10,000 malformed requests, 200 slow clients, 100 swaps
#   make load            the server under load, beside its sessions: GRAPH=, MODEL=, QUERIES=, LOAD_SECONDS=60
#   make restart         the server killed and started again: GRAPH=, MODEL=, RESTART_MS=50
#   make fuzz            every fuzz target (or FUZZ="sparql rdf") until it computed FUZZ_SECONDS (60)
#   make mutate          MUTATIONS (default 5000) mutated files of each format, under ASan+UBSan
#   make demo            the main job end to end on WordNet, in less than ten minutes
#   make pictures        docs/figures/page*: the page as it looks now, on a small graph
#   make bench           the benchmarks
#   make wheel           the Python module with the library inside, as dist/*.whl
#   make fuzz-python     CALLS (default 200000) random calls of the Python module, under ASan
#   make install         to PREFIX (default /usr/local), honours DESTDIR
#   make deps            install missing packages (apt-packages.txt); make format, make clean
BUILD ?= build
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
MUTATIONS ?= 5000
KILLS ?= 200
CALLS ?= 200000
LOAD_SECONDS ?= 60
RESTART_MS ?= 50
WERROR := $(if $(CI),-Dwerror=true)

.PHONY: all deps check check-sanitize check-crash check-serve load restart fuzz fuzz-python mutate demo pictures bench \
    wheel install format clean

all: $(BUILD)/build.ninja
	@meson compile -C $(BUILD) >$(BUILD)/compile.log 2>&1 || { cat $(BUILD)/compile.log; exit 1; }

# Installs what is missing of apt-packages.txt; quiet when nothing is.
deps:
	@tools/install-packages

$(BUILD)/build.ninja: | deps
	@meson setup $(BUILD) --prefix $(PREFIX) --buildtype debugoptimized $(WERROR) >/dev/null

check: all
	@tools/run-tests $(BUILD)

check-sanitize: deps
	@[ -d build-asan ] || meson setup build-asan -Db_sanitize=address,undefined -Db_lundef=false \
	    --buildtype debugoptimized >/dev/null
	@[ -d build-tsan ] || meson setup build-tsan -Db_sanitize=thread -Db_lundef=false \
	    --buildtype debugoptimized >/dev/null
	@ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1 \
	    tools/run-tests build-asan --no-suite lint
	@TSAN_OPTIONS=halt_on_error=1 tools/run-tests build-tsan --no-suite lint --no-suite fuzz \
	    --no-suite cli --no-suite web

check-crash: all
	@STRIDE=1 KILLS=$(KILLS) tools/run-tests $(BUILD) --suite crash --timeout-multiplier 50 --verbose

check-serve: all
	@WFRE_LONG=1 tools/run-tests $(BUILD) --suite serve --timeout-multiplier 20

load: all
	@meson compile -C $(BUILD) client sessions >$(BUILD)/compile.log 2>&1 || { cat $(BUILD)/compile.log; exit 1; }
	@WFRE=$(CURDIR)/$(BUILD)/wfre tests/serve/load.py $(GRAPH) $(MODEL) $(QUERIES) $(LOAD_SECONDS) \
	    $(BUILD)/tests/serve

restart: all
	@WFRE=$(CURDIR)/$(BUILD)/wfre tests/serve/restart.py $(GRAPH) $(MODEL) $(RESTART_MS)

fuzz: deps
	@tools/run-fuzzers $(FUZZ_SECONDS) $(FUZZ)

mutate: deps
	@[ -d build-asan ] || meson setup build-asan -Db_sanitize=address,undefined -Db_lundef=false \
	    --buildtype debugoptimized >/dev/null
	@meson compile -C build-asan wfre:executable mutate >build-asan/compile.log 2>&1 || \
	    { cat build-asan/compile.log; exit 1; }
	@WFRE=$(CURDIR)/build-asan/wfre MUTATE=$(CURDIR)/build-asan/tests/mutate tests/mutate.sh $(MUTATIONS)

demo: all
	@tools/demo

pictures: all
	@WFRE=$(CURDIR)/$(BUILD)/wfre tests/web/pictures.sh $(CURDIR)/tests/web \
	    $(CURDIR)/$(BUILD)/tests/web/modules docs/figures

bench: all
	@$(BUILD)/wfre bench

# No network and no other packages are needed; `pip install ./python` does the same.
wheel: $(BUILD)/build.ninja
	@mkdir -p dist
	@cd python && WFRE_BUILD=$(abspath $(BUILD)) python3 backend.py ../dist

fuzz-python: deps
	@[ -d build-asan ] || meson setup build-asan -Db_sanitize=address,undefined -Db_lundef=false \
	    --buildtype debugoptimized >/dev/null
	@meson compile -C build-asan python_package >build-asan/compile.log 2>&1 || { cat build-asan/compile.log; exit 1; }
	@tests/python/fuzz.sh build-asan $(CALLS)

install: all
	@meson install -C $(BUILD) --no-rebuild

format:
	@find include src cli serve tests examples -name '*.[ch]' -print0 | xargs -0 clang-format -i

clean:
	@rm -rf build build-asan build-tsan build-fuzz dist
