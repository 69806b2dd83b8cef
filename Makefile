# Two commands do all set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
NODE_STAMP := tests/clients/js/node_modules/.installed

.PHONY: setup demo serve test test-servers test-rooms lint bench soak browser train-voice clean

setup: $(STAMP) ## the virtual environment and the embedded models
	$(BIN)/antiphon models pull --embedded

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip -c constraints.txt
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev,clients]'
	$(BIN)/python -m pip check
	touch $@

$(NODE_STAMP): tests/clients/js/package.json tests/clients/js/install.sh | $(STAMP)
	cd tests/clients/js && PATH="$(abspath $(BIN)):$$PATH" sh ./install.sh
	touch $@

demo: setup ## a whole conversation on this machine; writes demo.wav and demo.html
	$(BIN)/python -m examples.demo

serve: setup
	$(BIN)/antiphon serve

# Tests that talk to whole servers by the real clock mostly wait: the others compute beside them, and give way. The models'
# tests stand with the former, so that both take about as long.
REAL_TIME := tests/clients tests/load tests/cases/test_runs.py tests/server/test_run.py tests/models

test: setup lint $(NODE_STAMP)
	@$(MAKE) --no-print-directory -j2 test-servers test-rooms

test-servers:
	$(BIN)/python -m pytest -m 'not soak' $(REAL_TIME)

test-rooms:
	nice -n 10 $(BIN)/python -m pytest -m 'not soak' $(REAL_TIME:%=--ignore=%)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy

soak: setup $(NODE_STAMP) browser ## minutes of wall-clock load
	$(BIN)/python -m pytest -m soak --timeout 3600

browser: ## for the tests that look at pages
	sh tests/bench/browser.sh

BENCH := docs/figures
SPEECH ?= ../shared/speech
PROMPTS ?= /usr/share/asterisk/sounds/en_US_f_Allison

bench: setup browser ## the figures of docs/bench.md; about an hour, on a quiet machine
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[bench,peers]'
	$(BIN)/antiphon models pull whisper-base kokoro-82m-int8 kokoro-voices dnsmos
	mkdir -p $(BENCH)
	$(BIN)/antiphon bench selftest --out $(BENCH)/selftest.json
	$(BIN)/antiphon bench report $(BENCH)/selftest.json --png $(BENCH)/report.png
	SCREENSHOT=$(BENCH)/page.png $(BIN)/python -m pytest -m soak tests/bench/test_page_browser.py
	$(BIN)/antiphon bench floor --out $(BENCH)/floor.json
	$(BIN)/antiphon bench tts --model hibari --streams 1,16 --blocks 2 --burst --peers hibari,kokoro --echo --out $(BENCH)/tts.json
	$(BIN)/antiphon bench tts --model ssm --streams 1,50 --starts 40 --blocks 1 --out $(BENCH)/tts-ssm.json
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[piper]'
	$(BIN)/antiphon bench tts --model hibari --streams 1 --starts 24 --blocks 2 --peers hibari,kokoro,piper --quality --out $(BENCH)/tts-peers.json
	$(BIN)/antiphon bench tts --model hibari --streams "" --capacity --capacity-start 64 --out $(BENCH)/capacity.json
	$(BIN)/antiphon bench tts --model hibari --streams "" --wer --peers hibari --out $(BENCH)/wer.json
	$(BIN)/antiphon bench stt --speech $(SPEECH)/read --texts $(SPEECH)/read.tsv --streams 1,4,8 --repeat 2 \
	  --out $(BENCH)/stt.json
	$(BIN)/antiphon bench stt --turns train/turn/pauses.json --recordings $(SPEECH) --recordings $(PROMPTS) \
	  --turn-streams 4 --no-offline --out $(BENCH)/stt-turns.json
	$(BIN)/antiphon bench stt --turns train/turn/pauses.json --recordings $(SPEECH) --recordings $(PROMPTS) \
	  --turn-clips 48 --turn-streams 4 --noise $(SPEECH)/noise --turn-snr 20,10,5 --no-offline --out $(BENCH)/stt-turns-noise.json
	$(BIN)/antiphon bench conversation --streams 1 --rounds 2 --clips 0 --out $(BENCH)/conversation.json
	$(BIN)/antiphon bench conversation --streams "" --scenario none --clips 0 --feeding 8 --out $(BENCH)/feeding.json
	$(BIN)/antiphon bench conversation --streams "" --scenario none --clips 124 --noise $(SPEECH)/noise \
	  --babble $(SPEECH)/librispeech --out $(BENCH)/selectivity.json
	$(BIN)/antiphon bench stt --speech $(SPEECH)/read --texts $(SPEECH)/read.tsv --streams 4 --noise $(SPEECH)/noise \
	  --rir $(SPEECH)/rir --telephone --nothing 60 --minutes 30 --faster-than-real-time --out $(BENCH)/stt-noise.json

GPU := .venv-gpu
GPU_BENCH := $(GPU)/bin/antiphon bench tts --model ssm --streams 1,50,200 --starts 100 --blocks 1
ON_GPU := ANTIPHON_ENGINE__PROVIDER=cuda ANTIPHON_SERVER__MAX_STREAMS=400
ON_CPU := ANTIPHON_ENGINE__PROVIDER=cpu ANTIPHON_SERVER__MAX_STREAMS=400

bench-gpu: ## the state-space voice on a rented GPU (CUDA 13) and on its host's cores; ends within 8 minutes
	timeout 480 $(MAKE) bench-gpu-steps

bench-gpu-steps: $(GPU)/.installed
	mkdir -p $(BENCH)
	$(ON_GPU) $(GPU)/bin/antiphon check > $(GPU)/check.txt; cat $(GPU)/check.txt
	grep -q 'ssm decoder: cuda' $(GPU)/check.txt # or there is nothing to measure
	$(ON_GPU) $(GPU_BENCH) --note "provider: cuda" --out $(BENCH)/gpu.json
	$(ON_CPU) $(GPU_BENCH) --note "provider: cpu, the same machine" --out $(BENCH)/gpu-host.json

$(GPU)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(GPU)
	$(GPU)/bin/python -m pip install --quiet -c constraints.txt -e '.[bench,gpu]'
	$(GPU)/bin/python -m pip uninstall --quiet --yes onnxruntime # both have the same files
	$(GPU)/bin/python -m pip install --quiet -c constraints.txt --force-reinstall --no-deps onnxruntime-gpu
	$(GPU)/bin/antiphon models pull --embedded
	touch $@

TRAIN := .venv-train

train-voice: $(TRAIN)/.installed ## the state-space voice from nothing: hours; REDUCED=1: minutes. nice, resumable
	nice -n 19 $(TRAIN)/bin/python -m train.voice.run $(if $(REDUCED),--reduced)

$(TRAIN)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(TRAIN)
	$(TRAIN)/bin/python -m pip install --quiet -c constraints.txt -e '.[train,bench]'
	$(TRAIN)/bin/antiphon models pull --embedded
	touch $@

clean:
	rm -rf $(VENV) $(TRAIN) $(GPU) build dist *.egg-info tests/clients/js/node_modules
