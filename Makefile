# AVA Cloud. `make` lists the targets; every target makes or repairs .venv first.
# PYTHON: the interpreter that .venv is made from (3.11 or 3.12).
PYTHON ?= python3
PY := .venv/bin/python
.DEFAULT_GOAL := help
.PHONY: clients test-clients help bootstrap demo test test-long test-faults fuzz-media chaos soak test-recordings test-gpu test-vllm eval-reasoner rehearse bench-gpu bench-index bench-answer bench-jobs bench-playback bench-clients bench-first-run eval compare eval-videos up down reset status lint lint-api api-changes lint-alerts lint-deploy lint-web bench-web lock lock-images sbom audit vendored translations freeze-release presets test-browser test-schema bench-abuse bench-billing bench-rls seed-load bench-console

# The demo reads these variables from its environment, so no shell sees them and quotes survive. `value` keeps make
# from expanding a $ in them.
ifdef VIDEO
override VIDEO := $(value VIDEO)
endif
ifdef QUESTION
override QUESTION := $(value QUESTION)
endif
ifdef CHOICES
override CHOICES := $(value CHOICES)
endif
export VIDEO QUESTION CHOICES FRESH COMPARE
export AVA_STARTED := $(shell date +%s)
# Compiled modules are kept, also where the caller's environment says otherwise: some targets start a hundred processes,
# and compiling the code takes each of them two seconds.
export PYTHONDONTWRITEBYTECODE :=

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

bootstrap: ## make or repair .venv
	@"$(PYTHON)" -m infra.local.bootstrap

demo: bootstrap ## index a video and ask it a question: VIDEO=… QUESTION='…' CHOICES='A|B'; COMPARE=1 asks it a second way too
	@$(PY) -m infra.local.demo

test: bootstrap ## run the tests on real servers; a part of them: ARGS='tests/jobs -k lease'
	@$(PY) -m pytest -n 3 --dist loadfile --no-loadscope-reorder --ignore=tests/faults --ignore=tests/gpu --ignore=tests/recordings --ignore=tests/schema -m "not long" $(ARGS)

test-long: bootstrap ## run the tests that take more than ten seconds each (about ten minutes)
	@$(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder --ignore=tests/faults --ignore=tests/gpu --ignore=tests/recordings --ignore=tests/schema -m long $(ARGS)

test-clients: bootstrap ## build both clients, install them into empty folders and run their READMEs (needs npm; minutes)
	@$(PY) -m pytest -q -n 0 -m "long or not long" tests/clients

test-browser: bootstrap ## open the pages of the app, of accounts, reports, shares and the console, and play videos, in Chromium (apt-get install chromium; minutes)
	@$(PY) -m pytest $(addsuffix /test_in_a_browser.py,tests/people tests/questions tests/shares tests/playback tests/console) tests/shares/test_player_in_a_browser.py $(wildcard tests/web/test_*in_a_browser.py) $(ARGS)

test-faults: bootstrap ## kill processes of the service while it indexes and compares methods; compare graph and bill (takes minutes)
	@$(PY) -m pytest tests/faults $(ARGS)

fuzz-media: bootstrap ## send damaged and hostile files through probe, frames and sound, one JSON line a kind: FILES=1000 SEED=1
	@$(PY) -m tests.engine.indexing.fuzz --files "$(or $(FILES),1000)" --seed "$(or $(SEED),1)"

test-schema: bootstrap ## send 10,000 requests made out of openapi.yaml, with and without a key (takes five minutes)
	@AVA_SCHEMA_EXAMPLES=$(or $(EXAMPLES),50) $(PY) -m pytest -s tests/schema $(ARGS)

chaos: bootstrap ## run the service under random faults, and compare each run with a calm one: RUNS=10 SEED=1 [ARGS=--keep]
	@$(PY) -m tests.faults.chaos --runs "$(or $(RUNS),1)" --seed "$(or $(SEED),0)" $(ARGS)

soak: bootstrap ## put the service under mixed load, and print memory, rows, sessions and reads as JSON lines: MINUTES=120
	@$(PY) -m tests.faults.soak --minutes "$(or $(MINUTES),120)" $(ARGS)

test-recordings: bootstrap ## index a real recording of ../shared/data and count its people by SQL (a few minutes)
	@$(PY) -m pytest tests/recordings $(ARGS)

test-gpu: bootstrap ## test hardware decoding and the models in process on an NVIDIA device (seconds; skipped without one)
	@$(PY) -m pytest -rs tests/gpu $(ARGS)

test-vllm: bootstrap ## test the model servers of a preset with a real vLLM on this CPU; the first run sets it up (about 2.5 GB)
	@$(PY) -m infra.vllm $(ARGS)

eval-reasoner: bootstrap ## serve the embedded reasoner by vLLM in 8 bits, about twice as fast for `make eval`, and print its settings
	@$(PY) -m infra.vllm reasoner

rehearse: bootstrap ## start the deployment as compose, terraform and the chart write it: PROFILE=embedded|openai|k8s [ARGS='--set NAME=VALUE']
	@$(PY) -m infra.rehearsal $(PROFILE) $(ARGS)

bench-index: bootstrap ## measure indexing, one JSON line per figure; some of them: ONLY=similarity
	@$(PY) -m bench.index --only "$(ONLY)"

bench-gpu: bootstrap ## measure hardware decoding and the models in process on an NVIDIA device, one JSON line per figure
	@$(PY) -m bench.gpu --only "$(ONLY)"

bench-answer: bootstrap ## measure answering, one JSON line per figure; some of them: ONLY=tri_view
	@$(PY) -m bench.answer --only "$(ONLY)"

bench-first-run: bootstrap ## measure `make demo` in an empty clone with empty caches, one JSON line per figure: LOAD=quiet|busy|both
	@$(PY) -m bench.first_run --load="$(or $(LOAD),both)"

bench-jobs: bootstrap ## measure the job queue, one JSON line per figure; some of them: ONLY=fair_claim_p95_ms
	@$(PY) -m bench.jobs --only "$(ONLY)"

bench-playback: bootstrap ## measure playback and clips, one JSON line per figure; some of them: ONLY=clips
	@$(PY) -m bench.playback --only "$(ONLY)"

bench-clients: bootstrap ## measure the Python client, the command ava and its MCP server, one JSON line per figure: ONLY=upload
	@$(PY) -m bench.clients --only "$(ONLY)"

bench-web: bootstrap ## measure what the web app loads, what open streams cost, how long pages take and how smooth the timeline is, one JSON line per figure: ONLY=sizes|streams|pages|pan
	@$(PY) -m bench.web --only "$(ONLY)"

bench-billing: bootstrap ## measure how fast usage is rated and how far estimates are off, one JSON line per figure; some of them: ONLY=rated
	@$(PY) -m bench.billing --only "$(ONLY)"

bench-abuse: bootstrap ## measure what dripping, streaming and flooding clients cost another tenant: ONLY=dripped_bodies
	@$(PY) -m bench.abuse --only "$(ONLY)"

bench-rls: bootstrap ## measure what row-level security costs list, get and search, one JSON line per figure
	@$(PY) -m bench.rls --only "$(ONLY)"

seed-load: bootstrap ## fill the database of DATABASE_SUPERUSER_URL: 1,000 tenants, 10 million ledger rows: SCALE=1
	@$(PY) -m bench.seed_load --scale "$(or $(SCALE),1)"

bench-console: bootstrap ## measure the console's pages and GET /v1/usage over the load of seed-load, one JSON line each: SCALE=1 ONLY=pages|usage
	@$(PY) -m bench.console --scale "$(or $(SCALE),1)" $(if $(ONLY),--only "$(ONLY)")

eval: bootstrap ## measure the quality of answers: SET=egoschema|nextqa|activitynet|tacos|languages DATA=folder ARM=name, SET=reading|times DATA=file, or SET=tape10 [LIMIT SEED OUT AGAINST EVENT_WORDS KINDS WORKERS]
	@$(PY) -m bench.evaluation --set="$(SET)" --data="$(DATA)" --arm="$(ARM)" --limit="$(LIMIT)" --seed="$(SEED)" --event-words="$(EVENT_WORDS)" --kinds="$(KINDS)" --workers="$(WORKERS)" --out="$(OUT)" --against="$(AGAINST)"

compare: bootstrap ## compare arms of make eval item by item: SET=egoschema|nextqa DATA=folder ARMS=ava,caption_rag [LIMIT SEED OUT EVENT_WORDS WORKERS]
	@$(PY) -m bench.evaluation.compare --set="$(SET)" --data="$(DATA)" --arms="$(ARMS)" --limit="$(LIMIT)" --seed="$(SEED)" --event-words="$(EVENT_WORDS)" --workers="$(WORKERS)" --out="$(OUT)"

eval-videos: bootstrap ## ask the questions of a manifest or a public benchmark about video files: MANIFEST=file VIDEOS=folder OUT=folder [FORMAT METHODS EFFORT ABLATE SHARD=i/n SERVICE PRICES VERDICTS KINDS LIMIT SEED WORKERS]
	@$(PY) -m bench.evaluation.videos --manifest="$(MANIFEST)" --videos="$(VIDEOS)" --out="$(OUT)" --format="$(FORMAT)" --methods="$(METHODS)" --effort="$(EFFORT)" --ablate="$(ABLATE)" --shard="$(SHARD)" --service="$(SERVICE)" --prices="$(PRICES)" --verdicts="$(VERDICTS)" --kinds="$(KINDS)" --limit="$(LIMIT)" --seed="$(SEED)" --workers="$(WORKERS)"

up: bootstrap ## run the service in the foreground; Ctrl-C stops it
	@$(PY) -m infra.local.supervisor up

down: bootstrap ## stop a service that another terminal runs
	@$(PY) -m infra.local.supervisor down

reset: bootstrap ## stop the service and delete all local data
	@$(PY) -m infra.local.supervisor reset

status: bootstrap ## show what runs
	@$(PY) -m infra.local.supervisor status

lint: bootstrap ## check style, types, import contracts, prose and links
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@$(PY) -m mypy --config-file frontend_api_schema/python/pyproject.toml -p ava_cloud
	@.venv/bin/lint-imports
	@$(PY) -m infra.prose_lint

lint-api: bootstrap ## lint openapi.yaml by all rules of Redocly; installs the tool at the first time (needs npm)
	@$(PY) -m infra.api_lint

api-changes: bootstrap ## name what in openapi.yaml breaks clients of an earlier release: SINCE=v1.0.0 (a commit or a tag)
	@$(PY) -m infra.api_changes "$(SINCE)"

lint-deploy: bootstrap ## check compose, terraform, the chart and the images without an engine; `make test` does so too
	@$(PY) -m pytest -q -n 0 $(addprefix tests/infra/test_,compose.py terraform.py chart.py chart_operators.py images.py) tests/infra/rehearsal $(ARGS)

lint-web: bootstrap ## check the types of the web app against openapi.yaml, its sizes and its translations; installs the tools at the first time (needs npm)
	@$(PY) -m infra.web_lint

lint-alerts: bootstrap ## check alert rules with promtool and run their tests; gets promtool at the first time (needs apt)
	@$(PY) -m infra.observability

clients: bootstrap ## write the generated parts of the clients, and the Postman collection, again from openapi.yaml (needs npm)
	@$(PY) -m infra.clients

lock: bootstrap ## write requirements.lock again from pyproject.toml
	@$(PY) -m infra.local.bootstrap lock

lock-images: bootstrap ## write the lock of each container image again (infra/images/*.lock)
	@$(PY) -m infra.image_locks $(ARGS)

sbom: bootstrap ## write the bill of materials of each container image to .local/sbom (CycloneDX)
	@$(PY) -m infra.supply_chain

audit: bootstrap ## look for known vulnerabilities in what the images install; REQUIRED=1 fails where the index publishes none
	@REQUIRED="$(REQUIRED)" $(PY) -m infra.audit

vendored: bootstrap ## fetch the browser libraries of the player and of the app again, as each vendored.json names them (needs npm)
	@$(PY) -m infra.vendored

freeze-release: bootstrap ## freeze the release that pyproject.toml names: its migrations, and a backup that later code upgrades
	@$(PY) -m infra.release

translations: bootstrap ## compile the German of the pages around the app
	@$(PY) -m infra.page_translations

presets: bootstrap ## write infra/presets/*.env again from the model table
	@$(PY) -m infra.presets
