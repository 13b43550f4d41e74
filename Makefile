# `make demo` and `make test` are all that a newcomer needs; each sets up what it uses.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETTINGS := setup.cfg pyproject.toml
# Processes that run tests: those of engines wait for daemons, and those of servers and of jobs that are stopped wait now
# and then, and leave their cores to the others.
CORES := $(shell getconf _NPROCESSORS_ONLN)
PROCESSES = -n $(shell expr $(CORES) + 2)
# Tests start Python a thousand times: without its cache of compiled modules each start would compile them again.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
NATIVE := native/Cargo.toml native/Cargo.lock native/pyproject.toml $(shell find native/src -name "*.rs")
HAS_CARGO := command -v cargo >/dev/null 2>&1

.PHONY: demo test test-quick pythons lint docs bench wheel pex matrix site emr-smoke picture rooms clean hadoop-up hadoop-down spark

demo: $(VENV)/.native $(VENV)/.serve
	@bash tools/demo.sh

# Engines that are not installed (Java, Maven, Spark) are named skips, or failures with CRAWLMILL_REQUIRE_ENGINES=1.
test: $(VENV)/.tested $(VENV)/.native $(VENV)/.serve
	@echo "== running all tests: a few minutes, or a quarter of an hour with Java and Maven, on real engines; now and then a line says what is running"
	@$(PYTEST) -m "" $(PROCESSES) --durations 40 --durations-min 5 $(TESTS)

test-quick: $(VENV)/.tested $(VENV)/.native $(VENV)/.serve
	@echo "== running the tests that need no Hadoop and no Spark, and are not slow"
	@$(PYTEST) $(PROCESSES) $(TESTS)

pythons:
	@bash tools/pythons.sh

lint: $(VENV)/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@if $(HAS_CARGO); then cd native && set -ex && cargo fmt --check && \
		cargo clippy -q --all-targets -- -D warnings && cargo test -q --no-default-features; fi

docs: $(VENV)/.tested
	$(BIN)/python tools/help_pages.py
	$(BIN)/python -m pytest tests/docs

# The pages of docs/ as a site in build/site, searchable without a server and without the network.
site: $(VENV)/.tested
	@$(BIN)/python tools/site/build.py

bench: $(VENV)/.native
	$(BIN)/python bench/run.py $(BENCH)

# eval "$(make -s hadoop-up)": export lines come on stdout, all else on stderr.
hadoop-up:
	@$(MAKE) -s $(VENV)/.installed >&2
	@$(BIN)/python tools/hadoop/cluster.py start

hadoop-down:
	@$(PYTHON) tools/hadoop/cluster.py stop

# Environments with Spark 3.5 and 4, for tests and for trying; their spark-submit is printed.
spark:
	@$(PYTHON) tools/spark/environments.py

wheel: $(VENV)/.installed
	$(BIN)/pip wheel -q --no-deps --wheel-dir dist .
	@if $(HAS_CARGO); then $(BIN)/pip wheel -q --no-deps --wheel-dir dist ./native; fi

# All jobs x lists x engines that are there, into docs/matrix.md: an hour with all of them. MATRIX="--engines local,hadoop"
matrix: $(VENV)/.tested
	@$(BIN)/python tools/matrix.py $(MATRIX)

# The pictures of packages and rooms in docs/architecture.md, drawn from the imports.
rooms: $(VENV)/.made
	@$(BIN)/python tools/rooms.py

# The picture in README.md, recorded from a run on the sample crawl, and those of reports in docs/.
picture: $(VENV)/.native
	@test -f sample-crawl/answers.json || $(BIN)/crawlmill sample sample-crawl
	@$(BIN)/python tools/record_run.py
	@$(BIN)/python tools/report_pictures.py

# A first real run on EMR, never in CI: docs/first-emr-run.md. It costs well below a dollar.
emr-smoke: $(VENV)/.native
	@$(if $(BUCKET),,echo "name a bucket of yours: make emr-smoke BUCKET=NAME" >&2; exit 1;) $(BIN)/python tools/emr_smoke.py $(SMOKE) "$(BUCKET)"

# One file with all that tasks need on nodes which have only Python; PYTHON must be of the nodes' minor version.
pex:
	@$(PYTHON) tools/pex.py

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Crawlmill needs Python 3.11 or newer, this is " + sys.version.split()[0] + ": name another one with make PYTHON=python3.12")'
	@echo "== making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# The accelerated decoders have no wheels for every platform; results are the same without them.
$(VENV)/.installed: $(VENV)/.made $(SETTINGS)
	@echo "== installing Crawlmill and what it needs into $(VENV)"
	@$(BIN)/pip install -q --disable-pip-version-check -e '.[fast,legacy,columnar,structured]' || \
		{ echo "== without accelerated decoders, the columnar index and structured data: they could not be installed"; $(BIN)/pip install -q -e .; }
	@touch $@

$(VENV)/.tested: $(VENV)/.installed
	@echo "== installing what the tests need"
	@$(BIN)/pip install -q --disable-pip-version-check -e '.[test,lint,docs]'
	@touch $@

# pywb, for `crawlmill serve`: other versions of packages than ours, so an environment of its own, within ours.
$(VENV)/.serve: $(VENV)/.made
	@echo "== installing pywb, for crawlmill serve, into $(VENV)/serve"
	@{ $(BIN)/python -m venv $(VENV)/serve && \
		$(VENV)/serve/bin/pip install -q --disable-pip-version-check 'pywb >= 2.9' 'setuptools < 81'; } >$(VENV)/serve.log 2>&1 || \
		{ rm -rf $(VENV)/serve; echo "== it could not be installed, and all else does without: see $(VENV)/serve.log"; }
	@touch $@

# Optional: where there is no cargo, or it fails, Python does the same work.
$(VENV)/.native: $(VENV)/.installed $(NATIVE)
	@if $(HAS_CARGO); then \
		echo "== building the native core: a minute at most" && \
		$(BIN)/pip install -q --disable-pip-version-check ./native >$(VENV)/native.log 2>&1 || \
		echo "== it could not be built: see $(VENV)/native.log"; fi
	@echo "== core in use: $$($(BIN)/python -c 'from crawlmill import core; print(core.name())')"
	@touch $@

clean:
	rm -rf $(VENV) build dist native/target sample-crawl demo-results lib/*.egg-info
