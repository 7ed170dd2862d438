"""Uploads, asks, pages and reads batch results by a generated client. Run with the client's own interpreter.

Arguments: base URL, API key, the id of a video that is indexed. Prints what it read as JSON.
"""

from __future__ import annotations

import json
import sys

import httpx
from ava_cloud_client import AuthenticatedClient, models
from ava_cloud_client.api.question_batches import create_question_batch, list_question_batch_results
from ava_cloud_client.api.questions import create_question, get_question
from ava_cloud_client.api.uploads import complete_upload, create_part_urls, create_upload
from ava_cloud_client.api.videos import list_videos

base_url, key, video_id = sys.argv[1:]
content = bytes(range(256)) * 8
with AuthenticatedClient(base_url=base_url, token=key, httpx_args={"trust_env": False}, timeout=90.0) as client:
    request = models.UploadRequest(filename="clip.mp4", size_bytes=len(content), content_type="video/mp4")
    upload = create_upload.sync(client=client, body=request)
    assert isinstance(upload, models.Upload)
    urls = create_part_urls.sync(upload.id, client=client, body=models.PartUrlsRequest(part_numbers=[1]))
    assert isinstance(urls, models.PartUrls)
    etag = httpx.put(urls.data[0].url, content=content, trust_env=False).headers["ETag"].strip('"')
    parts = {"parts": [{"part_number": 1, "etag": etag}]}
    video = complete_upload.sync(upload.id, client=client, body=models.UploadCompletionRequest.from_dict(parts))
    assert isinstance(video, models.Video)

    listed, cursor = [], ""
    while cursor is not None:
        page = list_videos.sync(client=client, limit=1, **({"cursor": cursor} if cursor else {}))
        assert isinstance(page, models.VideoPage)
        listed += [one.id for one in page.data]
        cursor = page.next_cursor

    body = models.QuestionRequest(question="What does the man do?", video_ids=[video_id])
    asked = create_question.sync(client=client, body=body, prefer="wait=60")
    assert isinstance(asked, models.Question)
    read = get_question.sync(asked.id, client=client)
    assert isinstance(read, models.Question)

    texts = ["Who comes?", "Who leaves?"]
    several = models.QuestionBatchRequest([models.BatchQuestionRequest(text) for text in texts], video_ids=[video_id])
    batch = create_question_batch.sync(client=client, body=several)
    assert isinstance(batch, models.QuestionBatch)
    lines = list_question_batch_results.sync(batch.id, client=client)
    assert isinstance(lines, str)
    results = [models.Question.from_dict(json.loads(line)) for line in lines.splitlines()]

print(
    json.dumps(
        {
            "video": video.id,
            "listed": listed,
            "asked": read.status,
            "finish_reason": read.finish_reason,
            "evidence": len(read.evidence),
            "batch": [result.question for result in results],
        }
    )
)
