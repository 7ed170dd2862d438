"""What operators may do in the console: cancel, pause, resume, retry and put first, suspend and resume a tenant.

The console's own role cannot write, so an act runs as the web role in the tenant of its row. Each act is in the
tenant's audit log.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from unfold.forms import ActionForm

from backend.accounts import suspension
from backend.console.gate import member_of
from backend.console.viewing import OPERATORS, origin_of, record_act, role_of
from backend.jobs import control as jobs
from backend.jobs.models import Job, JobRank
from backend.library.indexing import control as indexing
from backend.library.models import Video
from backend.questions.models import Question
from backend.questions.services import control as questions
from backend.questions.services.questions import cancel_question
from backend.staff.services import SHORTEST_REASON
from backend.tenancy.context import tenant_scope
from backend.tenancy.models import Tenant
from backend.tenancy.refusals import Refused

Act = Callable[..., object]


def _one(act: Callable[[Any], object], model: type[Any]) -> Act:
    """Return an act on one row out of an act on a set of rows."""
    return lambda row: act(model.objects.filter(id=row.id))


def _of_video(act: Callable[..., object], **arguments: Any) -> Act:
    return lambda row: act(video_id=row.id, **arguments)


JOB_ACTS: dict[str, Act] = {
    "Replay": jobs.replay_dead,
    "Cancel": jobs.cancel_job,
    "Pause": _one(jobs.pause_jobs, Job),
    "Resume": _one(jobs.resume_jobs, Job),
    "Put first": _one(partial(jobs.set_rank, rank=JobRank.HIGH), Job),
}
VIDEO_ACTS: dict[str, Act] = {
    "Retry indexing": _of_video(indexing.retry_indexing),
    "Cancel indexing": _of_video(indexing.cancel_indexing),
    "Pause indexing": _of_video(indexing.pause_indexing),
    "Resume indexing": _of_video(indexing.resume_indexing),
    "Put indexing first": _of_video(indexing.prioritise_indexing, rank=JobRank.HIGH),
}
QUESTION_ACTS: dict[str, Act] = {
    "Retry": lambda row: questions.retry_question(question_id=row.id),
    "Cancel": lambda row: cancel_question(question_id=row.id),
    "Pause": _one(questions.pause_questions, Question),
    "Resume": _one(questions.resume_questions, Question),
    "Put first": _one(partial(questions.update_questions, rank=JobRank.HIGH), Question),
}
TENANT_ACTS: dict[str, Act] = {"Suspend": suspension.suspend, "End suspension": suspension.resume}
"""Acts on tenants. They take the actor and the reason, and are refused without a reason."""
_MODEL_OF: dict[str, type[Any]] = {"job": Job, "video": Video, "question": Question}


class ReasonForm(ActionForm):
    """The form above a list, with a reason that the tenant's audit log shows."""

    reason = forms.CharField(required=False, max_length=500, label="Reason")


class Operable:
    """A page whose rows operators may act on. acts: by the words that the page shows."""

    acts: ClassVar[dict[str, Act]] = {}

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return role_of(request) in OPERATORS

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return the acts as Django shows actions: name -> (function, name, description)."""
        if not self.has_operate_permission(request):
            return {}
        named = {words.lower().replace(" ", "_"): words for words in self.acts}
        return {name: (partial(_act, words=words), name, words) for name, words in named.items()}


def _act(page: Any, request: HttpRequest, rows: QuerySet[Any], *, words: str) -> None:
    """Act on each chosen row by itself; a refusal of one leaves the others."""
    done = 0
    for row in rows:
        try:
            if isinstance(row, Tenant):
                _act_on_tenant(page, request, row, words)
            else:
                _act_on(page, row, words)
                record_act(request, row, words.lower().replace(" ", "_"))
        except Refused as refused:
            messages.error(request, f"{row.pk}: {refused.detail}")
            continue
        done += 1
    if done:
        messages.success(request, f"{words}: {done}")


def _act_on_tenant(page: Any, request: HttpRequest, tenant: Tenant, words: str) -> None:
    reason = request.POST.get("reason", "").strip()
    member = member_of(request)
    if member is None or len(reason) < SHORTEST_REASON:
        raise Refused("reason_missing", f"State a reason of at least {SHORTEST_REASON} characters.")
    with tenant_scope(tenant.id):
        if not page.acts[words](actor=origin_of(request, member), reason=reason):
            raise Refused("nothing_to_do", "The tenant is in this state already.")


def _act_on(page: Any, row: Model, words: str) -> None:
    model = _MODEL_OF[page.opts.model_name]
    with tenant_scope(row.tenant_id):  # type: ignore[attr-defined]
        page.acts[words](model.objects.get(id=row.pk))
