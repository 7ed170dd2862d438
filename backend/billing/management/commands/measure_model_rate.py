"""Measure the device time of a served model's tokens, and append it as the model's rate."""

from __future__ import annotations

import getpass
import json
from dataclasses import asdict, replace
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.billing.services.machines.device_time import MEASURED_ROLES, append_rate
from gpu_workers.engine.models.roles import ChatCapabilities, ModelError
from gpu_workers.engine.models.served.chat import OpenAIChatModel
from gpu_workers.engine.models.served.measuring import measure_rate
from gpu_workers.engine.models.settings import ModelSettings


class Command(BaseCommand):
    help = (
        "Measure a chat model while its server has nothing else to do: requests fill the server, and what they take is "
        "divided between their tokens. Prints the rate as a JSON line. --append makes it the rate from now on."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("role", choices=MEASURED_ROLES, help="Role whose server is measured.")
        parser.add_argument("--in-flight", type=int, default=64, help="Requests at once; as many as the server runs.")
        parser.add_argument("--rounds", type=int, default=4, help="Requests of each place, one after another.")
        parser.add_argument("--cards", type=int, default=1, help="Accelerators of the server.")
        parser.add_argument("--pictures", action="store_true", help="Measure pictures too.")
        parser.add_argument("--append", action="store_true", help="Append the rate to the model's rates.")
        parser.add_argument("--author", default=getpass.getuser(), help="Who enters the rate.")
        parser.add_argument("--database", default="staff", help="Connection that may write rates.")

    def handle(self, *args: Any, **options: Any) -> None:
        role = ModelSettings.from_env().role(options["role"])
        if not role.url or not role.model:
            raise CommandError(f"{options['role']} has no server, or its model has no name")
        in_flight = max(1, options["in_flight"])
        model = OpenAIChatModel(
            base_url=role.url,
            model=role.model,
            api_key=role.api_key,
            capabilities=replace(ChatCapabilities(role.context_tokens or 32_768), images=options["pictures"]),
            concurrency=in_flight,
        )
        try:
            rate = measure_rate(model, in_flight=in_flight, rounds=options["rounds"], cards=options["cards"])
        except ModelError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(json.dumps({"model": role.model, **{k: round(v, 4) for k, v in asdict(rate).items()}}))
        if options["append"]:
            note = f"measured with {in_flight} requests in flight on {options['cards']} cards"
            try:
                append_rate(role.model, rate, author=options["author"], note=note, using=options["database"])
            except ValueError as error:
                raise CommandError(str(error)) from error
