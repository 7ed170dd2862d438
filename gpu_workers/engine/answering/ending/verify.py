"""Verdicts of models on claims: of an entailer, of the reasoner in one call, of the checker that looks at frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from uuid import UUID

from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls
from gpu_workers.engine.answering.context import fitted
from gpu_workers.engine.answering.contract import CitationStatus
from gpu_workers.engine.answering.ending.claims import claim_status, statement_of
from gpu_workers.engine.answering.looking.looks import Look, findings_schema, read_findings
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.ekg import Span
from gpu_workers.engine.models.roles import Entailment, Message, ModelError, ObserveRequest
from gpu_workers.engine.models.served.structured import list_of, object_of, read_object, rows_of
from gpu_workers.engine.ports import StoredEvent, StoredFrame
from gpu_workers.engine.prompts import load
from gpu_workers.engine.retrieval.frames import frame_evidence

SURE = 0.7
"""Minimum probability of an entailer's verdict on a claim; an initial value."""

MOST_VERIFIED = 24
"""Maximum number of citations that one call of the reasoner judges."""

PASSAGE_TOKENS = 160
"""Maximum tokens of a passage that the reasoner judges by."""

VERDICT_TOKENS = 24
"""Tokens of one verdict in the reasoner's reply."""

Link = tuple[int, UUID]
"""A claim, by its index, and an event that is cited for it."""

_VERDICTS: dict[str, CitationStatus] = {
    "supported": "supported",
    "contradicted": "contradicted",
    "unclear": "unverified",
}
_BEARINGS: dict[str, CitationStatus] = {"supports": "supported", "contradicts": "contradicted"}


def by_entailment(
    asked: Asked, calls: Calls, claims: Sequence[str], links: Sequence[Link], texts: Mapping[UUID, str]
) -> dict[Link, CitationStatus]:
    """Return the verdicts of the entailer; none without one, or if it fails."""
    if asked.entailer is None or not links:
        return {}
    statements = [statement_of(claim, asked.question.question) for claim in claims]
    try:
        found = asked.entailer.entail(
            [(texts[event_id], statements[index].text) for index, event_id in links], meter=calls.meter
        )
    except ModelError:
        return {}
    return {
        link: entailed_verdict(entailment, denied=statements[link[0]].reply == "no")
        for link, entailment in zip(links, found, strict=True)
    }


def entailed_verdict(entailment: Entailment, *, denied: bool = False) -> CitationStatus:
    """Return the verdict of an entailer on (passage, statement). denied: whether the claim denies the statement."""
    for_it, against_it = entailment.entails, entailment.contradicts
    if denied:
        for_it, against_it = against_it, for_it
    if for_it >= SURE:
        return "supported"
    return "contradicted" if against_it >= SURE else "unverified"


def by_reasoner(
    asked: Asked, calls: Calls, claims: Sequence[str], links: Sequence[Link], texts: Mapping[UUID, str]
) -> dict[Link, CitationStatus]:
    """Return the reasoner's verdicts on the first MOST_VERIFIED citations, in one call. Those that it gives no readable
    verdict on are missing, and all are if the call fails. Raises neither Halt nor ModelError."""
    judged = [link for link in links if texts[link[1]]][:MOST_VERIFIED]
    if not judged or calls.halted:
        return {}
    count = asked.models.reasoner.count_tokens
    passages = {event_id: number for number, event_id in enumerate(dict.fromkeys(link[1] for link in judged), start=1)}
    cited: dict[int, list[int]] = {}
    for index, event_id in judged:
        cited.setdefault(index, []).append(passages[event_id])
    prompt = load("verify", asked.question.profile).substitute(
        question=asked.question.question,
        passages="\n".join(f"{n}. {fitted(as_data(texts[id_]), count, PASSAGE_TOKENS)}" for id_, n in passages.items()),
        statements="\n".join(
            f"{index + 1}. {as_data(claims[index])} (passages {', '.join(map(str, numbers))})"
            for index, numbers in cited.items()
        ),
    )
    verdict = object_of(
        {
            "statement": {"type": "integer"},
            "passage": {"type": "integer"},
            "verdict": {"type": "string", "enum": list(_VERDICTS)},
        }
    )
    reply = calls.ask_once(
        [Message("user", (prompt,))],
        stage="verify",
        schema=object_of({"verdicts": list_of(verdict, len(judged))}),
        max_tokens=32 + VERDICT_TOKENS * len(judged),
        seed=asked.seed_of("verify"),
        timed="citations",
    )
    link_of = {(index + 1, passages[event_id]): (index, event_id) for index, event_id in judged}
    statuses: dict[Link, CitationStatus] = {}
    for row in rows_of(reply or "", "verdicts"):
        if isinstance(row, dict):
            link = link_of.get((_whole(row.get("statement")), _whole(row.get("passage"))))
            status = _VERDICTS.get(str(row.get("verdict")))
            if link is not None and status is not None:
                statuses[link] = status
    return statuses


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def by_frames(
    asked: Asked,
    calls: Calls,
    claims: Sequence[str],
    links: Sequence[Link],
    shown: Mapping[UUID, StoredFrame],
    events: Sequence[StoredEvent],
) -> dict[Link, CitationStatus]:
    """Return the checker's verdicts on the cited frames of each claim, one look per claim.

    A frame with a measurement is left out: its text has been compared already, and no model looks at it. What a frame
    shows outweighs the text. Frames that show neither support nor contradiction leave the citation as it is.
    """
    if asked.models.checker is None:
        return {}
    tasks: list[Callable[[], dict[Link, CitationStatus]]] = []
    for index, claim in enumerate(claims):
        frames = [shown[event_id] for linked, event_id in links if linked == index and event_id in shown]
        evidence = frame_evidence(asked.graph, frames, events)
        pictures = [(frame, view) for frame, view in zip(frames, evidence, strict=True) if not view.observation]
        if pictures:
            find = f"what shows whether this is so: {claim}"
            request = ObserveRequest(asked.question.question, find, claim, (), tuple(view for _, view in pictures))
            tasks.append(partial(_look_at, calls, index, request, [frame for frame, _ in pictures]))
    with calls.timed("citations"):
        verdicts = calls.together("citations", tasks)
    return {link: status for statuses in verdicts for link, status in statuses.items()}


def _look_at(
    calls: Calls, index: int, request: ObserveRequest, frames: Sequence[StoredFrame]
) -> dict[Link, CitationStatus]:
    try:
        sample = calls.observe_frames(request, schema=findings_schema(), meter=calls.meter)
    except Halt as halt:
        calls.halt(halt)
        return {}
    except ModelError:
        return {}
    all_of_them = Look(frames[0].video_id, Span(0, max(frame.ms for frame in frames) + 1), request.find, 1.0)
    statuses: dict[Link, list[CitationStatus]] = {}
    for finding in read_findings(sample.text, all_of_them, frames) or ():
        if status := _BEARINGS.get(finding.bearing):
            for frame in finding.frames or frames:
                statuses.setdefault((index, frame.event_id), []).append(status)
    return {link: claim_status(bearings) for link, bearings in statuses.items()}


# --- a judge of open answers in a comparison -------------------------------------------------------------------------

STAGE = "grade"
"""Stage of the judge's calls in the ledger."""

CHARACTERS = 2_000
"""Maximum characters of each text that the judge reads."""

_RIGHT = {"same": True, "different": False}
_SCHEMA = object_of({"verdict": {"type": "string", "enum": list(_RIGHT)}})


def judge_answer(calls: Calls, *, question: str, truth: str, given: str) -> bool | None:
    """Return whether the given answer is right, in one call; None if the model's reply cannot be read.

    truth: the right answer, as the customer wrote it. given: the answer, which a model wrote after it read text of a
    video. Raises Halt, and ModelError (ModelRefused if the model declines).
    """
    prompt = load("judge_answer").substitute(question=_data(question), truth=_data(truth), given=_data(given))
    sample = calls.ask([Message("user", (prompt,))], stage=STAGE, meter=calls.meter, schema=_SCHEMA, max_tokens=32)[0]
    verdict = (read_object(sample.text) or {}).get("verdict")
    return _RIGHT.get(verdict) if isinstance(verdict, str) else None


def _data(text: str) -> str:
    return as_data(text)[:CHARACTERS]
