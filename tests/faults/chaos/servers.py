"""The model servers of the chaos runs, behind one door each that all faults of the models use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.worker_memory import vector_server
from tests.faults.chaos.doors import Door, Way
from tests.faults.chaos.words import Patient
from tests.scripted_openai import ScriptedOpenAIServer

MODEL = "scripted"


@dataclass(frozen=True, slots=True)
class Doors:
    """The doors of all model servers, which open and shut together."""

    doors: tuple[Door, ...]

    def turn(self, way: Way) -> None:
        for door in self.doors:
            door.turn(way)


@contextmanager
def model_servers(patient: Patient) -> Iterator[tuple[dict[str, str], Doors]]:
    """Yield the environment that names the servers of a VLM, of an LLM and of embeddings, and their doors."""
    with ScriptedOpenAIServer(patient, model=MODEL) as chat, vector_server() as vectors:
        doors = Doors((Door(chat.url), Door(vectors)))
        talking, embedding = (door.url for door in doors.doors)
        environment = {"SIMILARITY_MODEL": "all-minilm-l6-v2"}
        for role in ("DESCRIBER", "REASONER"):
            environment |= {f"{role}_URL": talking, f"{role}_MODEL": MODEL}
        for role in ("TEXT_EMBEDDER", "FRAME_EMBEDDER", "TOKEN_EMBEDDER"):
            environment |= {f"{role}_URL": embedding, f"{role}_MODEL": "vectors"}
        try:
            yield environment, doors
        finally:
            for door in doors.doors:
                door.close()
