"""The timeline in Chromium: what it reads, draws and reaches, and its keys."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.ekg.models import Event
from backend.library.models import Video, VideoStatus
from tests.browser.chromium import in_a_thread, in_chromium
from tests.conftest import Cast
from tests.ekg.recorded import MODEL, VECTOR
from tests.web.app import PHONE, App
from tests.web.crossing import crossing
from tests.web.long_day import COUNTED, EVENTS, long_day
from tests.web.test_in_a_browser import answered

pytestmark = in_chromium

MOST_NODES, MOST_SHAPES = 400, 2_000
IN_A_FRAME = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
  window.drawn = 0;
  document.querySelector('ava-timeline').plan();
  requestAnimationFrame(() => requestAnimationFrame(() => done(window.drawn)));
})))"""
TIMELINE = "document.querySelector('ava-timeline')"
HOURS_48 = 48 * 3_600_000


def is_timeline(reply: Any) -> bool:
    return urlsplit(reply.url).path.endswith("/timeline")


def test_ten_hours_take_one_request_and_few_nodes_and_shapes(acme: Cast, app: App, play: None) -> None:
    video = encode("vid", in_a_thread(lambda: long_day(acme)))
    page = app.page
    read: list[dict[str, Any]] = []
    page.on("request", lambda sent: read.append(parse_qs(urlsplit(sent.url).query)) if is_timeline(sent) else None)
    page.add_init_script(f"({COUNTED})()")
    app.open(f"videos/{video}?tab=events")
    page.locator(".tl-stage").wait_for()

    def look(act: str) -> None:
        page.evaluate(f"() => {{ const timeline = {TIMELINE}; {act}; }}")
        app.settle()
        assert 100 < page.evaluate(IN_A_FRAME) <= MOST_SHAPES, act
        assert page.locator(".tl *").count() <= MOST_NODES

    assert (
        dict(page.evaluate(f"() => {TIMELINE}.rows.map(row => [row.id, row.items.start.length])"))["events"] == EVENTS
    )
    look("timeline.showAll()")
    assert read[0] == {}
    assert not any("lanes" in each for each in read)
    for zoom in ("timeline.zoom(0.1, 500)", "timeline.zoom(0.1, 500)", "timeline.pan(-9_000)"):
        with page.expect_response(lambda reply: is_timeline(reply) and "lanes=" in reply.url):
            look(zoom)
    assert [each["lanes"] for each in read if "lanes" in each] == [["speech,objects"], *[["speech,objects,events"]] * 2]
    page.wait_for_function(f"() => {TIMELINE}.rows.find(row => row.id === 'events').items.label.some(Boolean)")
    page.set_viewport_size(PHONE)
    look("timeline.showAll()")


def test_the_last_second_of_two_days_is_reached(acme: Cast, app: App, play: None) -> None:
    def fill() -> str:
        with acme.scope():
            video = Video.objects.create(
                tenant_id=acme.tenant_id, object_key="t/x", size_bytes=5, title="Two days", duration_ms=HOURS_48,
                status=VideoStatus.READY, indexed_until_ms=HOURS_48,
            )  # fmt: skip
            Event.objects.create(
                id=uuid7(), tenant_id=acme.tenant_id, video_id=video.id, index_version=1, n=0, end_ms=HOURS_48,
                start_ms=HOURS_48 - 1_000, first_chunk=0, end_chunk=1, summary="The gate closes.", embedding=VECTOR,
                embedding_model=MODEL,
            )  # fmt: skip
        return encode("vid", video.id)

    page = app.page
    app.open(f"videos/{in_a_thread(fill)}?tab=events")
    page.locator(".tl-stage").wait_for()
    page.evaluate(f"() => {{ {TIMELINE}.zoom(1e-9, 0); {TIMELINE}.pan(-1e12); }}")
    box = page.locator(".tl-stage").bounding_box()
    tip = page.locator(".tl-tip")
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 8)
    tip.filter(has_text="47:59:59").wait_for()
    page.wait_for_function(f"() => {TIMELINE}.rows[0].items.label[0]")
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 34)
    tip.filter(has_text="The gate closes.").wait_for()
    page.evaluate(f"() => {TIMELINE}.addEventListener('seek', event => {{ window.sought = event.detail.ms; }})")
    page.mouse.down()
    page.mouse.up()
    assert page.evaluate("() => window.sought") == HOURS_48 - 1_000


def test_scrubbing_shows_a_picture_at_once(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme))
    page = app.page
    app.open(f"videos/{encode('vid', made.video_id)}?tab=events")
    page.wait_for_function("() => document.querySelector('video')?.duration > 50")
    box = page.locator(".tl-stage").bounding_box()
    at = lambda share: (box["x"] + box["width"] * share, box["y"] + 8)  # noqa: E731
    with page.expect_response("**/storyboard.vtt**"):
        page.mouse.move(*at(0.1))
    page.mouse.down()
    page.mouse.move(*at(0.2), steps=4)
    page.locator(".tl-tip div").wait_for(state="attached")
    page.mouse.move(*at(0.5), steps=4)
    assert "sheet.jpg" in page.locator(".tl-tip div").get_attribute("style")
    page.mouse.up()
    page.wait_for_function("() => Math.abs(document.querySelector('video').currentTime - 30) < 0.3")
    app.check("watch-scrubbed", looks=(("light", PHONE),))


def test_the_keys_of_the_timeline(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme))
    question = in_a_thread(lambda: answered(acme, made))
    page = app.page
    app.open(f"videos/{encode('vid', made.video_id)}?q={question}")
    page.wait_for_function("() => document.querySelector('video')?.duration > 50")
    page.wait_for_function(f"() => {TIMELINE}.rows[0].id === 'evidence'")
    stage = page.locator(".tl-stage")
    is_so = lambda words: page.wait_for_function(f"() => {words}")  # noqa: E731
    video = "document.querySelector('video')"

    def press(key: str, wanted: float, within: float = 0.3) -> None:
        page.keyboard.press(key)
        is_so(f"Math.abs({video}.currentTime - {wanted}) < {within}")

    stage.focus()
    press("l", 10)
    press("j", 0)
    for key, wanted in (("ArrowRight", 5), ("ArrowLeft", 0), ("Shift+ArrowRight", 1), ("Shift+ArrowLeft", 0)):
        press(key, wanted)
    press(".", 0.04, 0.01)
    press(",", 0, 0.01)
    page.keyboard.press("Space")
    is_so(f"!{video}.paused")
    page.keyboard.press("k")
    is_so(f"{video}.paused")
    for key, rate in ((">", 1.25), ("<", 1), ("<", 0.75), (">", 1)):
        page.keyboard.press(key)
        is_so(f"{video}.playbackRate === {rate}")

    lane = f"{TIMELINE}.rows[{TIMELINE}.lane].id"
    page.evaluate(f"() => {{ {TIMELINE}.lane = 0; }}")
    page.keyboard.press("ArrowUp")
    is_so(f"{lane} === 'evidence'")
    for name in ("topics", "events"):
        page.keyboard.press("ArrowDown")
        is_so(f"{lane} === '{name}'")
    press("g", 0)
    page.get_by_label("Time, up to 1:00").fill("0:12")
    press("Enter", 12)
    stage.focus()
    for key, wanted in (("]", 15), ("]", 20), ("[", 15)):
        press(key, wanted)
    assert stage.get_attribute("role") == "slider"
    is_so("document.querySelector('.tl-stage').ariaValueNow === '15'")
    assert stage.get_attribute("aria-valuetext") == "0:15, Events 4 of 12: A blue car stops before the crossing."
    page.keyboard.press("Enter")
    is_so(f"!{video}.paused && {video}.currentTime >= 15")
    page.keyboard.press("k")
    for key, wanted in (("e", 25), ("e", 30), ("E", 25)):
        press(key, wanted)

    wide = f"{TIMELINE}.camera.perPx"
    whole = page.evaluate(f"() => {wide}")
    page.keyboard.press("+")
    is_so(f"{wide} < {whole}")
    page.keyboard.press("-")
    is_so(f"{wide} === {whole}")
    page.keyboard.press("z")
    is_so(f"{wide} < {whole} / 2")
    page.keyboard.press("0")
    is_so(f"{wide} === {whole}")

    page.keyboard.press("i")
    press("l", 35)
    page.keyboard.press("o")
    assert page.evaluate(f"() => {TIMELINE}.clip.map(each => Math.round(each / 1000))") == [25, 35]
    page.keyboard.press("b")
    is_so(f"!{video}.paused && {video}.currentTime < 30")
    is_so("document.querySelector('[data-repeat]').getAttribute('aria-pressed') === 'true'")
    page.keyboard.press("c")
    page.get_by_role("dialog", name="Make a clip").wait_for()
    assert page.get_by_role("textbox", name="From").input_value() == "0:25"
