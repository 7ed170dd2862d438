"""How smooth the timeline of ten hours stays while a person pans and zooms, next to a loop that does nothing.

The video has 1,500 events, 10,000 lines of speech and 5,000 stretches of objects. A long task is a stretch of more than
50 ms in which the page answers nobody. Needs Chromium.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from bench.figures import Figures, at_most, show_progress
from bench.web_pages import World, opened, world

SECONDS = 5
MOST_NODES, MOST_SHAPES, MOST_REQUESTS = 400, 2_000, 2
_PANNED = """async moves => {
  const [long, frames] = [[], []];
  const watch = new PerformanceObserver(list => long.push(...list.getEntries().map(each => each.duration)));
  watch.observe({type: 'longtask'});
  const timeline = document.querySelector('ava-timeline');
  const ends = performance.now() + 1_000 * SECONDS;
  let most = 0;
  for (let n = 0, last = performance.now(); last < ends; n += 1) {
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - last);
    last = performance.now();
    most = Math.max(most, window.drawn ?? 0);
    window.drawn = 0;
    if (!moves) continue;
    // Nearer, a rest in which details are read, along, a rest, and wider again.
    const step = n % 160;
    if (step < 40) timeline.zoom(0.9, 500);
    else if (step >= 60 && step < 100) timeline.pan(step % 20 < 10 ? -35 : 20);
    else if (step >= 120) timeline.zoom(1 / 0.9, 500);
  }
  await new Promise(done => setTimeout(done, 100));
  watch.disconnect();
  return {long, frames: frames.length, slowest: Math.max(...frames), most};
}""".replace("SECONDS", str(SECONDS))


def figures() -> Figures:
    """Yield the figures of the timeline."""
    with world() as made:
        from backend.api.public_ids import encode
        from tests.web.long_day import COUNTED, long_day

        path = f"videos/{encode('vid', long_day(made.cast))}?tab=events"
        seen = [_panned(made, path), _panned(made, path, f"({COUNTED})()")]
    alone, empty = seen[0]["moved"], seen[0]["still"]
    show_progress(f"frames: {alone['frames']} and {empty['frames']} of the empty loop")
    said = f"{SECONDS} s; longest {max(alone['long'], default=0):.0f} ms; slowest frame {alone['slowest']:.0f} ms"
    loop = f"empty loop: {len(empty['long'])}, slowest frame {empty['slowest']:.0f} ms"
    yield at_most("web_pan_long_tasks", len(alone["long"]), len(empty["long"]), f"{said}; {loop}")
    yield at_most("web_pan_shapes", seen[1]["moved"]["most"], MOST_SHAPES, "most that one frame draws")
    yield at_most("web_pan_nodes", max(each["nodes"] for each in seen), MOST_NODES, "elements of the timeline")
    yield at_most("web_pan_requests", seen[0]["requests"], MOST_REQUESTS, "video and timeline, until it is drawn")


def _panned(made: World, path: str, script: str = "") -> dict[str, Any]:
    """Pan and zoom in a new browser. script: what the page runs first."""
    with opened(made, slow=False) as page:
        asked: list[str] = []
        page.on("request", lambda sent: asked.append(urlsplit(sent.url).path))
        page.add_init_script(script)
        page.goto(f"{made.site}/app/{made.slug}/{path}")
        page.wait_for_function("() => document.querySelector('ava-timeline')?.drawn.length")
        read = [each for each in asked if each.startswith("/v1/videos/") and each.count("/") <= 4]
        page.wait_for_load_state("networkidle")
        still, moved = page.evaluate(_PANNED, False), page.evaluate(_PANNED, True)
        return {
            "still": still, "moved": moved, "nodes": page.locator(".tl *").count(),
            "requests": len([each for each in read if each.endswith("/timeline") or each.count("/") == 3]),
        }  # fmt: skip
