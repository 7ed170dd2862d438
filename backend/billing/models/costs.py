"""What machines cost and what was attributed to work: rates of models, paid machine hours, and days reconciled."""

from __future__ import annotations

from decimal import Decimal

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from uuid6 import uuid7


class ModelRate(models.Model):
    """Device time of a served model's tokens in microseconds, from effective_from on. Append-only.

    The columns mean what they mean in gpu_workers.engine.models.device_rates.DeviceRate. note: how it was measured.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    model = models.CharField(max_length=200)
    fresh_us = models.DecimalField(max_digits=16, decimal_places=4)
    cached_us = models.DecimalField(max_digits=16, decimal_places=4)
    output_us = models.DecimalField(max_digits=16, decimal_places=4)
    picture_us = models.DecimalField(max_digits=16, decimal_places=4, default=0)
    request_us = models.DecimalField(max_digits=16, decimal_places=4, default=0)
    effective_from = models.DateTimeField()
    author = models.CharField(max_length=200)
    entered_at = models.DateTimeField(default=timezone.now, db_default=Now(), editable=False)
    note = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["model", "effective_from"], name="modelrate_effective"),
            models.CheckConstraint(
                condition=models.Q(
                    fresh_us__gte=0, cached_us__gte=0, output_us__gte=0, picture_us__gte=0, request_us__gte=0
                ),
                name="modelrate_not_negative",
            ),
            # A rate of zero for all tokens would make the model free without a word.
            models.CheckConstraint(
                condition=models.Q(fresh_us__gt=0) | models.Q(output_us__gt=0), name="modelrate_not_free"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} from {self.effective_from:%Y-%m-%d}"


class MachineDay(models.Model):
    """What was paid for one kind of machine on one day (UTC). hours: of all machines of the kind together.

    devices: accelerators of one machine, 1 for a machine that works on its CPU. usd_per_hour: of one machine.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    day = models.DateField()
    machine = models.CharField(max_length=100)
    devices = models.PositiveIntegerField(default=1)
    hours = models.DecimalField(max_digits=12, decimal_places=4)
    usd_per_hour = models.DecimalField(max_digits=12, decimal_places=6)
    author = models.CharField(max_length=200)
    entered_at = models.DateTimeField(auto_now=True)
    note = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["day", "machine"], name="machineday_once"),
            models.CheckConstraint(
                condition=models.Q(hours__gte=0, usd_per_hour__gte=0, devices__gte=1), name="machineday_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.machine} on {self.day}"


class CostDay(models.Model):
    """One day (UTC) reconciled: what was paid, what the ledger attributed to work, and the rest, which is overhead.

    paid_seconds, attributed_seconds, overhead_seconds: device time; paid = attributed + overhead. The same for the
    amounts in USD. Overhead is negative on a day whose machine hours are not entered, or whose rates are too high.
    lost_attempts, lost_seconds, lost_usd: attempts whose process was killed, and the part of the overhead that they can
    have used at the most; the rest of the overhead was idle. paid = attributed + lost + idle.
    hosted_usd: tokens of providers, on no machine of ours. waste_usd: the part of attributed_usd and hosted_usd that
    nobody is billed for. utilisation: attributed over paid device time, null without paid time.

    usd_per_video_hour, usd_per_question: with their share of the overhead, null without video or questions.
    """

    day = models.DateField(primary_key=True)
    paid_seconds = models.DecimalField(max_digits=20, decimal_places=6)
    attributed_seconds = models.DecimalField(max_digits=24, decimal_places=6)
    overhead_seconds = models.DecimalField(max_digits=24, decimal_places=6)
    lost_attempts = models.PositiveIntegerField(default=0)
    lost_seconds = models.DecimalField(max_digits=24, decimal_places=6, default=0)
    lost_usd = models.DecimalField(max_digits=20, decimal_places=10, default=0)
    utilisation = models.DecimalField(max_digits=12, decimal_places=6, null=True)
    paid_usd = models.DecimalField(max_digits=20, decimal_places=10)
    attributed_usd = models.DecimalField(max_digits=20, decimal_places=10)
    overhead_usd = models.DecimalField(max_digits=20, decimal_places=10)
    hosted_usd = models.DecimalField(max_digits=20, decimal_places=10)
    waste_usd = models.DecimalField(max_digits=20, decimal_places=10)
    video_hours = models.DecimalField(max_digits=20, decimal_places=6)
    questions = models.DecimalField(max_digits=20, decimal_places=6)
    usd_per_video_hour = models.DecimalField(max_digits=20, decimal_places=10, null=True)
    usd_per_question = models.DecimalField(max_digits=20, decimal_places=10, null=True)
    reconciled_at = models.DateTimeField(auto_now=True)

    @property
    def idle_seconds(self) -> Decimal:
        """Return the device time of the overhead that nothing can have used: the least that was idle."""
        return self.overhead_seconds - self.lost_seconds

    @property
    def idle_usd(self) -> Decimal:
        return self.overhead_usd - self.lost_usd

    def __str__(self) -> str:
        return str(self.day)
