"""`avataar`: think, retrieve, answer and rethink around what is known of the whole video (AVATAAR, arXiv 2511.15578).

The answer of the best round is the answer: it is drawn in votes, from the frames of that round or, without eyes, from
the words that were shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gpu_workers.engine.answering.agent.closing import close
from gpu_workers.engine.answering.agent.dossier import DOSSIER_PROMPTS
from gpu_workers.engine.answering.agent.steps import UNKNOWN
from gpu_workers.engine.answering.agent.tools.contract import Artifact
from gpu_workers.engine.answering.agent.tools.desk import Desk
from gpu_workers.engine.answering.agent.trail import Trail
from gpu_workers.engine.answering.asked import Asked
from gpu_workers.engine.answering.budget import Halt
from gpu_workers.engine.answering.calls import Calls, needed_checker
from gpu_workers.engine.answering.contract import Answer, PartialAnswer
from gpu_workers.engine.answering.identity import CHECK_PROMPTS, OBSERVE_PROMPTS, QUESTION_PROMPTS
from gpu_workers.engine.answering.method_settings import AVATAAR, AvataarSettings
from gpu_workers.engine.answering.methods.avataar.answering import answer_round, bears_out
from gpu_workers.engine.answering.methods.avataar.functions import NAMES, Functions
from gpu_workers.engine.answering.methods.avataar.global_context import GlobalContext, global_context
from gpu_workers.engine.answering.methods.avataar.local_context import LocalContext, gather
from gpu_workers.engine.answering.methods.avataar.rethink import rethink
from gpu_workers.engine.answering.methods.avataar.thinking import Plan, think
from gpu_workers.engine.answering.methods.contract import TypicalCalls
from gpu_workers.engine.answering.presets import changed
from gpu_workers.engine.answering.search.summary_answer import AnswerNode
from gpu_workers.engine.answering.wording import as_data
from gpu_workers.engine.models.roles import ModelError

PLACES = 3
"""Events whose best frame is shown with its neighbours; the paper shows one (eq. 13)."""

NOT_ENOUGH = "it says that what was found is not enough"
UNSTEADY = "several tries did not agree on it"
UNSUPPORTED = "nothing that was found supports it"

STEPS_OF_ROUND = 4


class Avataar:
    name = "avataar"
    version = "3"
    description = (
        "Reads the summary of the whole video, decides what to search, answers from the best frames, and thinks again."
    )
    needs: frozenset[Artifact] = frozenset({"events", "frames", "transcript", "topics", "checker"})
    typical_calls: TypicalCalls = {"low": (2, 3), "medium": (2, 9), "high": (2, 15), "paper": (2, 15)}
    prompts = (
        QUESTION_PROMPTS
        | CHECK_PROMPTS
        | OBSERVE_PROMPTS
        | DOSSIER_PROMPTS
        | {"think_rules", "think_view", "think_again", "rethink_rules", "rethink_view"}
        | {"check_noted", "check_observed_noted", "check_noted_view"}
    )

    def answer(self, asked: Asked, calls: Calls) -> Answer:
        settings = AVATAAR[asked.settings.effort]
        # Its answer may always say that it is not enough: that is what rethinking is for.
        asked = replace(asked, settings=changed(asked.settings, abstain=True))
        if asked.settings.effort == "paper":
            asked = replace(asked, settings=changed(asked.settings, n=1, check_samples=1))
        desk = Desk(asked, calls)
        trail = Trail(desk, total=STEPS_OF_ROUND * (settings.rethinks + 1))
        course = _Course(desk, settings, trail)
        error: ModelError | None = None
        try:
            with calls.timed("search"):
                course.run()
        except Halt as halt:
            calls.halt(halt)
        except ModelError as failure:
            error = failure
        best = course.best()
        return close(
            desk,
            best,
            settled=best is not None,
            records=trail.records,
            top_similarity=desk.top_similarity,
            needs=self.needs,
            error=error,
        )


@dataclass(frozen=True, slots=True)
class _Round:
    """The answer of a round. doubt: why it may not stand, "" if nothing speaks against it."""

    node: AnswerNode
    doubt: str


@dataclass(slots=True)
class _Course:
    """The state of the search. done: what was done and found, a line each."""

    desk: Desk
    settings: AvataarSettings
    trail: Trail
    rounds: list[_Round] = field(default_factory=list)
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
        if not self.desk.extents:
            return
        context = self._known()
        functions = Functions(context.people)
        plan: Plan | None = None
        instruction, said = "", set[str]()
        for number in range(self.settings.rethinks + 1):
            before, plan = plan, self._think(context, functions, instruction)
            if number and plan.same_as(before):
                return
            found = self._call(functions, plan)
            question = functions.searched(self.desk.asked.question.question)
            local = self._retrieve(functions, plan)
            doubt = self._answer(question, local, [*context.notes, *found], number + 1)
            if not doubt or number == self.settings.rethinks or self.desk.calls.halted:
                return
            instruction = self._rethink(context, functions, doubt)
            if not instruction or instruction.casefold() in said:
                return
            said.add(instruction.casefold())

    @property
    def _published(self) -> bool:
        return self.desk.asked.settings.effort == "paper"

    def _known(self) -> GlobalContext:
        with self.trail.step("overview") as step:
            context = global_context(self.desk)
            step.observation = "\n".join(context.notes)
            for note in context.notes:
                self.desk.sightings.noted(note)
        return context

    def _think(self, context: GlobalContext, functions: Functions, instruction: str) -> Plan:
        functions.begin_round()
        with self.trail.step("think", instruction=instruction) as step:
            tools = functions.offered(self.desk)
            plan = think(
                self.desk, context.notes, tools, most=self.settings.functions, done=self.done, instruction=instruction
            )
            step.error = "" if plan is not None else "unreadable"
            plan = plan or Plan()
            step.observation = f"{plan.question} {' '.join(name for name, _ in plan.calls)}".strip()
        return plan

    def _call(self, functions: Functions, plan: Plan) -> list[str]:
        """Call the plan's functions; return what they found, for the answer."""
        found = []
        for name, given in plan.calls:
            arguments = {str(key)[:40]: as_data(str(value))[:200] for key, value in list(given.items())[:8]}
            with self.trail.step(name if name in NAMES else UNKNOWN, **{"function": name, **arguments}) as step:
                observation = functions.call(self.desk, name, given)
                step.observation, step.error = observation.text, observation.error
                step.frames = len(observation.frames)
                step.events = self.desk.load(observation.events)
            words = ", ".join(arguments.values())
            self.done.append(f"{name}({words}): {observation.text}")
            if not observation.error:
                found.append(f"{name}({words}): {observation.text}")
        return found

    def _retrieve(self, functions: Functions, plan: Plan) -> LocalContext:
        searched = functions.searched(plan.question or self.desk.asked.searched)
        queries = [searched, *functions.sub_questions]
        with self.trail.step("retrieve", queries=queries) as step:
            checker = self.desk.asked.models.checker
            local = gather(
                self.desk,
                queries,
                functions.anchors,
                places=1 if self._published else PLACES,
                lines=self.settings.lines,
                most=needed_checker(self.desk.asked.models).max_frames if checker else PLACES * 3,
            )
            step.events, step.frames = local.events, len(local.frames)
            step.error = "" if local.events or local.spoken else "nothing_found"
            room = max(32, self.desk.observation_tokens // max(1, len(local.events)))
            lines = [self.desk.event_line(event, most_tokens=room) for event in local.events]
            step.observation = "\n".join([*lines, *local.spoken])
        self.done.append(f"searched {'; '.join(queries)}: {step.observation}")
        return local

    def _answer(self, question: str, local: LocalContext, known: list[str], number: int) -> str:
        """Answer; return why the answer may not stand, "" if nothing speaks against it."""
        with self.trail.step("answer") as step:
            node = answer_round(self.desk, question, local, [*known, *local.spoken])
            step.node, step.frames = node, len(local.frames) if self.desk.asked.models.eyes else 0
        doubt = self._doubt(node)
        self.rounds.append(_Round(node, doubt))
        if node.answer is not None and node.answers:
            answer = node.answer
            self.desk.calls.on_partial(PartialAnswer(answer.text, answer.choice, node.score, node.path, number))
        return doubt

    def _doubt(self, node: AnswerNode) -> str:
        """Return why a node's answer may not stand. The paper goes by the answer's own admission alone."""
        if not node.answers:
            return NOT_ENOUGH
        if self._published or self.desk.calls.halted:
            return ""
        several = len(node.draw.parsed) > 1
        if several and node.score < self.desk.asked.settings.tree.gate:
            return UNSTEADY
        return "" if bears_out(self.desk, node) else UNSUPPORTED

    def _rethink(self, context: GlobalContext, functions: Functions, doubt: str) -> str:
        """Return the instruction for the next round, "" if the answer stands or nothing is left to do."""
        answer = self.rounds[-1].node.answer
        with self.trail.step("rethink", doubt=doubt) as step:
            tools = functions.offered(self.desk)
            rethought = rethink(self.desk, context.notes, self.done, tools, answer, doubt)
            step.error = "" if rethought is not None else "unreadable"
            if rethought is not None:
                step.observation = f"{rethought.diagnosis} {rethought.instruction}".strip()
                step.arguments = {"doubt": doubt, "sufficient": rethought.sufficient}
        if rethought is None or (rethought.sufficient and self.rounds[-1].node.answers):
            return ""
        return rethought.instruction
