"""The watch page in Chromium: boxes, panels that follow the player and the keyboard, and a video that grows."""

from __future__ import annotations

from uuid6 import uuid7

from backend.api.public_ids import encode
from backend.ekg.models import TranscriptLine
from backend.library.models import Video, VideoStatus
from tests.browser.chromium import in_a_thread, in_chromium, out_of_reach
from tests.conftest import Cast
from tests.web.app import PHONE, WIDE, App
from tests.web.crossing import crossing, write_events

pytestmark = in_chromium

FRAME_S = 1 / 25
YELLOW = """() => {
  const [canvas, video] = [document.querySelector('canvas.boxes'), document.querySelector('video')];
  const { width, height } = canvas;
  const pen = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const { data } = pen.getImageData(0, 0, width, height);
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let n = 0; n < data.length; n += 4) {
    if (data[n] < 230 || data[n + 1] < 190 || data[n + 2] > 100 || data[n + 3] < 200) continue;
    const [x, y] = [(n / 4) % width, Math.floor(n / 4 / width)];
    [left, top] = [Math.min(left, x), Math.min(top, y)];
    [right, bottom] = [Math.max(right, x + 1), Math.max(bottom, y + 1)];
  }
  const scale = Math.min(width / video.videoWidth, height / video.videoHeight);
  const [w, h] = [video.videoWidth * scale, video.videoHeight * scale];
  const [x0, y0] = [(width - w) / 2, (height - h) / 2];
  return [(left - x0) / w, (top - y0) / h, (right - x0) / w, (bottom - y0) / h];
}"""
"""Where the drawn box lies, as fractions of the picture."""


def test_boxes_of_an_object_lie_on_the_picture(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme))
    page = app.page
    app.open(f"videos/{encode('vid', made.video_id)}?tab=objects")
    page.wait_for_function("() => document.querySelector('video')?.readyState >= 2")
    for size in (WIDE, PHONE, {"width": 1_100, "height": 500}):
        page.set_viewport_size(size)
        row = page.locator("panel-objects .moment-row", has_text="red car")
        if row.get_by_role("button").get_attribute("aria-pressed") == "false":
            row.get_by_role("button").click()
        page.evaluate("() => { document.querySelector('video').currentTime = 4; }")
        page.wait_for_function(f"() => ({YELLOW})()[2] > 0")
        found = page.evaluate(YELLOW)
        assert all(abs(one - two) <= 0.02 for one, two in zip(found, (0.25, 0.5, 0.5, 0.75), strict=True)), (
            size,
            found,
        )


def test_an_event_is_sought_to_a_frame_and_words_filter_what_is_loaded(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme))
    page = app.page
    app.open(f"videos/{encode('vid', made.video_id)}?tab=events")
    page.wait_for_function("() => document.querySelector('video')?.duration > 50")
    page.evaluate("""() => { const video = document.querySelector('video');
      video.addEventListener('seeking', () => { window.sought = video.currentTime; }); }""")
    page.locator("panel-events .moment-row a").nth(2).click()
    page.wait_for_function(f"() => Math.abs(window.sought - 10) <= {FRAME_S}")
    page.keyboard.press("k")
    app.asked.clear()
    page.get_by_label("Filter events by words").fill("van")
    page.wait_for_function("() => document.querySelectorAll('panel-events .moment-row').length === 3")
    assert not [each for each in app.asked if each.endswith("/events")]


def test_the_spoken_line_is_marked_and_scrolls_until_the_reader_does(acme: Cast, app: App, play: None) -> None:
    def fill() -> str:
        made = crossing(acme)
        with acme.scope():
            TranscriptLine.objects.filter(video_id=made.video_id).delete()
            TranscriptLine.objects.bulk_create(
                TranscriptLine(
                    id=uuid7(), tenant_id=acme.tenant_id, video_id=made.video_id, index_version=1, text=f"Line {n}",
                    start_ms=n * 1_000, end_ms=n * 1_000 + 900, words=[],
                )
                for n in range(60)
            )  # fmt: skip
        return encode("vid", made.video_id)

    page = app.page
    app.open(f"videos/{in_a_thread(fill)}?tab=speech")
    page.wait_for_function("() => document.querySelector('video')?.duration > 50")
    seek = "ms => document.querySelector('ava-player').seek(ms)"
    top = "() => document.querySelector('panel-speech .moments').scrollTop"
    page.evaluate(seek, 50_500)
    now = page.locator("panel-speech a[aria-current]")
    now.filter(has_text="Line 50").wait_for()
    page.wait_for_function(f"() => ({top})() > 200")
    assert page.evaluate("""() => { const row = document.querySelector('panel-speech a[aria-current]');
      const [one, all] = [row.getBoundingClientRect(), row.closest('.moments').getBoundingClientRect()];
      return one.top >= all.top && one.bottom <= all.bottom; }""")
    page.locator("panel-speech .moments").hover()
    page.mouse.wheel(0, -5_000)
    page.wait_for_function(f"() => ({top})() === 0")
    page.evaluate(seek, 40_500)
    now.filter(has_text="Line 40").wait_for()
    assert page.evaluate(top) == 0


