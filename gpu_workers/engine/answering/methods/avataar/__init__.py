"""`avataar`: think, retrieve, answer and rethink around what is known of the whole video (AVATAAR, arXiv 2511.15578).

The answer of the best round is the answer: it is drawn in votes, from the frames of that round or, if no model sees
pictures, from the words that were shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

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
from gpu_workers.engine.answering.agent.tool_calls import UNKNOWN
from gpu_workers.engine.answering.agent.toolbox import Toolbox
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.calls import Calls, needed_checker
from gpu_workers.engine.answering.catalogue import AVATAAR, CATALOGUE, AvataarSettings
from gpu_workers.engine.answering.contract import Answer, PartialAnswer
from gpu_workers.engine.answering.ending.claims import Statement, claims_of
from gpu_workers.engine.answering.ending.evidence import Checks, find_evidence
from gpu_workers.engine.answering.looking.frame_check import closer_look
from gpu_workers.engine.answering.methods.avataar.context_of_round import (
    GlobalContext,
    LocalContext,
    LocalSearch,
    gather,
    global_context,
)
from gpu_workers.engine.answering.methods.avataar.think_functions import NAMES, Functions
from gpu_workers.engine.answering.methods.avataar.thinking import RoundPlan, rethink, think
from gpu_workers.engine.answering.methods.method import CataloguedMethod
from gpu_workers.engine.answering.parsing import answer_schema
from gpu_workers.engine.answering.presets import changed
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
        settings = AVATAAR[asked.settings.effort]
        # Its answer may always say that it is not enough: that is what rethinking is for.
        asked = replace(asked, settings=changed(asked.settings, abstain=True))
        if asked.settings.effort == "paper":
            asked = replace(asked, settings=changed(asked.settings, n=1, check_samples=1))
        toolbox = Toolbox(asked, calls)
        recorder = StepRecorder(toolbox, total=STEPS_OF_ROUND * (settings.rethinks + 1))
        course = _Rounds(toolbox, settings, recorder)
        with recorder.course(), calls.timed("search"):
            course.run()
        best = course.best()
        settled = best is not None
        result = MethodResult(self.needs, recorder.records, node=best, settled=settled, error=recorder.error)
        return answer_from_evidence(toolbox, result)


@dataclass(frozen=True, slots=True)
class _RoundAnswer:
    """The answer of a round. doubt: why it may not stand, "" if nothing speaks against it."""

    node: AnswerNode
    doubt: str


@dataclass(slots=True)
class _Rounds:
    """The state of the search. done: what was done and found, a line each."""

    toolbox: Toolbox
    settings: AvataarSettings
    recorder: StepRecorder
    rounds: list[_RoundAnswer] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    def best(self) -> AnswerNode | None:
        """Return the round's node with the best answer: one without doubt, then by S, then the later one. The paper
        takes the last one."""
        answering = [made.node for made in self.rounds if made.node.answers]
        if not answering:
            return next((made.node for made in reversed(self.rounds)), None)
        if self._published:
            return answering[-1]
        sure = [made.node for made in self.rounds if made.node.answers and not made.doubt]
        return max(enumerate(sure or answering), key=lambda item: (item[1].score, item[0]))[1]

    def run(self) -> None:
        """Think, retrieve and answer; then rethink while the answer is in doubt and the plan still changes."""
        if not self.toolbox.extents:
            return
        context = self._known()
        functions = Functions(context.people)
        plan: RoundPlan | None = None
        instruction, said = "", set[str]()
        for number in range(self.settings.rethinks + 1):
            before, plan = plan, self._think(context, functions, instruction)
            if number and plan.same_as(before):
                return
            found = self._call(functions, plan)
            question = functions.searched(self.toolbox.asked.question.question)
            local = self._retrieve(functions, plan)
            doubt = self._answer(question, local, [*context.notes, *found], number + 1)
            if not doubt or number == self.settings.rethinks or self.toolbox.calls.halted:
                return
            instruction = self._rethink(context, functions, doubt)
            if not instruction or instruction.casefold() in said:
                return
            said.add(instruction.casefold())

    @property
    def _published(self) -> bool:
        return self.toolbox.asked.settings.effort == "paper"

    def _known(self) -> GlobalContext:
        with self.recorder.step("overview") as step:
            context = global_context(self.toolbox)
            step.observation = "\n".join(context.notes)
            for note in context.notes:
                self.toolbox.evidence.add_note(note)
        return context

    def _think(self, context: GlobalContext, functions: Functions, instruction: str) -> RoundPlan:
        functions.begin_round()
        with self.recorder.step("think", instruction=instruction) as step:
            tools = functions.offered(self.toolbox)
            plan = think(
                self.toolbox,
                context.notes,
                tools,
                most=self.settings.functions,
                done=self.done,
                instruction=instruction,
            )
            step.error = "" if plan is not None else "unreadable"
            plan = plan or RoundPlan()
            step.observation = f"{plan.question} {' '.join(name for name, _ in plan.calls)}".strip()
        return plan

    def _call(self, functions: Functions, plan: RoundPlan) -> list[str]:
        """Call the plan's functions; return what they found, for the answer."""
        found = []
        for name, given in plan.calls:
            arguments = {str(key)[:40]: as_data(str(value))[:200] for key, value in list(given.items())[:8]}
            with self.recorder.step(name if name in NAMES else UNKNOWN, **{"function": name, **arguments}) as step:
                observation = functions.call(self.toolbox, name, given)
                step.observation, step.error = observation.text, observation.error
                step.frames = len(observation.frames)
                step.events = self.toolbox.load(observation.events)
            line = f"{name}({', '.join(arguments.values())}): {observation.text}"
            self.done.append(line)
            found += [] if observation.error else [line]
        return found

    def _retrieve(self, functions: Functions, plan: RoundPlan) -> LocalContext:
        searched = functions.searched(plan.question or self.toolbox.asked.searched)
        queries = [searched, *functions.sub_questions]
        with self.recorder.step("retrieve", queries=queries) as step:
            checker = self.toolbox.asked.models.checker
            places = 1 if self._published else PLACES
            most = needed_checker(self.toolbox.asked.models).max_frames if checker else PLACES * 3
            wanted = LocalSearch(queries, functions.anchors, places, self.settings.lines, most)
            local = gather(self.toolbox, wanted)
            step.events, step.frames = local.events, len(local.frames)
            step.error = "" if local.events or local.spoken else "nothing_found"
            room = max(32, self.toolbox.observation_tokens // max(1, len(local.events)))
            lines = [self.toolbox.event_line(event, most_tokens=room) for event in local.events]
            step.observation = "\n".join([*lines, *local.spoken])
        self.done.append(f"searched {'; '.join(queries)}: {step.observation}")
        return local

    def _answer(self, question: str, local: LocalContext, known: list[str], number: int) -> str:
        """Answer; return why the answer may not stand, "" if nothing speaks against it."""
        with self.recorder.step("answer") as step:
            node = answer_round(self.toolbox, question, local, [*known, *local.spoken])
            step.node, step.frames = node, len(local.frames) if self.toolbox.asked.models.eyes else 0
        doubt = self._doubt(node)
        self.rounds.append(_RoundAnswer(node, doubt))
        if node.answer is not None and node.answers:
            answer = node.answer
            self.toolbox.calls.on_partial(PartialAnswer(answer.text, answer.choice, node.score, node.path, number))
        return doubt

    def _doubt(self, node: AnswerNode) -> str:
        """Return why a node's answer may not stand. The paper goes by the answer's own admission alone."""
        if not node.answers:
            return NOT_ENOUGH
        if self._published or self.toolbox.calls.halted:
            return ""
        several = len(node.draw.parsed) > 1
        if several and node.score < self.toolbox.asked.settings.tree.gate:
            return UNSTEADY
        return "" if supported_by_words(self.toolbox, node) else UNSUPPORTED

    def _rethink(self, context: GlobalContext, functions: Functions, doubt: str) -> str:
        """Return the instruction for the next round, "" if the answer stands or nothing is left to do."""
        answer = self.rounds[-1].node.answer
        with self.recorder.step("rethink", doubt=doubt) as step:
            tools = functions.offered(self.toolbox)
            rethought = rethink(self.toolbox, context.notes, self.done, tools, answer, doubt)
            step.error = "" if rethought is not None else "unreadable"
            if rethought is not None:
                step.observation = f"{rethought.diagnosis} {rethought.instruction}".strip()
                step.arguments = {"doubt": doubt, "sufficient": rethought.sufficient}
        if rethought is None or (rethought.sufficient and self.rounds[-1].node.answers):
            return ""
        return rethought.instruction


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
