# Everything a developer types. Nothing is needed but make and Python 3.11 or later.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# On a terminal pip shows what it downloads, because minutes of silence look like a fault.
PIP = $(BIN)/python -m pip --disable-pip-version-check $$(test -t 2 || echo --quiet)

# Processes that tests run in, and what is left out where nobody asks for it.
JOBS ?= 4
USUAL := not chaos and not slow
# Files with tests that measure time: to collect the others took ten seconds with nothing beside.
ALONE = $$(grep -rlw --include='test_*.py' 'mark\.alone' tests)

# Each process of a crawl imports the project; without its bytecode it would compile it as well.
unexport PYTHONDONTWRITEBYTECODE
# Values given on the command line (make demo KILL=1) reach the programs through the environment.
export HOSTILE KILL PRODUCTS WORKERS MINUTES

# A misspelt one on the command line would change nothing, and the user would wait for its effect.
GIVEN := HOSTILE KILL PRODUCTS WORKERS MINUTES JOBS WRITE BROWSER PYTHON VENV BIN PIP SHELL
UNKNOWN := $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(filter-out $(GIVEN),$(name))))
$(if $(strip $(UNKNOWN)),$(error $(strip $(UNKNOWN)) changes nothing here; there is $(GIVEN)))

.DEFAULT_GOAL := help
.PHONY: help demo test lint format docs pictures bench coverage mutants chaos soak lock sbom image digests clean

help: ## show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-8s %s\n", $$1, $$2}'

demo: $(VENV)/$(if $(HOSTILE),.browser,.run) ## crawl the demo shop with two workers (KILL=1, HOSTILE=1)
	@$(BIN)/scrapy demo

# Most tests wait more than they work, so that some run at a time, on servers of their own; what
# measures time comes after them, with nothing beside it. The second part runs in any case.
test: lint ## lint, then the whole suite but its slow part (JOBS=4)
	@$(BIN)/python -m pytest -m "$(USUAL) and not alone" -n $(JOBS) --dist worksteal; first=$$?; \
		$(BIN)/python -m pytest -m "$(USUAL) and alone" $(ALONE) && exit $$first

lint: $(VENV)/.dev ## style, types, and who may import whom
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/python -m crawler.extract.words.write_tables --check
	@$(BIN)/mypy
	@mkdir -p build
	@$(BIN)/lint-imports --no-logo >build/imports.log || { cat build/imports.log; exit 1; }

format: $(VENV)/.dev ## bring the code into its usual form
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format .
	@$(BIN)/python -m crawler.extract.words.write_tables
	@$(BIN)/python docs/write_settings.py
	@$(BIN)/python docs/write_meta.py
	@$(BIN)/python docs/write_reference.py

pictures: $(VENV)/.dev ## write docs/demo.svg and docs/dashboard anew, from real runs
	@$(BIN)/python docs/write_terminal.py
	@$(BIN)/python -m docs.write_dashboard

docs: $(VENV)/.docs ## build the pages of docs/ as a site, every link checked
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet && echo "build/site/index.html"

bench: $(VENV)/.dev build/peers/.made ## measure all of it, and write docs/benchmarks.md (15 minutes)
	@$(BIN)/python -m tests.benchmarks.suite --json build/bench.json --docs docs

coverage: $(VENV)/.dev ## lines and branches that the suite takes, by area (WRITE=1 writes the figures down)
	@rm -rf build/coverage && mkdir -p build/coverage
	@$(BIN)/coverage run -m pytest -m "$(USUAL) and not alone" -n $(JOBS) --dist worksteal
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage json --quiet -o build/coverage/found.json
	@$(BIN)/python -m tests.coverage_by_area build/coverage/found.json $(if $(WRITE),--write)

mutants: $(VENV)/.dev ## break pure modules in 200 places, and count how many breaks their tests notice
	@$(BIN)/python -m tests.mutants --jobs $(JOBS)

chaos: $(VENV)/.dev ## kill workers and servers at random, and count what is lost
	@$(BIN)/python -m pytest -m chaos

soak: $(VENV)/.dev ## crawl the demo shop over and over (MINUTES=30)
	@$(BIN)/python -m tests.benchmarks.soak

