"""What operators may do in the console to videos, questions, jobs, webhooks, outages and tenants.

The console's own role cannot write, so an act runs as the web role in the tenant of its row, through the services that
the API uses. Each act needs a reason, and is in the tenant's audit log; an act on a row of the installation is in the
log of the staff.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST
from unfold.forms import ActionForm

from backend.accounts import suspension
from backend.console.act_forms import AskAgainForm, HoldForm, ReplaySinceForm, SegmentForm
from backend.console.acts import Act, run, verb_of
from backend.console.viewing import OPERATORS, role_of
from backend.jobs import control as jobs
from backend.jobs import holds
from backend.jobs.models import Job, JobRank
from backend.library.indexing import control as indexing
from backend.library.indexing.begin import begin_reindex
from backend.questions.models import Question
from backend.questions.services import control as questions
from backend.questions.services.again import ask_again
from backend.questions.services.questions import cancel_question
from backend.tenancy.refusals import Refused
from backend.webhooks import recovery
from backend.webhooks import services as webhooks
from backend.webhooks.models import Endpoint


def _one(act: Callable[[Any], object], model: type[Any]) -> Act:
    """Return an act on one row out of an act on a set of rows."""
    return Act(lambda row: act(model.objects.filter(id=row.id)))


def _of_video(act: Callable[..., object], **arguments: Any) -> Act:
    return Act(lambda row: act(video_id=row.id, **arguments))


def _replay_since(endpoint: Endpoint, *, since: datetime, include_succeeded: bool) -> object:
    return recovery.replay_since(endpoint=endpoint, since=since, include_succeeded=include_succeeded)


def _switch(*, enabled: bool) -> Act:
    return Act(lambda endpoint: webhooks.update_endpoint(endpoint=endpoint, enabled=enabled))


JOB_ACTS: dict[str, Act] = {
    "Replay": Act(jobs.replay_dead),
    "Cancel": Act(jobs.cancel_job),
    "Pause": _one(jobs.pause_jobs, Job),
    "Resume": _one(jobs.resume_jobs, Job),
    "Put first": _one(partial(jobs.set_rank, rank=JobRank.HIGH), Job),
}
VIDEO_ACTS: dict[str, Act] = {
    "Retry indexing": _of_video(indexing.retry_indexing),
    "Index again": _of_video(begin_reindex),
    "Cancel indexing": _of_video(indexing.cancel_indexing),
    "Pause indexing": _of_video(indexing.pause_indexing),
    "Resume indexing": _of_video(indexing.resume_indexing),
    "Put indexing first": _of_video(indexing.prioritise_indexing, rank=JobRank.HIGH),
    "Retry segment": Act(lambda row, n: indexing.retry_segment(video_id=row.id, n=n), SegmentForm),
}
QUESTION_ACTS: dict[str, Act] = {
    "Retry": Act(lambda row: questions.retry_question(question_id=row.id)),
    "Cancel": Act(lambda row: cancel_question(question_id=row.id)),
    "Pause": _one(questions.pause_questions, Question),
    "Resume": _one(questions.resume_questions, Question),
    "Put first": _one(partial(questions.update_questions, rank=JobRank.HIGH), Question),
    "Ask again": Act(
        lambda row, method, effort: ask_again(question_id=row.id, method=method, effort=effort), AskAgainForm
    ),
}
DELIVERY_ACTS: dict[str, Act] = {"Replay": Act(lambda row: recovery.replay(delivery=row) and None)}
ENDPOINT_ACTS: dict[str, Act] = {
    "Enable": _switch(enabled=True),
    "Disable": _switch(enabled=False),
    "Send test": Act(lambda row: webhooks.send_test(endpoint=row) and None),
    "Replay since": Act(_replay_since, ReplaySinceForm),
}
BREAKER_ACTS: dict[str, Act] = {
    "Close": Act(lambda row: holds.release(row.dependency)),
    "Hold": Act(lambda row, hours: holds.hold(row.dependency, hours=hours), HoldForm),
}
TENANT_ACTS: dict[str, Act] = {"Suspend": Act(suspension.suspend), "End suspension": Act(suspension.resume)}
"""Acts on tenants. They take the actor and the reason, and record both themselves."""


class ReasonForm(ActionForm):
    """The form above a list, with a reason that the tenant's audit log shows."""

    reason = forms.CharField(required=False, max_length=500, label="Reason")


