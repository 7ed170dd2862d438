"""Test mode: an index by scripted models, and answers of fixed words with real evidence of the indexed video.

A question whose text is one of the words below has the outcome that it names, so that a program can meet each of them.
"""

from __future__ import annotations

from uuid import UUID

from backend.ekg.reader import PostgresGraph
from backend.jobs.services import JobFailed
from backend.tenancy.sandboxes import is_sandbox
from gpu_workers.engine.answering.contract import Answer, CitationRecord, ClaimRecord, QuestionInput
from gpu_workers.engine.models.roles import IndexModels
from gpu_workers.engine.models.scripted import INDEX_MODELS
from gpu_workers.tasks.models import index_models

FAIL, ABSTAIN = "test:fail", "test:abstain"
NOTE = "This answer is scripted: it was asked for with a test key, and no model has read the recording."
MOST_CITED = 3


def index_models_of(tenant_id: UUID) -> IndexModels:
    """Return the models that index a tenant's videos; those of a sandbox are scripted."""
    return INDEX_MODELS if is_sandbox(tenant_id) else index_models()


def scripted_answer(question: QuestionInput, graph: PostgresGraph) -> Answer:
    """Return the answer to a question of test mode: the first choice, or what the first event of the scope shows.

    Raises JobFailed `test_failure` for FAIL. Abstains on ABSTAIN, and if the scope has no event.
    """
    if question.question == FAIL:
        raise JobFailed("test_failure", "The question was to fail.", retryable=False)
    places = graph.timeline(limit=MOST_CITED)
    if not places or question.question == ABSTAIN:
        return Answer("", None, None, "insufficient_evidence", detail="no_evidence", notes=(NOTE,))
    events = graph.load_events([place.event_id for place in places])
    frames = {frame.event_id: frame for frame in graph.frames_of(list(events), limit=1)}
    choice = 0 if question.choices else None
    text = question.choices[0] if question.choices else events[places[0].event_id].summary
    citations = tuple(
        CitationRecord(
            place.video_id,
            place.event_id,
            place.span.start_ms,
            place.span.end_ms,
            frames[place.event_id].ms if place.event_id in frames else None,
            frames[place.event_id].id if place.event_id in frames else None,
            events[place.event_id].summary,
            "supported",
            claims=(0,),
        )
        for place in places
    )
    claim = ClaimRecord(text, "supported", tuple(range(len(citations))))
    return Answer(text, choice, 0.9, "answered", citations, claims=(claim,), notes=(NOTE,), method_version="test mode")
