"""What the Python client, the command `ava` and its MCP server cost a customer's machine, and the customer."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from bench.abused_service import AbusedService, abused_service
from bench.figures import Figures, at_least, at_most, show_progress

CLIENT = Path(__file__).resolve().parents[1] / "frontend_api_schema" / "python" / "src"
GIB, PARTS_AT_ONCE, TURNS, STARTS = 1 << 30, 4, 3, 9
MEMORY_MB, RATE, HELP_CPU_S, TOKENS = 200, 0.8, 0.3, 3_000
CLIENT_GIVES_UP_S = 60.0

_UPLOAD = """
import re, sys, time
from ava_cloud import Ava
with Ava(sys.argv[1], base_url=sys.argv[2]) as ava:
    began = time.perf_counter()
    ava.videos.upload(sys.argv[3], idempotency_key=sys.argv[4])
    seconds = time.perf_counter() - began
# getrusage() would also count the memory of the process that started this one.
print(seconds, int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024)
"""


def uploads() -> Figures:
    """Send 2 GiB by the client, and by a plain copy in parts through the same signed URLs, in turns."""
    with tempfile.TemporaryDirectory() as folder, abused_service() as service:
        file = Path(folder) / "large.mp4"
        with file.open("wb") as out:
            block = os.urandom(1 << 20)
            for _ in range(2 * GIB // len(block)):
                out.write(block)
        ratios, memory = [], []
        for turn in range(TURNS):
            copied = _copied(service, file)
            seconds, megabytes = _sent(service, file, f"bench-{turn}")
            ratios.append(copied / seconds)
            memory.append(megabytes)
            show_progress(f"  {turn + 1} of {TURNS}: copy {copied:.1f} s, client {seconds:.1f} s, {megabytes:.0f} MB")
        yield at_most("upload_memory_mb", max(memory), MEMORY_MB, "resident memory of the process that sends 2 GiB")
        reference = f"rate of a plain copy by httpx, {PARTS_AT_ONCE} parts at once; median of {TURNS} turns"
        yield at_least("upload_rate_ratio", statistics.median(ratios), RATE, reference)


def _sent(service: AbusedService, file: Path, key: str) -> tuple[float, float]:
    """Upload by the client in a process of its own. Returns its seconds and its resident memory in MB."""
    program = [sys.executable, "-c", _UPLOAD, service.key, service.url, str(file), key]
    done = subprocess.run(program, env=_environment(service), check=True, capture_output=True, text=True)
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def _copied(service: AbusedService, file: Path) -> float:
    """Put the parts of the file by plain requests, and complete the upload. Returns the seconds."""
    size = file.stat().st_size
    began = time.perf_counter()
    wanted = {"filename": file.name, "size_bytes": size, "content_type": "video/mp4"}
    upload = service.call("POST", "/uploads", wanted)
    length = upload["part_size"]

    def put(number: int) -> None:
        made = service.call("POST", f"/uploads/{upload['id']}/part-urls", {"part_numbers": [number]})
        with file.open("rb") as source:
            source.seek((number - 1) * length)
            content = source.read(length)
        httpx.put(made["data"][0]["url"], content=content, timeout=300, trust_env=False).raise_for_status()

    with ThreadPoolExecutor(PARTS_AT_ONCE) as pool:
        list(pool.map(put, range(1, -(-size // length) + 1)))
    service.call("POST", f"/uploads/{upload['id']}/complete", {})
    return time.perf_counter() - began


def command_start() -> Figures:
    """Measure the CPU time of `ava --help`, in a process of its own each time."""
    taken = []
    for _ in range(STARTS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "ava_cloud", "--help"], env=_environment(), check=True, stdout=subprocess.DEVNULL
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    yield at_most("help_cpu_s", statistics.median(taken), HELP_CPU_S, f"CPU seconds, median of {STARTS} starts")


def agents() -> Figures:
    """Ask through `ava mcp` by a client that gives up after a minute, and then again, while nothing answers."""
    with abused_service() as service:
        tools, replies = asyncio.run(_asked(service))
        text = json.dumps([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools])
        yield at_most("mcp_tools_tokens", _tokens(text), TOKENS, f"{len(tools)} tools, by the tokenizer of MiniLM")
        assert all("get_answer(" in reply for reply in replies), replies
        paid = [row for row in service.call("GET", "/usage", None)["data"] if row["meter"] == "questions"]
        questions = sum(float(row["quantity"]) for row in paid)
        yield at_most("mcp_questions_paid", questions, 1, f"{len(replies)} calls of ask with the same question")


async def _asked(service: AbusedService) -> tuple[Sequence[Any], list[str]]:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    command = StdioServerParameters(command=sys.executable, args=["-m", "ava_cloud", "mcp"], env=_environment(service))
    question = {"question": "Which car?", "video_ids": [service.video_id]}
    async with Client(stdio_client(command), read_timeout_seconds=CLIENT_GIVES_UP_S) as client:
        tools = (await client.list_tools()).tools
        replies = [getattr((await client.call_tool("ask", question)).content[0], "text", "") for _ in range(2)]
    return tools, replies


def _tokens(text: str) -> int:
    from transformers import AutoTokenizer

    from gpu_workers.engine.models import weights
    from gpu_workers.engine.models.settings import MINILM

    return len(AutoTokenizer.from_pretrained(str(weights.fetch(MINILM))).tokenize(text))


def _environment(service: AbusedService | None = None) -> dict[str, str]:
    own = {} if service is None else {"AVA_API_KEY": service.key, "AVA_BASE_URL": service.url}
    return {**os.environ, "PYTHONPATH": str(CLIENT), **own}
