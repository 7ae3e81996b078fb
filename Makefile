# Two commands are enough: `make run` starts Memento, `make test` runs everything that CI runs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PORT   ?= 6366

.PHONY: run test install format lint types unit wheel bench crash soak fuzz mutants coverage docs site notebooks lab dist bundle check-image release yasgui pages-files test-pages newcomer screenshots clean

run: $(VENV)/.installed
	$(BIN)/memento serve --port $(PORT)

test: lint types unit wheel

install: $(VENV)/.installed

# Reinstalled only when what is to be installed changes, so that the second `make run` starts in seconds.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --group dev --editable .
	touch $@

format: $(VENV)/.installed
	$(BIN)/ruff format src tests
	$(BIN)/ruff check --fix src tests

lint: $(VENV)/.installed
	$(BIN)/ruff format --check src tests
	$(BIN)/ruff check src tests

types: $(VENV)/.installed
	$(BIN)/mypy

unit: $(VENV)/.installed
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

# The wheel must carry the ontology and the queries: it is installed in an empty folder and checks itself there.
wheel: $(VENV)/.installed
	PYTHON=$(BIN)/python sh tests/wheel.sh

bench: $(VENV)/.installed
	$(BIN)/python -m pytest -m bench -s tests/bench

crash: $(VENV)/.installed
	$(BIN)/python -m pytest -m crash

# Mixed load on a running service: memory, descriptors, threads and disk, printed and bounded.
HOURS ?= 1
soak: $(VENV)/.installed
	$(BIN)/python tests/bench/soak.py --hours $(HOURS)

# What `make test` does for some seconds, each of seven tests for so many: ten minutes in all. `SECONDS=500` is an hour.
SECONDS ?= 85
fuzz: $(VENV)/.installed
	FUZZ_S=$(SECONDS) FUZZ_SEED=$${FUZZ_SEED:-$$(date +%s)} $(BIN)/python -m pytest -n 0 tests/fuzz

# Changes one thing after the other in the code of rights, and looks whether a test notices; docs/mutants.md explains what survives.
mutants: $(VENV)/.installed
	$(BIN)/python tests/mutants.py

# Tracing makes tests a third slower, so that CI's `make test` goes without it; this prints the table and writes docs/coverage.md.
coverage: $(VENV)/.installed
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --cov --cov-report=term:skip-covered --cov-report=json:.coverage.json
	$(BIN)/python tests/coverage_page.py .coverage.json docs/coverage.md

# Every generated page: references, settings, terms, queries, the map of the rooms. `make test` fails when one is stale.
docs: $(VENV)/.installed
	$(BIN)/memento docs .

# The documentation as a site in site/, which `memento serve` shows at /docs; a broken link or anchor is an error.
site: $(VENV)/.installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet --clean

# Runs every notebook and keeps what it shows; `make lab` opens them in JupyterLab.
notebooks: $(VENV)/.installed
	MEMENTO_HOME=$$(mktemp -d) $(BIN)/jupyter-execute --inplace notebooks/*.ipynb

lab: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[notebook]'
	$(BIN)/jupyter-lab notebooks

# The wheel and the source archive.
dist: $(VENV)/.installed
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist . > /dev/null
	@ls -l dist

# dist/memento-VERSION.mcpb: what clients of MCP on the desktop install by a double click.
bundle: dist
	$(BIN)/python packaging/bundle.py dist

# Runs the steps of packaging/Dockerfile in a folder of /tmp, where there is no container engine.
check-image: dist
	PYTHON=$(BIN)/python sh packaging/check-image.sh

# Builds, checks and tags what `VERSION=` says, with the bundle and server.json, where pyproject.toml and CHANGELOG.md say the same
# and nothing is uncommitted.
release: $(VENV)/.installed
	PYTHON=$(BIN)/python VERSION=$(VERSION) sh tests/release.sh

# Needs npm and the network; what it fetches is committed.
yasgui:
	sh tests/interfaces/web/yasgui.sh

# htmx, Cytoscape and axe-core, as `yasgui`.
pages-files:
	sh tests/interfaces/web/pages.sh

# The pages for people alone, over HTTP and in a browser; `make unit` runs them too.
test-pages: $(VENV)/.installed
	$(BIN)/python -m pytest -n 0 tests/interfaces/web/test_pages.py tests/interfaces/web/test_pages_browser.py

# Ten tasks of somebody who installs the wheel into a fresh environment: prints steps, seconds and outcome of each. Needs an index.
newcomer: dist
	$(BIN)/python tests/newcomer.py dist/*.whl

# The pictures of docs/pages.md; needs a Chromium.
screenshots: $(VENV)/.installed
	PYTHONPATH=tests $(BIN)/python tests/interfaces/web/screenshots.py

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache
