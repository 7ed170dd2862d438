"""`avataar`: think, retrieve, answer and rethink around what is known of the whole video (AVATAAR, arXiv 2511.15578).

The answer of the best round is the answer: it is drawn in votes, from the frames of that round or, if no model sees
pictures, from the words that were shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpu_workers.engine.answering.agent.conversation import UNKNOWN
from gpu_workers.engine.answering.agent.evidence_answer import (
    MethodResult,
    answer_from_evidence,
    answer_prompt,
    numbered,
    ranked_state,
    shown_so_far,
    weighs_choices,
)
from gpu_workers.engine.answering.agent.step_records import StepRecorder
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls, needed_checker
from gpu_workers.engine.answering.catalogue import AVATAAR, CATALOGUE, AvataarSettings
from gpu_workers.engine.answering.contract import Answer
from gpu_workers.engine.answering.ending.claims import Statement, claims_of
from gpu_workers.engine.answering.ending.evidence import Checks, find_evidence
from gpu_workers.engine.answering.looking.frame_check import closer_look
from gpu_workers.engine.answering.methods.avataar.contexts import GlobalContext, LocalContext, gather, global_context
from gpu_workers.engine.answering.methods.avataar.thinking import (
    PHRASE_CHARACTERS,
    Functions,
    RoundPlan,
    expand,
    rethink,
    think,
)
from gpu_workers.engine.answering.methods.method import CataloguedMethod, report_partial
from gpu_workers.engine.answering.parsing import answer_schema
from gpu_workers.engine.answering.presets import changed, own_settings
from gpu_workers.engine.answering.search.actions import State
from gpu_workers.engine.answering.search.sampling import check_answers, draw_answers
from gpu_workers.engine.answering.search.summary_answer import AnswerNode, scored
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.roles import CheckRequest
from gpu_workers.engine.retrieval.frames import frame_evidence
from gpu_workers.engine.retrieval.fusion import RankedEvent

PLACES = 3
"""Events whose best frame is shown with its neighbours; the paper shows one (eq. 13)."""

NOT_ENOUGH = "it says that what was found is not enough"
UNSTEADY = "several tries did not agree on it"
UNSUPPORTED = "nothing that was found supports it"

STEPS_OF_ROUND = 4


class Avataar(CataloguedMethod, card=CATALOGUE["avataar"]):
    def answer(self, asked: Asked, calls: Calls) -> Answer:
        settings = own_settings(asked.settings, AVATAAR)
        # Its answer may always say that it is not enough: that is what rethinking is for.
        asked = replace(asked, settings=changed(asked.settings, abstain=True))
        if asked.settings.effort == "paper":
            asked = replace(asked, settings=changed(asked.settings, n=1, check_samples=1))
        toolbox = Toolbox(asked, calls)
        recorder = StepRecorder(toolbox, total=STEPS_OF_ROUND * (settings.rethinks + 1))
        rounds = _ThinkRounds(toolbox, settings, recorder)
        with recorder.course(), calls.timed("search"):
            if toolbox.extents:
                rounds.run()
        best = rounds.best()
        settled = best is not None
        result = MethodResult(self.needs, recorder.records, node=best, settled=settled, error=recorder.error)
        return answer_from_evidence(toolbox, result)


class _ThinkRounds:
    """The rounds of one question. answers: of each round, with why it may not stand, "" if nothing speaks against it.
    done: what was done and found, a line each."""

    def __init__(self, toolbox: Toolbox, settings: AvataarSettings, recorder: StepRecorder) -> None:
        self.toolbox, self.settings, self.recorder = toolbox, settings, recorder
        self.published = toolbox.asked.settings.effort == "paper"
        self.answers: list[tuple[AnswerNode, str]] = []
        self.done: list[str] = []

    def best(self) -> AnswerNode | None:
        """Return the round's node with the best answer: one without doubt, then by S, then the later one. The paper
        takes the last one."""
        answering = [(node, doubt) for node, doubt in self.answers if node.answers] or self.answers[-1:]
        if not answering or self.published:
            return answering[-1][0] if answering else None
        sure = [node for node, doubt in answering if not doubt]
        return max(reversed(sure or [node for node, _ in answering]), key=lambda node: node.score)

    def run(self) -> None:
        """Think, retrieve and answer; then rethink while the answer is in doubt and the plan still changes."""
        with self.recorder.step("overview") as step:
            known = global_context(self.toolbox)
            step.observation = "\n".join(known.notes)
        functions = Functions(self.toolbox, known.people)
        plan: RoundPlan | None = None
        instruction, given = "", set[str]()
        for number in range(self.settings.rethinks + 1):
            before, plan = plan, self._think(known, functions, instruction)
            if number and plan.same_as(before):
                return
            found = self._call(functions, plan)
            local = self._retrieve(functions, plan)
            node = self._answer(functions, local, [*known.notes, *found, *local.spoken])
            doubt = self._doubt(node)
            self.answers.append((node, doubt))
            if not doubt or number == self.settings.rethinks or self.toolbox.calls.halted:
                return
            instruction = self._rethink(known, functions, node, doubt)
            if not instruction or instruction.casefold() in given:
                return
            given.add(instruction.casefold())

    def _think(self, known: GlobalContext, functions: Functions, instruction: str) -> RoundPlan:
        functions.begin_round()
        if not self.settings.functions:
            return RoundPlan()
        with self.recorder.step("think", instruction=instruction) as step:
            most = self.settings.functions
            plan = think(self.toolbox, known, functions, self.done, most=most, instruction=instruction)
            step.error = "" if plan is not None else "unreadable"
            plan = plan or RoundPlan()
            step.observation = f"{plan.question} {' '.join(call.tool for call in plan.calls)}".strip()
        return plan

    def _call(self, functions: Functions, plan: RoundPlan) -> list[str]:
        """Call the plan's functions; return what they found, for the answer."""
        found = []
        for call in plan.calls:
            arguments = call.stored()
            action = call.tool if call.tool in functions.tools else UNKNOWN
            with self.recorder.step(action, **{**arguments, "function": call.tool}) as step:
                observation = functions.call(call)
                step.observation, step.error = observation.text, observation.error
                step.frames = len(observation.frames)
                step.events = self.toolbox.load(observation.events)
            given = ", ".join(as_data(str(value))[:PHRASE_CHARACTERS] for value in arguments.values())
            line = f"{call.tool}({given}): {observation.text}"
            self.done.append(line)
            found += [] if observation.error else [line]
        return found

    def _retrieve(self, functions: Functions, plan: RoundPlan) -> LocalContext:
        asked = self.toolbox.asked
        queries = [expand(plan.question or asked.searched, functions.descriptions), *functions.sub_questions]
        with self.recorder.step("retrieve", queries=queries) as step:
            local = gather(
                self.toolbox,
                queries,
                functions.anchors,
                places=1 if self.published else PLACES,
                lines=self.settings.lines,
                most=needed_checker(asked.models).max_frames if asked.models.checker else PLACES * 3,
            )
            step.events, step.frames = local.events, len(local.frames)
            step.error = "" if local.events or local.spoken else "nothing_found"
            room = max(32, self.toolbox.observation_tokens // max(1, len(local.events)))
            lines = [self.toolbox.event_line(event, most_tokens=room) for event in local.events]
            step.observation = "\n".join([*lines, *local.spoken])
        self.done.append(f"searched {'; '.join(queries)}: {step.observation}")
        return local

    def _answer(self, functions: Functions, local: LocalContext, known: Sequence[str]) -> AnswerNode:
        question = expand(self.toolbox.asked.question.question, functions.descriptions)
        with self.recorder.step("answer") as step:
            node = answer_round(self.toolbox, question, local, known)
            step.node, step.frames = node, len(local.frames) if self.toolbox.asked.models.eyes else 0
        report_partial(self.toolbox.calls, node, level=len(self.answers) + 1)
        return node

    def _doubt(self, node: AnswerNode) -> str:
        """Return why a node's answer may not stand, "" if nothing speaks against it. The paper goes by the answer's own
        admission alone."""
        if not node.answers:
            return NOT_ENOUGH
        if self.published or self.toolbox.calls.halted:
            return ""
        if len(node.draw.parsed) > 1 and node.score < self.toolbox.asked.settings.tree.gate:
            return UNSTEADY
        return "" if supported_by_words(self.toolbox, node) else UNSUPPORTED

    def _rethink(self, known: GlobalContext, functions: Functions, node: AnswerNode, doubt: str) -> str:
        """Return the instruction for the next round, "" if the answer stands or nothing is left to do."""
        with self.recorder.step("rethink", doubt=doubt) as step:
            judgement = rethink(self.toolbox, known, functions, self.done, answer=node.answer, doubt=doubt)
            if judgement is None:
                step.error = "unreadable"
                return ""
            step.observation = f"{judgement.diagnosis} {judgement.instruction}".strip()
            step.arguments = {"doubt": doubt, "sufficient": judgement.sufficient}
        return "" if judgement.sufficient and node.answers else judgement.instruction


def answer_round(toolbox: Toolbox, question: str, local: LocalContext, known: Sequence[str]) -> AnswerNode:
    """Return the answer from local frames next to what is known (AVATAAR, eq. 7), or from everything shown so far if no
    model looks at them or there are none.

    question: with what was added to it. known: G, what functions returned, spoken lines. It may abstain. Raises nothing
    of a model.
    """
    if toolbox.asked.models.eyes and local.frames:
        return _by_frames(toolbox, question, local, known)
    return _by_words(toolbox)


def _by_frames(toolbox: Toolbox, question: str, local: LocalContext, known: Sequence[str]) -> AnswerNode:
    asked, calls = toolbox.asked, toolbox.calls
    settings, choices = asked.settings, asked.question.choices
    evidence = frame_evidence(asked.graph, local.frames, local.events)
    if settings.look.full_pictures:
        evidence = closer_look(asked, calls, evidence, local.frames)
    request = CheckRequest(question, choices, (), evidence, tuple(known))
    schema = answer_schema(choices, abstain=True)
    n = settings.look.check_samples
    draw = check_answers(asked, calls, lambda meter: calls.check_frames(request, n=n, schema=schema, meter=meter))
    if draw.halt:
        calls.halt(draw.halt)
    # A checker cites frames by their place, so its numbers name no event.
    draw.parsed = [parsed and replace(parsed, cited=()) for parsed in draw.parsed]
    state = State(toolbox.path, tuple(RankedEvent(event.id, 1.0 / len(local.events)) for event in local.events))
    frames = {frame.event_id: frame for frame in reversed(local.frames)}
    context = numbered(toolbox, local.events)
    return AnswerNode(toolbox.path, state, context, draw, scored(asked, draw), seen=frames)


def _by_words(toolbox: Toolbox) -> AnswerNode:
    """Return the answer that the final answer would draw from everything shown so far."""
    n = 1 if weighs_choices(toolbox.asked) else toolbox.asked.settings.samples.n
    asked = replace(toolbox.asked, settings=changed(toolbox.asked.settings, early_majority=False, n=n))
    shown = shown_so_far(toolbox, None)
    draw = draw_answers(asked, toolbox.calls, answer_prompt(asked, shown), path=toolbox.path, n=n)
    if draw.halt:
        toolbox.calls.halt(draw.halt)
    return shown.node(ranked_state(toolbox.path, shown.events), draw, scored(asked, draw))


def supported_by_words(toolbox: Toolbox, node: AnswerNode) -> bool:
    """Whether a citation from what was shown supports the node's answer, by words alone."""
    if node.answer is None or not node.answers:
        return False
    whole = replace(node, context=numbered(toolbox, shown_so_far(toolbox, node.answer).events))
    statements = [Statement(claim) for claim in claims_of(node.answer)]
    by_words = Checks(reasoner=False, frames=False, best_frames=False)
    found = find_evidence(toolbox.asked, toolbox.calls, whole, statements, whole=node.answer.text, checks=by_words)
    return any(statement.status == "supported" for statement in found.statements)