lock: ## write constraints.txt and the hashes in .ci/locks anew, for what pyproject.toml allows
	@rm -rf build/lock && $(PYTHON) -m venv build/lock
	@build/lock/bin/python -m pip --disable-pip-version-check --quiet install -e ".[dev,docs]"
	@build/lock/bin/python -m pip --disable-pip-version-check freeze --all --exclude-editable \
		| grep -E '^[A-Za-z0-9._-]+==[^ ]+$$' | grep -vE '^(pip|setuptools|wheel)==' \
		| LC_ALL=C sort -f > constraints.txt
	@build/lock/bin/python -m pip --disable-pip-version-check --quiet install "uv>=0.13,<0.14"
	@.ci/lock build/lock/bin/python
	@rm -rf build/lock
	@wc -l < constraints.txt | sed 's/$$/ versions written to constraints.txt/'

sbom: $(VENV)/.dev ## write the images' bills of materials (CycloneDX) to build/sbom
	@mkdir -p build/sbom
	@for image in image browser; do $(BIN)/cyclonedx-py requirements .ci/locks/$$image.txt \
		--pyproject pyproject.toml --mc-type application --output-reproducible --of JSON \
		--output-file build/sbom/$$image.cdx.json && echo "build/sbom/$$image.cdx.json"; done

image: $(VENV)/.dev ## build the image without a daemon, run it read-only on a shop, and write its bill of materials (root, BROWSER=1)
	@.ci/image $(if $(BROWSER),browser)
	@$(MAKE) --no-print-directory sbom
	@$(BIN)/python -m tests.benchmarks.image --json $(if $(BROWSER),--browser)

digests: ## print the base images with the digests that their registries have now, for .env
	@python3 .ci/digests

clean: ## remove what was built here; the embedded servers' data in .seine stays
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# Stamps, so that the second run costs nothing: .run holds what a crawl needs, .browser the browser
# lane besides, .dev everything.
#
# .made, because an interrupted first run leaves a Python without pip, by which each later run failed.
# Its time is Python's, so that nothing is installed anew where only this stamp is missing.
$(VENV)/.made:
	@$(BIN)/python -c 'import pip' 2>/dev/null || { \
		$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=/path/to/python3")' \
		&& $(PYTHON) -c 'import sys, importlib.util as u; sys.exit(u.find_spec("ensurepip") is None and "This Python has no ensurepip: apt-get install python3-venv, or make PYTHON=/path/to/python3")' \
		&& echo "making $(VENV) …" && $(PYTHON) -m venv $(VENV); }
	@touch -r $(BIN)/python $@

# pip compiles what it installs in one process, and tests of packages as well: 28 s instead of 15.
COMPILE = $(BIN)/python -m compileall -q -j 0 -x '/tests/' $(VENV)/lib >/dev/null 2>&1 || true

# Without its index pip says only that it knows no such version.
locked = $(PIP) install --no-compile --use-pep517 --require-hashes -r $(1) || { \
	echo "The packages cannot be installed: can this machine reach pip's index (pip config list)?" >&2; \
	exit 1; }

# A newer pip prints what setuptools warns of, which is that this is an editable installation.
OWN = PYTHONWARNINGS=ignore $(PIP) install --no-deps --no-build-isolation -e .

# Every package by its version and hash; the project itself, which has none, after them.
$(VENV)/.run: $(VENV)/.made pyproject.toml .ci/locks/catalogue.txt
	@echo "installing what a crawl needs …"
	@$(call locked,.ci/locks/catalogue.txt)
	@$(OWN)
	@$(COMPILE)
	@touch $@

# The hostile shop's last sections need a browser lane, and nothing else of development.
$(VENV)/.browser: $(VENV)/.made pyproject.toml .ci/locks/catalogue-browser.txt
	@echo "installing what the hostile demo needs …"
	@$(call locked,.ci/locks/catalogue-browser.txt)
	@$(OWN)
	@$(COMPILE)
	@touch $@ $(VENV)/.run

$(VENV)/.dev: $(VENV)/.made pyproject.toml .ci/locks/dev.txt
	@echo "installing what development needs …"
	@$(call locked,.ci/locks/dev.txt)
	@$(OWN)
	@$(COMPILE)
	@touch $@ $(VENV)/.run $(VENV)/.browser

$(VENV)/.docs: $(VENV)/.made pyproject.toml .ci/locks/docs.txt
	@echo "installing what the site needs …"
	@$(call locked,.ci/locks/docs.txt)
	@$(OWN)
	@$(COMPILE)
	@touch $@ $(VENV)/.run

# Other crawlers to be measured against, in an environment of their own.
build/peers/.made: tests/benchmarks/peers.txt
	@echo "installing what Seine is measured against …"
	@$(PYTHON) -m venv build/peers
	@build/peers/bin/python -m pip --disable-pip-version-check --quiet install -r $< && touch $@ \
		|| echo "not all of it can be installed here; the benchmark goes without"