def test_a_growing_video_shows_new_events_without_moving_the_reader(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme, until_ms=30_000))

    def grow(until_ms: int, status: str) -> None:
        with acme.scope():
            known = Video.objects.get(id=made.video_id).indexed_until_ms
            write_events(acme, made.video_id, range(known // 5_000, until_ms // 5_000))
            Video.objects.filter(id=made.video_id).update(
                indexed_until_ms=until_ms, status=status, duration_ms=90_000
            )  # fmt: skip

    in_a_thread(lambda: grow(30_000, VideoStatus.INDEXING))
    page = app.page
    page.set_viewport_size({"width": 1_440, "height": 480})
    app.open(f"videos/{encode('vid', made.video_id)}?tab=events")
    rows = page.locator("panel-events .moment-row")
    assert rows.count() == 6
    page.evaluate("() => { window.sameDocument = true; }")
    page.evaluate("() => { document.querySelector('ava-timeline').zoom(0.5, 0); }")
    page.evaluate("() => { document.querySelector('panel-events .moments').scrollTop = 90; }")
    place = """() => [document.querySelector('panel-events .moments').scrollTop,
      document.querySelector('ava-timeline').camera.t0, document.querySelector('ava-timeline').camera.perPx]"""
    before = page.evaluate(place)
    assert before[0] == 90
    for until_ms, status in ((60_000, VideoStatus.INDEXING), (90_000, VideoStatus.READY)):
        in_a_thread(lambda until_ms=until_ms, status=status: grow(until_ms, status))
        rows.nth(until_ms // 5_000 - 1).wait_for()
        events = "document.querySelector('ava-timeline').rows.find(row => row.id === 'events').items"
        page.wait_for_function(f"() => {events}.start.length === {until_ms // 5_000}")
        assert page.evaluate(f"() => {events}.start") == list(range(0, until_ms, 5_000))
        assert page.evaluate(place) == before
    page.locator(".badge", has_text="Ready").first.wait_for()
    assert page.evaluate("() => window.sameDocument")


def test_every_tab_is_used_by_the_keyboard(acme: Cast, app: App, play: None) -> None:
    made = in_a_thread(lambda: crossing(acme))
    page = app.page
    app.open(f"videos/{encode('vid', made.video_id)}")
    page.locator("media-controller").wait_for()
    page.get_by_role("tab", name="Ask").focus()
    for tab in ("Events", "Speech", "Entities", "Objects", "Summary", "Ask"):
        page.get_by_role("tab", selected=True).focus()
        page.keyboard.press("ArrowRight")
        page.get_by_role("tab", name=tab, selected=True).wait_for()
        app.settle()
        assert page.evaluate("() => document.activeElement.textContent.trim()") == tab
        assert out_of_reach(page, "#panel :is(a, button, input, textarea, select)") == [], tab


def test_a_card_shows_twelve_pictures_of_its_video(acme: Cast, app: App, play: None) -> None:
    in_a_thread(lambda: crossing(acme))
    page = app.page
    app.open("library")
    page.locator(".poster").first.hover()
    page.locator(".contact-sheet span").nth(11).wait_for()
    assert page.locator(".contact-sheet span").count() == 12
    sheet, poster = (page.locator(each).first.bounding_box() for each in (".contact-sheet", ".poster"))
    assert abs(sheet["width"] - poster["width"]) < 2
    app.check("library-hovered", looks=(("light", WIDE),))
