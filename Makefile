# make run: the app on the sample workspace. make test: everything that can be tested here.
PYTHON ?= python3
VENV := .venv
PORT ?= 8501
BIN := $(VENV)/bin

.PHONY: run test bench bench-desk bench-agreement bench-exchange soak lint screenshots clean chromium

run: $(VENV)/run.stamp
	@echo "Second Look: http://127.0.0.1:$(PORT)"
	@$(BIN)/python -m streamlit run app.py --server.port $(PORT)

# Two files at a time: much of the suite waits for servers and browsers.
test: $(VENV)/test.stamp chromium
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# How fast runs are, against a bare loop with the same client.
bench: $(VENV)/test.stamp
	$(BIN)/python -m benchmarks.run_speed

# How fast the desk is over 10,000 cases, alone, among ten reviewers and during a run.
bench-desk: $(VENV)/test.stamp chromium
	$(BIN)/python -m benchmarks.desk_speed

# How fast the Agreement page is over 1,000 to 100,000 reviews.
bench-agreement: $(VENV)/test.stamp chromium
	$(BIN)/python -m benchmarks.agreement_speed

# How fast 100,000 rows come in, against sqlite-utils alone, and what writing them takes.
bench-exchange: $(VENV)/test.stamp
	$(BIN)/python -m benchmarks.exchange_speed
	$(BIN)/python -m benchmarks.export_size

# Long runs against kills, outages and locks.
soak: $(VENV)/test.stamp
	$(BIN)/python -m pytest -m soak -v

lint: $(VENV)/test.stamp
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

# The pictures of the README, taken anew.
screenshots: $(VENV)/test.stamp chromium
	$(BIN)/python -m pytest tests/browser/test_newcomer.py
	cp tests/browser/screenshots/desk-revealed.png docs/desk.png
	cp tests/browser/screenshots/agreement-after.png docs/agreement.png

# A browser for the browser tests: what is there, else Debian's package, else Playwright's own.
chromium: $(VENV)/test.stamp
	@$(BIN)/python -m tests.browser.chromium || \
	{ command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq chromium fonts-noto-cjk >/dev/null; } || \
	$(BIN)/python -m playwright install --with-deps chromium

$(VENV)/run.stamp: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Second Look needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/test.stamp: requirements-test.txt $(VENV)/run.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-test.txt
	@touch $@

clean:
	rm -rf $(VENV) .pytest_cache .hypothesis .ruff_cache
