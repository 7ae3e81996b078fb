# Two commands are enough: `make run` starts Memento, `make test` runs everything that CI runs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PORT   ?= 6366

.PHONY: run test install format lint types unit wheel bench crash docs yasgui clean

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

docs: $(VENV)/.installed
	$(BIN)/memento config docs > docs/settings.md
	$(BIN)/memento connect docs > docs/clients.md
	$(BIN)/memento ontology docs > docs/ontology.md
	$(BIN)/memento ontology context > ontology/context.jsonld

# Needs npm and the network; what it fetches is committed.
yasgui:
	sh tests/interfaces/web/yasgui.sh

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
