"""What staff may do in the console to videos, questions, jobs, webhooks, outages and money, one row or many at once.

The console's own role cannot write, so an act runs as the web role in the tenant of its row, through the services that
the API uses. Each act needs a reason, and is in the tenant's audit log; an act on a row of the installation is in the
log of the staff.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST
from unfold.forms import ActionForm

from backend.api.form_fields import LineField
from backend.audit.services import record
from backend.billing.models import Invoice, InvoiceKind, InvoiceState, UsageEvent
from backend.billing.rates import plain
from backend.billing.services.invoicing import invoices
from backend.billing.services.usage import corrections
from backend.console.access.viewing import MONEY, OPERATORS, public_id_of, role_of
from backend.console.acting.act_forms import (
    AskAgainForm,
    CreditNoteForm,
    DeadlineForm,
    HoldForm,
    QuantityForm,
    ReplaySinceForm,
    SegmentForm,
    VoidForm,
)
from backend.console.acting.acts import Act, By, named, perform
from backend.jobs import control as jobs
from backend.jobs import holds
from backend.jobs.models import BreakerState, Job, JobRank, JobState
from backend.library.indexing import control as indexing
from backend.library.indexing.begin import begin_reindex
from backend.library.indexing.failure import is_final
from backend.library.models import VideoStatus
from backend.questions.models import OPEN, Question, QuestionStatus
from backend.questions.services import control as questions
from backend.questions.services.again import ask_again
from backend.questions.services.questions import cancel_question
from backend.staff.models import Role
from backend.tenancy.refusals import Refused
from backend.webhooks import recovery
from backend.webhooks import services as webhooks
from backend.webhooks.models import DeliveryState, EndpointState


def _act(
    title: str,
    do: Callable[..., object],
    form: type[forms.Form] | None = None,
    *,
    fits: Callable[[Any], bool] = lambda row: True,
) -> Act:
    """Return an act that calls do with the row and the fields of the form. Its name is the title in lower case."""
    name = title.lower().replace(" ", "_")
    return Act(name, title, lambda row, fields, by: do(row, **fields), form=form, fits=fits)


def _open(job: Any) -> bool:
    return job.state in (JobState.QUEUED, JobState.RUNNING)


def _is_indexed(video: Any) -> bool:
    """Whether the indexing of a video is over, well or badly, and the video stays."""
    return video.status in (VideoStatus.READY, VideoStatus.FAILED) and not indexing.is_under_way(video)


def _is_asked(question: Any) -> bool:
    """Whether a question has no outcome yet."""
    return question.status in OPEN


def _is_enabled(endpoint: Any) -> bool:
    return bool(endpoint.state == EndpointState.ENABLED)


def _is_unpaid(invoice: Any) -> bool:
    return bool(invoice.state == InvoiceState.FINAL and invoice.kind == InvoiceKind.INVOICE)


def _is_numbered(invoice: Any) -> bool:
    """Whether a document is an invoice that a credit note can correct."""
    return invoice.kind == InvoiceKind.INVOICE and invoice.state in (InvoiceState.FINAL, InvoiceState.PAID)


def _correct(invoice: Any, fields: Mapping[str, Any], by: By) -> Invoice:
    """Correct an invoice by a credit note, and return the note."""
    note = invoices.credit_note(invoice.id, net=fields["net"], reason=by.reason, author=by.actor.name)
    details = {"number": note.number, "net": plain(-note.subtotal), "currency": note.currency}
    record("invoice.credit_note", actor=by.actor, object_id=public_id_of(invoice), reason=by.reason, details=details)
    return note


def _is_booking(row: Any) -> bool:
    """Whether a row of the ledger takes no other row back, so that it can be taken back itself."""
    return row.reverses_id is None


def _reverse_usage(row: UsageEvent, fields: Mapping[str, Any], by: By) -> UsageEvent:
    """Take a row of the ledger back, and return the row that does so."""
    turned = corrections.reverse(event_id=row.id, reason=by.reason)
    _record_correction("reverse", row, by)
    return turned


def _correct_usage(row: UsageEvent, fields: Mapping[str, Any], by: By) -> UsageEvent:
    """Book a row of the ledger again with the right quantity, and return the new row."""
    again = corrections.correct(event_id=row.id, quantity=fields["quantity"], reason=by.reason)
    right = {"corrected_quantity": plain(again.quantity), "corrected_charge": plain(again.price_amount)}
    _record_correction("correct_quantity", row, by, **right)
    return again


def _record_correction(verb: str, row: UsageEvent, by: By, **right: str) -> None:
    details = {
        "meter": row.meter,
        "quantity": plain(row.quantity),
        "charge": plain(row.price_amount),
        "currency": row.price_currency,
        **right,
    }
    action, object_id = f"{row._meta.model_name}.{verb}", public_id_of(row)
    record(action, actor=by.actor, object_id=object_id, reason=by.reason, details=details)


_WITHOUT_ANSWER = (QuestionStatus.FAILED, QuestionStatus.CANCELED)


def _one(do: Callable[..., object], model: type[Any]) -> Callable[..., object]:
    """Return what does to one row what do does to a set of rows."""
    return lambda row, **fields: do(model.objects.filter(id=row.id), **fields)


def _of_video(do: Callable[..., object], **arguments: Any) -> Callable[..., object]:
    return lambda row, **fields: do(video_id=row.id, **arguments, **fields)


def _of_question(do: Callable[..., object]) -> Callable[..., object]:
    return lambda row, **fields: do(question_id=row.id, **fields)


def _of_endpoint(do: Callable[..., object], **arguments: Any) -> Callable[..., object]:
    return lambda row, **fields: do(endpoint=row, **arguments, **fields)


def _silently(do: Callable[..., object]) -> Callable[..., None]:
    """Return do without its result: the page of the row stays open."""

    def done(row: Any, **fields: Any) -> None:
        do(row, **fields)

    return done


JOB_ACTS = named(
    _act("Replay", jobs.replay_dead, fits=lambda job: job.state in jobs.ENDED_BADLY and not is_final(job.error_code)),
    _act("Cancel", jobs.cancel_job, fits=_open),
    _act("Skip", jobs.skip_job, fits=lambda job: _open(job) and job.kind in jobs.SKIPPABLE),
    _act("Pause", _one(jobs.pause_jobs, Job), fits=lambda job: _open(job) and job.paused_at is None),
    _act("Resume", _one(jobs.resume_jobs, Job), fits=lambda job: _open(job) and job.paused_at is not None),
    _act(
        "Put first",
        _one(partial(jobs.set_rank, rank=JobRank.HIGH), Job),
        fits=lambda job: _open(job) and job.rank != JobRank.HIGH,
    ),
    _act(
        "Put back in line",
        _one(partial(jobs.set_rank, rank=JobRank.NORMAL), Job),
        fits=lambda job: _open(job) and job.rank != JobRank.NORMAL,
    ),
    _act(
        "Put last",
        _one(partial(jobs.set_rank, rank=JobRank.LOW), Job),
        fits=lambda job: _open(job) and job.rank != JobRank.LOW,
    ),
    _act("Set deadline", _one(jobs.set_deadline, Job), DeadlineForm, fits=_open),
)
VIDEO_ACTS = named(
    _act("Retry indexing", _of_video(indexing.retry_indexing), fits=_is_indexed),
    _act("Index again", _of_video(begin_reindex), fits=_is_indexed),
    _act("Cancel indexing", _of_video(indexing.cancel_indexing), fits=indexing.is_under_way),
    _act(
        "Pause indexing",
        _of_video(indexing.pause_indexing),
        fits=lambda video: indexing.is_under_way(video) and video.index_paused_at is None,
    ),
    _act(
        "Resume indexing",
        _of_video(indexing.resume_indexing),
        fits=lambda video: indexing.is_under_way(video) and video.index_paused_at is not None,
    ),
    _act(
        "Put indexing first",
        _of_video(indexing.prioritise_indexing, rank=JobRank.HIGH),
        fits=lambda video: indexing.is_under_way(video) and video.index_rank != JobRank.HIGH,
    ),
    _act(
        "Put indexing back in line",
        _of_video(indexing.prioritise_indexing, rank=JobRank.NORMAL),
        fits=lambda video: indexing.is_under_way(video) and video.index_rank != JobRank.NORMAL,
    ),
    _act(
        "Put indexing last",
        _of_video(indexing.prioritise_indexing, rank=JobRank.LOW),
        fits=lambda video: indexing.is_under_way(video) and video.index_rank != JobRank.LOW,
    ),
    _act("Set indexing deadline", _of_video(indexing.set_index_deadline), DeadlineForm, fits=indexing.is_under_way),
    _act("Retry segment", _of_video(indexing.retry_segment), SegmentForm, fits=_is_indexed),
)
QUESTION_ACTS = named(
    _act(
        "Retry",
        _of_question(questions.retry_question),
        fits=lambda question: question.status in _WITHOUT_ANSWER and question.comparison_id is None,
    ),
    _act("Cancel", _of_question(cancel_question), fits=_is_asked),
    _act("Pause", _one(questions.pause_questions, Question), fits=_is_asked),
    _act("Resume", _one(questions.resume_questions, Question), fits=_is_asked),
    _act("Put first", _one(partial(questions.update_questions, rank=JobRank.HIGH), Question), fits=_is_asked),
    _act("Put back in line", _one(partial(questions.update_questions, rank=JobRank.NORMAL), Question), fits=_is_asked),
    _act("Put last", _one(partial(questions.update_questions, rank=JobRank.LOW), Question), fits=_is_asked),
    _act(
        "Set deadline",
        lambda row, at: questions.update_questions(Question.objects.filter(id=row.id), deadline_at=at),
        DeadlineForm,
        fits=_is_asked,
    ),
    _act("Ask again", _of_question(ask_again), AskAgainForm),
)
DELIVERY_ACTS = named(
    _act(
        "Replay",
        _silently(lambda row: recovery.replay(delivery=row)),
        fits=lambda delivery: delivery.state != DeliveryState.PENDING,
    )
)
ENDPOINT_ACTS = named(
    _act(
        "Enable",
        _of_endpoint(webhooks.update_endpoint, enabled=True),
        fits=lambda endpoint: endpoint.state != EndpointState.ENABLED,
    ),
    _act("Disable", _of_endpoint(webhooks.update_endpoint, enabled=False), fits=_is_enabled),
    _act("Send test", _of_endpoint(webhooks.send_test), fits=_is_enabled),
    _act("Replay since", _of_endpoint(recovery.replay_since), ReplaySinceForm, fits=_is_enabled),
)
BREAKER_ACTS = named(
    _act(
        "Close",
        lambda row: holds.release(row.dependency),
        fits=lambda breaker: breaker.state != BreakerState.CLOSED,
    ),
    _act("Hold", lambda row, hours: holds.hold(row.dependency, hours=hours), HoldForm),
)
INVOICE_ACTS = named(
    Act("mark_paid", "Mark paid", lambda row, fields, by: invoices.mark_paid(row.id), MONEY, fits=_is_unpaid),
    Act("void", "Void", lambda row, fields, by: invoices.void(row.id, **fields), MONEY, VoidForm, fits=_is_unpaid),
    Act("credit_note", "Credit note", _correct, MONEY, CreditNoteForm, fits=_is_numbered, records=True),
)
USAGE_ACTS = named(
    Act("reverse", "Reverse", _reverse_usage, MONEY, fits=_is_booking, records=True),
    Act("correct_quantity", "Correct quantity", _correct_usage, MONEY, QuantityForm, fits=_is_booking, records=True),
)


class ReasonForm(ActionForm):
    """The form above a list, with a reason that the tenant's audit log shows."""

    reason = LineField(required=False, max_length=500, label="Reason")


class Actionable:
    """A list on whose rows staff may act. acts: by their name. actors: the roles that may."""

    acts: ClassVar[Mapping[str, Act]] = {}
    actors: ClassVar[frozenset[Role]] = OPERATORS
    action_form = ReasonForm

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return role_of(request) in self.actors

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return the acts without a form as Django shows actions: name -> (function, name, description)."""
        if not self.has_operate_permission(request):
            return {}
        simple = [act for act in self.acts.values() if act.form is None]
        return {act.name: (partial(_act_on_all, act=act), act.name, act.title) for act in simple}

    def get_urls(self) -> list[URLPattern]:
        urls: list[URLPattern] = super().get_urls()  # type: ignore[misc]
        return apart(urls)


def apart(urls: list[URLPattern]) -> list[URLPattern]:
    """Return routes whose requests are no transaction: each act is one, because a transaction serves one tenant."""
    for url in urls:
        transaction.non_atomic_requests(url.callback)
    return urls


class Operable(Actionable):
    """A page with acts on its row: the acts of the list, and those that ask for something."""

    def get_urls(self) -> list[URLPattern]:
        page: Any = self
        name = f"{page.opts.app_label}_{page.opts.model_name}_act"
        view = page.admin_site.admin_view(require_POST(self.act_view))
        return apart([path("<path:object_id>/act/", view, name=name), *super().get_urls()])

    def act_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Act on one row, and go back to its page, or to the page of the row that the act has made."""
        page: Any = self
        if not self.has_operate_permission(request):
            raise PermissionDenied
        row = page.one(unquote(object_id))
        act = self.acts.get(request.POST.get("verb", ""))
        following = row
        try:
            if act is None:
                raise Refused("unknown_act", "There is no such act.")
            made = perform(act, request, row, _fields(act, request))
        except Refused as refused:
            messages.error(request, f"{act.title if act else 'Nothing done'}: {refused.detail}")
        else:
            messages.success(request, f"{act.title}: done.")
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
            "simple_acts": [(act.name, act.title) for act in self.acts.values() if act.form is None and act.fits(row)],
            "asking_acts": [
                (act.name, act.title, act.form(prefix=act.name, initial={**_initial(row), **_named(act, request)}))
                for act in self.acts.values()
                if act.form is not None and act.fits(row)
            ],
            "open_acts": any(_named(act, request) for act in self.acts.values()),
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


def _named(act: Act, request: HttpRequest) -> dict[str, str]:
    """Return what a link to the page fills into the form of an act: query parameters with the names of its fields."""
    names = act.form.base_fields if act.form is not None else {}
    return {name: request.GET[f"{act.name}-{name}"] for name in names if f"{act.name}-{name}" in request.GET}


def _fields(act: Act, request: HttpRequest) -> dict[str, Any]:
    """Return the cleaned fields of an act's form. Raises Refused with the first fault."""
    if act.form is None:
        return {}
    form = act.form(request.POST, prefix=request.POST.get("verb", ""))
    if not form.is_valid():
        name, faults = next(iter(form.errors.items()))
        raise Refused("invalid", f"{name}: {faults[0]}")
    return form.cleaned_data


def _act_on_all(page: Any, request: HttpRequest, rows: QuerySet[Any], *, act: Act) -> None:
    """Act on each chosen row by itself; a refusal of one leaves the others."""
    done = 0
    for row in rows:
        try:
            perform(act, request, row)
        except Refused as refused:
            messages.error(request, f"{row.pk}: {refused.detail}")
            continue
        done += 1
    if done:
        messages.success(request, f"{act.title}: {done}")
