# You need two commands: `make run` starts Memento, `make test` runs everything that CI runs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PORT   ?= 6366

# Set in many containers, and then nothing compiled is kept: every process would compile torch and spaCy anew, nine seconds each time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test install format lint types unit repeat wheel bench crash soak fuzz mutants coverage docs site notebooks lab rows dist bundle check-image release yasgui pages-files test-pages newcomer words pictures screenshots clean

run: $(VENV)/.installed
	$(BIN)/memento serve --port $(PORT)

test: lint types unit wheel

install: $(VENV)/.installed

# What running needs. Reinstalls only if pyproject.toml changed, so that the second `make run` starts in seconds. Files are compiled when
# they are first imported, not all of them here: that halves the time and saves a tenth of the disk. torch brings its tests in C++ and the
# headers for compiling extensions, which nothing here uses: 200 MB.
TORCH = $(VENV)/lib/python*/site-packages/torch
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --progress-bar off --editable .
	rm -rf $(TORCH)/test $(TORCH)/include
	find $(TORCH)/bin -type f ! -name torch_shm_manager -delete
	touch $@

# What developing needs beside it: tests, types, clients, engines, the documentation's tools.
$(VENV)/.developed: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --progress-bar off --group dev --editable .
	touch $@

format: $(VENV)/.developed
	$(BIN)/ruff format src tests
	$(BIN)/ruff check --fix src tests

lint: $(VENV)/.developed
	$(BIN)/ruff format --check src tests
	$(BIN)/ruff check src tests

types: $(VENV)/.developed
	$(BIN)/mypy

# In the order of their names: by the number of their tests, as is usual, the files with one test that takes minutes come last, and one core
# waits for the other.
unit: $(VENV)/.developed
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

# Runs the tests RUNS times beside BUSY loops that keep a core busy each; a line for each run. `TESTS=tests/service` runs a part of them.
RUNS ?= 10
BUSY ?= 0
TESTS ?=
repeat: $(VENV)/.developed
	PYTHON=$(BIN)/python RUNS=$(RUNS) BUSY=$(BUSY) TESTS="$(TESTS)" sh tests/repeat.sh

# The wheel must contain the ontology and the queries: it is installed in an empty folder and checks itself there.
wheel: $(VENV)/.developed
	PYTHON=$(BIN)/python sh tests/wheel.sh

bench: $(VENV)/.developed
	$(BIN)/python -m pytest -m bench -s tests/bench

crash: $(VENV)/.developed
	$(BIN)/python -m pytest -m crash

# Puts mixed load on a running service for HOURS; prints memory, descriptors, threads and disk, and fails if they exceed their bounds.
HOURS ?= 1
soak: $(VENV)/.developed
	$(BIN)/python tests/bench/soak.py --hours $(HOURS)

# Runs each of the seven fuzz tests for SECONDS, ten minutes in all (`make test` runs them for a few seconds). `SECONDS=500` is an hour.
SECONDS ?= 85
fuzz: $(VENV)/.developed
	FUZZ_S=$(SECONDS) FUZZ_SEED=$${FUZZ_SEED:-$$(date +%s)} $(BIN)/python -m pytest -n 0 tests/fuzz

# Makes one change after the other to the code of rights, and checks that a test fails; tests/mutants.py explains those that survive.
mutants: $(VENV)/.developed
	$(BIN)/python tests/mutants.py

# Prints the coverage of every file that is not fully covered. Tracing makes tests a third slower, so `make test` does without it.
coverage: $(VENV)/.developed
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --cov --cov-report=term:skip-covered

# Prints which features work, in part or not at all, and runs the tests that try them; `ONLY='S0 S4-38'` takes a part.
ONLY ?=
rows: $(VENV)/.developed
	$(BIN)/python tests/rows.py $(ONLY)

# Writes every generated page: references, settings, terms, queries, the map of the packages. `make test` fails if one is stale.
docs: $(VENV)/.developed
	$(BIN)/memento docs .

# Builds the documentation site in site/, which `memento serve` shows at /docs; a broken link or anchor is an error.
site: $(VENV)/.developed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet --clean

# Runs every notebook and saves its outputs; `make lab` opens them in JupyterLab.
notebooks: $(VENV)/.developed
	MEMENTO_HOME=$$(mktemp -d) $(BIN)/jupyter-execute --inplace notebooks/*.ipynb

lab: $(VENV)/.developed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[notebook]'
	$(BIN)/jupyter-lab notebooks

# Builds the wheel and the source archive.
dist: $(VENV)/.developed
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist . > /dev/null
	@ls -l dist

# Builds dist/memento-VERSION.mcpb, the bundle that desktop clients of MCP install by a double click.
bundle: dist
	$(BIN)/python packaging/bundle.py dist

# Runs the steps of packaging/Dockerfile in a folder of /tmp, for machines without a container engine.
check-image: dist
	PYTHON=$(BIN)/python sh packaging/check-image.sh

# Builds, checks and tags the release `VERSION=`, with the bundle and server.json. pyproject.toml and CHANGELOG.md must have the same
# version, and nothing may be uncommitted.
release: $(VENV)/.developed
	PYTHON=$(BIN)/python VERSION=$(VERSION) sh tests/release.sh

# Fetches YASGUI; needs npm and the network. Its result is committed.
yasgui:
	sh tests/interfaces/web/yasgui.sh

# Fetches htmx, Cytoscape and axe-core, as `yasgui` does.
pages-files:
	sh tests/interfaces/web/pages.sh

# Tests only the pages for people, over HTTP and in a browser; `make unit` includes these tests.
test-pages: $(VENV)/.developed
	$(BIN)/python -m pytest -n 0 tests/interfaces/web/test_pages.py tests/interfaces/web/test_pages_browser.py

# Installs the wheel into a fresh environment and does ten tasks of a new user: prints steps, seconds and outcome of each. Needs a
# package index.
newcomer: dist
	$(BIN)/python tests/newcomer.py dist/*.whl

# Prints how many words of the docs are written by hand, page by page; `make test` fails beyond 55,000.
words: $(VENV)/.developed
	$(BIN)/python tests/words.py

# Draws the picture of claims in time, of the README.
pictures: $(VENV)/.developed
	$(BIN)/python tests/pictures.py

# Makes the pictures of docs/pages.md; needs a Chromium.
screenshots: $(VENV)/.developed
	PYTHONPATH=tests $(BIN)/python tests/interfaces/web/screenshots.py

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache
