"""Links that show one answer, one recording or one clip to whoever has them, until they end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar
from uuid import UUID

from django.db import models

from backend.clips.models import Clip
from backend.library.models import Video
from backend.questions.models import Question
from backend.tenancy.models import TenantRow


class Share(TenantRow):
    """A link to one question, one video or one clip. Only a digest of its token is stored.

    start_ms, end_ms: the span of the video that is shown; both None for the whole recording.
    """

    question = models.ForeignKey(
        Question, null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    video = models.ForeignKey(
        Video, null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    clip = models.ForeignKey(
        Clip, null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    start_ms = models.BigIntegerField(null=True)
    end_ms = models.BigIntegerField(null=True)
    # Whether the page of an answer also plays the recordings that the answer cites, from begin to end.
    play_recordings = models.BooleanField(default=False)
    # The heading of the page. A video's own title and file name are not shown.
    title = models.CharField(max_length=200, default="", blank=True)
    digest = models.BinaryField(max_length=32)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    # Who made it: a key or a member.
    api_key_id = models.UUIDField(null=True)
    person_id = models.UUIDField(null=True)
    views = models.PositiveIntegerField(default=0)
    last_viewed_at = models.DateTimeField(null=True)
    # When a view was last written to the audit log.
    audited_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=models.Q(question=None, clip=None)
                | models.Q(video=None, clip=None, start_ms=None, end_ms=None)
                | models.Q(video=None, question=None, start_ms=None, end_ms=None),
                name="shares_share_one_thing",
            ),
            models.CheckConstraint(
                condition=models.Q(start_ms=None, end_ms=None) | models.Q(start_ms__lt=models.F("end_ms")),
                name="shares_share_span",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["digest"], name="shares_share_digest"),
            models.Index(fields=["tenant", "question"], name="shares_share_question"),
            models.Index(fields=["tenant", "video"], name="shares_share_video"),
            models.Index(fields=["tenant", "clip"], name="shares_share_clip"),
        ]

    @classmethod
    def within(cls, collections: Sequence[UUID]) -> models.Q:
        """Return the condition on the rows that a member limited to these collections sees."""
        answers = Question.unscoped.filter(Question.within(collections), tenant_id=models.OuterRef("tenant_id"))
        clips = Clip.unscoped.filter(Clip.within(collections), tenant_id=models.OuterRef("tenant_id"))
        return (
            models.Q(video__collection_id__in=collections)
            | models.Q(models.Exists(answers.filter(pk=models.OuterRef("question_id"))))
            | models.Q(models.Exists(clips.filter(pk=models.OuterRef("clip_id"))))
        )
