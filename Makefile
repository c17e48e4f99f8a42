# Two commands for a fresh machine with Python 3.11 or newer and make: `make run` and `make test`.
# Everything is installed into .venv; nothing outside this folder is changed.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
UV     := 0.13.9
ARGS   ?=

.DEFAULT_GOAL := help
.PHONY: help run test lint bench-prompt bench-pages bench-recall bench-latency bench-archive bench-capture bench-injection lock messages clean

help:  ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.runtime  ## Install, prepare the database with demo data, start web server and worker (PORT=8000)
	@$(BIN)/python bin/serve $(ARGS)

test: $(VENV)/.dev  ## The whole suite on SQLite, PostgreSQL and in Chromium (ARGS=--require-all: nothing may be left out)
	@$(BIN)/python bin/test $(ARGS)

lint: $(VENV)/.dev  ## Style, types, import contracts, missing migrations, the API schema
	@$(BIN)/python bin/lint $(ARGS)

bench-prompt: $(VENV)/.dev  ## The prompt endpoint against its peers, in one run
	@$(BIN)/python -m bench.prompt $(ARGS)

bench-recall: $(VENV)/.dev  ## How well recall finds, beside its peers (ARGS="DATA": folder with recall/ and commits/)
	@$(BIN)/python -m bench.recall $(ARGS)

bench-latency: $(VENV)/.dev  ## How fast recall is, beside full-text search and a hello
	@$(BIN)/python -m bench.latency $(ARGS)

bench-archive: $(VENV)/.dev  ## Archiving beside plain SQL of the same rows
	@$(BIN)/python -m bench.archive $(ARGS)

bench-capture: $(VENV)/.dev  ## Reading 26,000 commits beside git's own log
	@$(BIN)/python -m bench.capture $(ARGS)

bench-injection: $(VENV)/.dev  ## The prompt with knowledge for its task, beside the same without, at 10,000 items
	@$(BIN)/python -m bench.injection $(ARGS)

bench-pages: $(VENV)/.dev  ## The admin's pages at 100 and at 100,000 rows
	@$(BIN)/python -m bench.pages $(ARGS)

lock: $(VENV)/.dev  ## Write the lock files again after a change of pyproject.toml (UPGRADE=1: newest versions)
	$(BIN)/uv pip compile $(if $(UPGRADE),--upgrade) --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	    pyproject.toml --output-file requirements.txt
	$(BIN)/uv pip compile $(if $(UPGRADE),--upgrade) --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	    --extra dev pyproject.toml --output-file requirements-dev.txt

messages: $(VENV)/.dev  ## Collect the translatable strings and compile the catalogues (needs gettext)
	@command -v xgettext >/dev/null || { echo "make messages needs GNU gettext (Debian: apt-get install gettext)."; exit 1; }
	$(BIN)/python manage.py makemessages --locale zh_Hans --no-wrap --add-location file \
	    --ignore '.venv/*' --ignore 'var/*' --ignore 'tests/*' --ignore 'bench/*' --ignore 'staticfiles/*'
	$(BIN)/python manage.py compilemessages --locale zh_Hans --ignore '.venv/*'

clean:  ## Remove caches and build output; your data in var/ and the environment in .venv stay
	rm -rf .mypy_cache .ruff_cache .import_linter_cache .hypothesis .pytest_cache htmlcov .coverage staticfiles var/test
	find . -path ./$(VENV) -prune -o -type d -name __pycache__ -exec rm -rf {} +

# -- environment ------------------------------------------------------------------------------------------------------

$(VENV)/.created:
	@command -v $(PYTHON) >/dev/null || { \
	    echo "$(PYTHON) was not found. Fieldbook needs Python 3.11 or newer."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "Fieldbook needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) -c 'import platform; print(platform.python_version())')."; \
	    echo "Name a newer one, for example: make run PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	    echo "Could not make a virtual environment (Debian and Ubuntu: apt-get install python3-venv)."; exit 1; }
	@touch $@

# uv installs in a third of pip's time; pip checks the same hashes where uv is not to be had.
$(VENV)/.uv: $(VENV)/.created
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV) \
	    || echo "uv $(UV) could not be installed; pip does its work (slower)."
	@touch $@

define install
	@echo "Installing $(1) ..."
	@if [ -x $(BIN)/uv ]; then \
	    $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r $(1); \
	else \
	    $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1); \
	fi
	@touch $@
endef

$(VENV)/.runtime: requirements.txt $(VENV)/.uv
	$(call install,requirements.txt)

$(VENV)/.dev: requirements-dev.txt $(VENV)/.uv
	$(call install,requirements-dev.txt)
