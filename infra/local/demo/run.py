"""The main job, step by step: upload, wait for the index and its webhook, ask, keep the evidence."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from ava_cloud import errors, models, operations

from gpu_workers.engine.clock_text import clock
from infra.local.default_video import NoDefaultVideo, default_video
from infra.local.demo.client import Json, own_client, sha256_of
from infra.local.demo.progress import Stages
from infra.local.demo.receiver import Received, Receiver
from infra.local.demo.running_service import RunningService

WEBHOOK_S = 60.0
ENDPOINT = "demo receiver"
DEFAULT_QUESTIONS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "vtest.avi": (
        ("What do the people in this video do?", ()),
        ("What moves through the scene for most of the video?", ("dogs", "pedestrians", "trains", "boats")),
    ),
    "bikes.mp4": (
        ("What happens in this video?", ()),
        ("Where does this video take place?", ("on a street", "in a kitchen", "on a beach", "in a theatre")),
    ),
}
ANY_VIDEO: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("What happens in this video?", ()),
    ("What can be seen most of the time?", ("people", "vehicles", "animals", "none of these")),
)


SECOND_METHOD = "videoagent"
"""Method that answers the last question as well, next to the default one, if COMPARE is set."""


def video_file(say: Callable[[str], None]) -> Path:
    """Return the file that VIDEO names, or else the default video, fetched if it is not there. Raises DemoFailed."""
    path = os.environ.get("VIDEO")
    if path:
        file = Path(path).expanduser()
        if not file.is_file():
            raise DemoFailed(f"VIDEO={path}: there is no such file")
        if file.stat().st_size == 0:
            raise DemoFailed(f"VIDEO={path}: the file is empty")
        return file
    try:
        video = default_video()
    except NoDefaultVideo as error:
        raise DemoFailed(f"{error}; name a file of your own with VIDEO=") from error
    say(f"video: {video.source}")
    return video.path


class DemoFailed(Exception):
    """The service did not do what the demo expects; the message says how."""


@dataclass(frozen=True, slots=True)
class Prompt:
    question: str
    choices: tuple[str, ...] = field(default_factory=tuple)
    method: str = "ava"


class Demo:
    """One run of the demo. out: the folder for result.json and evidence frames."""

    def __init__(self, service: RunningService, stages: Stages, out: Path) -> None:
        self._out = out
        out.mkdir(parents=True, exist_ok=True)
        self._ava = own_client(service.url, service.api_key())
        self._stages = stages

    def run(self, file: Path) -> Json:
        """Index the video and ask about it; return what result.json holds. Raises DemoFailed and AvaError."""
        compare = bool(os.environ.get("COMPARE"))
        receiver = Receiver()
        try:
            self._register(receiver)
            video, reused = self._uploaded_video(file)
            prompts = self._questions(file)
            if compare:
                prompts.append(replace(prompts[-1], method=SECOND_METHOD))
            video = self._wait_for_index(video["id"])
            webhook = self._webhook(receiver, video, reused=reused)
            summary = self._summary(video)
            answers = [self._ask(video, prompt, number) for number, prompt in enumerate(prompts, 1)]
            if compare:
                self._compare(answers[-2:])
        finally:
            receiver.close()
        result = {
            "video": {key: video[key] for key in ("id", "duration_ms", "indexed_until_ms")},
            "ekg": video["ekg"],
            "index": {
                "wall_ms": video["timings"]["index_ms"],
                "realtime_factor": video["timings"]["realtime_factor"],
                "stages_ms": video["timings"]["stages_ms"],
                "reused": reused,
            },
            "summary": summary,
            "webhook": {"id": webhook.id, "type": webhook.type, "verified": webhook.verified},
            "questions": answers,
        }
        (self._out / "result.json").write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
        return result

    def _questions(self, file: Path) -> list[Prompt]:
        question, choices = os.environ.get("QUESTION"), os.environ.get("CHOICES")
        if question:
            return [Prompt(question, tuple(choice.strip() for choice in choices.split("|")) if choices else ())]
        return [Prompt(*pair) for pair in DEFAULT_QUESTIONS.get(file.name, ANY_VIDEO)]

    def _summary(self, video: Json) -> Json:
        summary = operations.event_knowledge_graph.get_summary.sync(video["id"], client=self._ava.api).to_dict()
        if summary["text"]:
            self._stages.say(f"summary: {summary['text']}")
        names = ("title", "start_ms", "end_ms", "summary")
        topics = [{key: topic[key] for key in names} for topic in summary["topics"]]
        return {"text": summary["text"], "topics": topics}

    # --- index ------------------------------------------------------------------------------------------------------

    def _register(self, receiver: Receiver) -> None:
        """Register one endpoint for all runs; each run's receiver listens on its own port."""
        api, webhooks = self._ava.api, operations.webhooks
        endpoints = [one for one in self._ava.rows(webhooks.list_webhook_endpoints) if one.description == ENDPOINT]
        if endpoints:
            id = endpoints[0].id
            # A secret can be read only where it is made, so each run makes its own.
            forced = models.WebhookSecretRotationRequest(force=True)
            receiver.secret = webhooks.rotate_webhook_secret.sync(id, client=api, body=forced).secret
            wanted = models.WebhookEndpointUpdateRequest(url=receiver.url, enabled=True)
            webhooks.update_webhook_endpoint.sync(id, client=api, body=wanted)
            return
        endpoint = models.WebhookEndpointRequest(receiver.url, ENDPOINT, ["video.ready", "video.failed"])
        receiver.secret = webhooks.create_webhook_endpoint.sync(client=api, body=endpoint).secret

    def _uploaded_video(self, file: Path) -> tuple[Json, bool]:
        """Return the video once all its bytes are sent, and whether an earlier run had indexed it."""
        digest = sha256_of(file)
        uploaded = [v for v in self._ava.videos.list(external_id=digest) if v.status not in ("failed", "deleting")]
        # A video that was indexed before the demo's endpoint existed has no webhook to show.
        if uploaded and (
            os.environ.get("FRESH") or (uploaded[0].status == "ready" and not self._delivery(uploaded[0].id))
        ):
            for video in uploaded:
                self._ava.videos.delete(video.id)
            uploaded = []
        if uploaded:
            self._stages.say(f"{file.name} was uploaded before as {uploaded[0].id}; FRESH=1 indexes it again")
            return uploaded[0].to_dict(), uploaded[0].status == "ready"
        megabytes = file.stat().st_size / 1e6
        self._stages.say(f"uploading {file.name} ({megabytes:.1f} MB)")
        self._stages.move("upload", 0, megabytes, "MB")
        with self._stages.during("uploading"):
            sent = self._ava.videos.upload(
                file,
                title=file.name,
                external_id=digest,
                on_progress=lambda now, _: self._stages.move("upload", now / 1e6, megabytes, "MB"),
                idempotency_key=f"demo-upload-{digest[:32]}-{time.time_ns()}",
            )
        return sent.to_dict(), False

    def _wait_for_index(self, video_id: str) -> Json:
        doing = ""

        def show(video: models.Video) -> None:
            nonlocal doing
            job = operations.index_jobs.list_index_jobs.sync(client=self._ava.api, video_id=video_id).data[0]
            doing = f" ({job.stage or job.status})"
            if video.duration_ms:
                seconds = video.duration_ms / 1000
                self._stages.move("observe", min(job.observed_ms / 1000, seconds), seconds, "s of video")
                self._stages.move("index", (video.indexed_until_ms or 0) / 1000, seconds, "s of video")

        with self._stages.during(lambda: f"indexing{doing}"):
            try:
                return self._ava.videos.wait_ready(video_id, on_progress=show).to_dict()
            except errors.WorkFailed as error:
                raise DemoFailed(f"{video_id} cannot be indexed: {error.code}: {error.detail}") from error

    def _delivery(self, video_id: str) -> str | None:
        """Return the delivery of the video's video.ready event to the demo's endpoint."""
        for delivery in self._ava.rows(operations.webhooks.list_webhook_deliveries, event_type="video.ready"):
            if delivery.resource_id == video_id:
                return str(delivery.id)
        return None

    def _webhook(self, receiver: Receiver, video: Json, *, reused: bool) -> Received:
        if reused:
            # An earlier run's delivery went to that run's receiver, so it is sent once more.
            delivery = self._delivery(video["id"]) or ""
            operations.webhooks.replay_webhook_delivery.sync(delivery, client=self._ava.api)
        with self._stages.during("waiting for the webhook"):
            received = receiver.wait_for("video.ready", video["id"], timeout_s=WEBHOOK_S)
        if received is None:
            raise DemoFailed("no video.ready webhook arrived")
        if not received.verified:
            raise DemoFailed("the webhook's signature does not verify")
        self._stages.say(f"webhook {received.type} {received.id}: signature verified")
        return received

    # --- ask --------------------------------------------------------------------------------------------------------

    def _ask(self, video: Json, prompt: Prompt, number: int) -> Json:
        by = "" if prompt.method == "ava" else f"   (by {prompt.method})"
        choices = "".join(f"\n    - {choice}" for choice in prompt.choices)
        self._stages.say(f"\nQ{number}: {prompt.question}{by}{choices}")
        stage, asked = "", ""
        with self._stages.during(lambda: f"answering question {number}{stage}"):
            for event in self._ava.ask_stream(
                prompt.question, video_ids=[video["id"]], choices=list(prompt.choices), method=prompt.method
            ):
                stage = f" ({event.data.get('stage') or event.type})"
                asked = event.data.get("id", asked)
        answered = operations.questions.get_question.sync(asked, client=self._ava.api, include="trace")
        question = answered.to_dict()
        if answered.status != "succeeded":
            raise DemoFailed(f"{asked} {answered.status}: {question['error']}")
        self._show(question, number)
        return self._save(question, prompt, number)

    def _show(self, question: Json, number: int) -> None:
        say = self._stages.say
        say(f"A{number}: {question['answer'] or '(no answer)'}")
        say(f"    {question['finish_reason']}, confidence {_sure(question)}")
        for item in question["evidence"]:
            say(f"    {_clock(item['start_ms'])}-{_clock(item['end_ms'])}  {item['status']:<11} {item['quote'][:140]}")
        usage, timings = question["usage"], question["timings"]
        tokens = f"{usage['prompt_tokens']} + {usage['completion_tokens']} tokens in {usage['calls']} calls"
        say(
            f"    charge {question['charge']['amount']} {question['charge']['currency']}, {tokens}, "
            f"{timings['total_ms'] / 1000:.1f} s"
        )

    def _compare(self, answers: list[Json]) -> None:
        """Show the answers of two methods to one question side by side."""
        self._stages.say(f"\nSide by side: {answers[0]['question']}")
        for answer in answers:
            usage = answer["usage"]
            tokens = usage["prompt_tokens"] + usage["completion_tokens"]
            charge = f"{answer['charge']['amount']} {answer['charge']['currency']}"
            self._stages.say(
                f"    {answer['method']:<12} {answer['answer'] or '(no answer)':<20.60} "
                f"confidence {_sure(answer)} {usage['calls']:>4} calls {tokens:>6} tokens "
                f"{answer['timings']['total_ms'] / 1000:>6.1f} s   {charge}"
            )

    def _save(self, question: Json, prompt: Prompt, number: int) -> Json:
        evidence = []
        for position, item in enumerate(question["evidence"], 1):
            frame = None
            if item["frame"] is not None:
                file = self._out / f"q{number}_evidence{position}_{item['frame']['ms']}ms.jpg"
                file.write_bytes(self._ava.download(item["frame"]["thumbnail_url"]))
                frame = file.name
            saved = {key: item[key] for key in ("video_id", "event_id", "start_ms", "end_ms", "quote", "status")}
            evidence.append({**saved, "frame": frame})
        return {
            "question": prompt.question,
            "choices": list(prompt.choices),
            "method": prompt.method,
            **{key: question[key] for key in ("answer", "choice", "finish_reason", "confidence")},
            "evidence": evidence,
            "nodes": question["trace"],
            **{key: question[key] for key in ("usage", "charge", "timings")},
        }


def _sure(question: Json) -> str:
    """Return the confidence in words; it is null where nothing was calibrated."""
    confidence = question["confidence"]
    return "not calibrated" if confidence is None else f"{confidence:.2f}"


def _clock(ms: int) -> str:
    """Return m:ss, or h:mm:ss from one hour on."""
    return clock(ms).removeprefix("0")


__all__ = ["Demo", "DemoFailed"]
