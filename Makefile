# The two commands a stranger needs: `make demo` and `make test`. Each sets up all it needs by itself.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP_FLAGS := --quiet --disable-pip-version-check
TSC := typescript@5.9.3  # checks the page's types, where there is Node.js

.PHONY: demo play test test-slow check lint types peers kaggle clean

demo: .venv/.installed-train
	@$(BIN)/tengen demo
	@echo; echo "Play it in your browser: $(BIN)/tengen serve"

# Against what the newest `make demo` has learned, or against the bundled network.
play: .venv/.installed-train
	@newest=$$(ls -td runs/demo*/best 2>/dev/null | head -1); \
		$(BIN)/tengen play connect4 $${newest:+--opponent "zero:$${newest%/best}"}

test: .venv/.installed-dev .venv/.chromium lint types
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder

test-slow: .venv/.installed-dev .venv-kaggle/.installed
	$(BIN)/pytest -m slow  # one after the other: training wants all cores

# The quick part of `make test`, for between two edits.
check: .venv/.installed-dev lint types
	$(BIN)/pytest -x tests/test_architecture.py tests/games/test_mnk.py tests/games/test_renju_cases.py \
		tests/games/test_drawing.py

lint: .venv/.installed-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .

types: .venv/.installed-dev
	@$(BIN)/mypy
	@if npx --yes -p $(TSC) tsc --version > /dev/null 2>&1; then npx --yes -p $(TSC) tsc -p jsconfig.json; fi

.venv/.created:
	@echo "Setting up .venv (once) ..."
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/.installed-train: .venv/.created pyproject.toml constraints.txt
	@$(BIN)/pip install $(PIP_FLAGS) -c constraints.txt -e '.[train,web]'
	@$(BIN)/tengen warm
	@touch $@

# OpenSpiel comes without SciPy, which our tests of it do not use: where it is, Numba imports it in every
# process, a fifth of the time that a command needs to start.
.venv/.installed-dev: .venv/.created pyproject.toml constraints.txt
	@$(BIN)/pip install $(PIP_FLAGS) -c constraints.txt -e '.[dev]'
	@$(BIN)/pip install $(PIP_FLAGS) -c constraints.txt --no-deps open_spiel
	@$(BIN)/tengen warm
	@touch $@ .venv/.installed-train

# The browser for the tests of the page: an installed one, else one by apt (as root), else Playwright's own.
.venv/.chromium: .venv/.installed-dev
	@$(BIN)/python -m tests.web.browser.chromium
	@touch $@

# A second environment with the systems that `tengen bench` compares with, pinned.
peers: .venv-peers/.installed

.venv-peers/.installed: constraints-peers.txt
	@$(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/pip install $(PIP_FLAGS) -c constraints-peers.txt open_spiel jax jaxlib mctx pgx
	@touch $@

# A third one with Kaggle's package, for the tests of `tengen kaggle`: without what its other games need.
kaggle: .venv-kaggle/.installed

.venv-kaggle/.installed: constraints-kaggle.txt
	@$(PYTHON) -m venv .venv-kaggle
	@.venv-kaggle/bin/pip install $(PIP_FLAGS) --no-deps -c constraints-kaggle.txt kaggle-environments
	@.venv-kaggle/bin/pip install $(PIP_FLAGS) -c constraints-kaggle.txt numpy attrs flask jsonschema requests
	@touch $@

clean:
	rm -rf .venv .venv-peers .venv-kaggle .mypy_cache .ruff_cache .pytest_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
