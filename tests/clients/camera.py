"""A camera on RTSP whose pictures show the wall clock as 48 black and white fields. Run by the system's Python, which
has GStreamer. Arguments: port, real frames per second, declared frames per second.
"""

from __future__ import annotations

import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

WIDTH, HEIGHT, FIELD, COLUMNS = 320, 240, 40, 8
port, real_fps, declared_fps = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])


def picture(now_ms: int) -> bytes:
    rows = []
    for row in range(HEIGHT // FIELD):
        line = b"".join(
            (b"\xeb" if now_ms >> (row * COLUMNS + column) & 1 else b"\x10") * FIELD for column in range(COLUMNS)
        )
        rows.append(line * FIELD)
    return b"".join(rows)


def play(source: Gst.Element) -> None:
    while True:
        buffer = Gst.Buffer.new_wrapped(picture(int(time.time() * 1000)))
        if source.emit("push-buffer", buffer) != Gst.FlowReturn.OK:
            return
        time.sleep(1 / real_fps)


def configured(factory: object, media: GstRtspServer.RTSPMedia) -> None:
    source = media.get_element().get_child_by_name("source")
    threading.Thread(target=play, args=(source,), daemon=True).start()


Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_service(port)
factory = GstRtspServer.RTSPMediaFactory()
caps = f"video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},framerate={declared_fps}/1"
factory.set_launch(
    f"( appsrc name=source is-live=true do-timestamp=true format=time caps={caps} ! videoconvert "
    "! video/x-raw,format=I420 ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=10 "
    "! rtph264pay name=pay0 pt=96 config-interval=1 )"
)
factory.set_shared(True)
factory.connect("media-configure", configured)
server.get_mount_points().add_factory("/gate", factory)
server.attach(None)
print("ready", flush=True)
GLib.MainLoop().run()