class Operable:
    """A page whose rows operators may act on. acts: by the words that the page shows."""

    acts: ClassVar[Mapping[str, Act]] = {}
    action_form = ReasonForm

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return role_of(request) in OPERATORS

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return the acts without a form as Django shows actions: name -> (function, name, description)."""
        if not self.has_operate_permission(request):
            return {}
        named = {verb_of(words): words for words, act in self.acts.items() if act.form is None}
        return {name: (partial(_act_on_all, words=words), name, words) for name, words in named.items()}

    def get_urls(self) -> list[URLPattern]:
        page: Any = self
        name = f"{page.opts.app_label}_{page.opts.model_name}_act"
        view = page.admin_site.admin_view(require_POST(self.act_view))
        urls: list[URLPattern] = super().get_urls()  # type: ignore[misc]
        return [path("<path:object_id>/act/", view, name=name), *urls]

    def act_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Act on one row, and go back to its page, or to the page of the row that the act has made."""
        page: Any = self
        if not self.has_operate_permission(request):
            raise PermissionDenied
        row = page.one(unquote(object_id))
        words = {verb_of(words): words for words in self.acts}.get(request.POST.get("verb", ""), "")
        following = row
        try:
            if not words:
                raise Refused("unknown_act", "There is no such act.")
            made = run(self.acts[words], words, request, row, _fields(self.acts[words], request))
        except Refused as refused:
            messages.error(request, f"{words or 'Nothing done'}: {refused.detail}")
        else:
            messages.success(request, f"{words}: done.")
            if isinstance(made, type(row)):
                following = made
        name = f"admin:{page.opts.app_label}_{page.opts.model_name}_change"
        return HttpResponseRedirect(reverse(name, args=[quote(following.pk)]))

    def acts_context(self, request: HttpRequest, row: Model) -> dict[str, Any]:
        """Return what the forms of the acts need: nothing for roles that may not act."""
        if not self.has_operate_permission(request):
            return {"simple_acts": [], "asking_acts": []}
        page: Any = self
        return {
            "act_url": reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_act", args=[quote(row.pk)]),
            "simple_acts": [(verb_of(words), words) for words, act in self.acts.items() if act.form is None],
            "asking_acts": [
                (verb_of(words), words, act.form(prefix=verb_of(words), initial=_initial(row)))
                for words, act in self.acts.items()
                if act.form is not None
            ],
        }


class OperableRow(Operable):
    """A page with Django's own view of a row, and the acts above it."""

    change_form_outer_before_template = "console/_acts.html"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        page: Any = self
        found = None
        if page.has_view_permission(request):
            # A malformed id names no row; Django's own view answers it.
            with suppress(ValidationError, ValueError):
                found = page.get_queryset(request).filter(pk=unquote(object_id)).first()
        context = {**(self.row_context(request, found) if found is not None else {}), **(extra_context or {})}
        reply: HttpResponse = super().change_view(request, object_id, form_url, context)  # type: ignore[misc]
        return reply

    def row_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Return what the templates of the row's page need besides the row."""
        return self.acts_context(request, row)


def _initial(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("method", "effort") if hasattr(row, name)}


def _fields(act: Act, request: HttpRequest) -> dict[str, Any]:
    """Return the cleaned fields of an act's form. Raises Refused with the first fault."""
    if act.form is None:
        return {}
    form = act.form(request.POST, prefix=request.POST.get("verb", ""))
    if not form.is_valid():
        name, faults = next(iter(form.errors.items()))
        raise Refused("invalid", f"{name}: {faults[0]}")
    return form.cleaned_data


def _act_on_all(page: Any, request: HttpRequest, rows: QuerySet[Any], *, words: str) -> None:
    """Act on each chosen row by itself; a refusal of one leaves the others."""
    done = 0
    for row in rows:
        try:
            run(page.acts[words], words, request, row)
        except Refused as refused:
            messages.error(request, f"{row.pk}: {refused.detail}")
            continue
        done += 1
    if done:
        messages.success(request, f"{words}: {done}")
