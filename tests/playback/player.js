// A player of one page: what a browser's own decoder shows of an HLS playlist at a time. It reads only what it needs.
window.player = {
  requests: 0, bytes: 0,
  async open(address, shift = 0) {
    this.base = new URL(address, location.href);
    // Not what the browser keeps of a growing playlist for two seconds.
    const text = await (await fetch(this.base, {cache: "no-store"})).text();
    this.fragments = []; let at = 0, map = null, seconds = 0, range = null, end = 0, gap = false;
    for (const line of text.split("\n")) {
      if (line.startsWith("#EXT-X-MAP:")) { const [, uri, size] = line.match(/URI="(.+?)",BYTERANGE="(\d+)@0"/); map = {uri, size: +size}; }
      else if (line.startsWith("#EXTINF:")) seconds = parseFloat(line.slice(8));
      else if (line.startsWith("#EXT-X-BYTERANGE:")) { const [size, offset] = line.slice(17).split("@"); range = {size: +size, offset: offset === undefined ? end : +offset}; }
      else if (line === "#EXT-X-GAP") gap = true;
      else if (line && !line.startsWith("#")) {
        if (!gap) { this.fragments.push({uri: line, start: at, end: at + seconds, map, ...range}); end = range.offset + range.size; }
        at += seconds; gap = false;
      }
    }
    this.duration = at; this.isEnded = text.includes("#EXT-X-ENDLIST"); this.appended = new Set(); this.map = null;
    this.first = /#EXT-X-START:TIME-OFFSET=([\d.]+)/.exec(text)?.[1] ?? null;
    const first = await this.load(this.fragments[0].map.uri, 0, this.fragments[0].map.size);
    const heard = new TextDecoder("latin1").decode(first).includes("mp4a");
    this.video = document.querySelector("video");
    const source = this.source = new MediaSource();
    this.video.src = URL.createObjectURL(source);
    await new Promise(done => source.addEventListener("sourceopen", done, {once: true}));
    source.duration = at;
    this.buffer = source.addSourceBuffer(`video/mp4; codecs="avc1.640028${heard ? ",mp4a.40.2" : ""}"`);
    this.buffer.timestampOffset = -shift;
    return {duration: at, second: this.fragments[1]?.start, fragments: this.fragments.length, isEnded: this.isEnded, first: this.first};
  },
  async load(uri, offset, size) {
    const reply = await fetch(new URL(uri, this.base), {headers: {Range: `bytes=${offset}-${offset + size - 1}`}});
    if (reply.status !== 206) throw new Error(`${reply.status} ${uri}`);
    const data = await reply.arrayBuffer();
    this.requests += 1; this.bytes += data.byteLength;
    return data;
  },
  async append(data) {
    this.buffer.appendBuffer(data);
    await new Promise((done, fail) => { this.buffer.onupdateend = done; this.buffer.onerror = () => fail(new Error("append")); });
  },
  async need(time) {
    // A decoder shows a picture once it has some that follow.
    const wanted = this.fragments.filter(one => one.start <= time + 1 && time < one.end);
    if (wanted[0] === undefined || time < wanted[0].start) throw new Error(`nothing at ${time}`);
    for (const fragment of wanted) await this.have(fragment);
  },
  async have(fragment) {
    if (this.appended.has(fragment)) return;
    if (this.map !== fragment.map) { await this.append(await this.load(fragment.map.uri, 0, fragment.map.size)); this.map = fragment.map; }
    await this.append(await this.load(fragment.uri, fragment.offset, fragment.size));
    this.appended.add(fragment);
    // A decoder waits for more at the end, unless there is none.
    if (fragment === this.fragments.at(-1)) this.source.endOfStream();
  },
  async picture(time) {
    await this.need(time);
    const sought = new Promise((done, fail) => {
      this.video.onseeked = done;
      this.video.onerror = () => fail(new Error(this.video.error.message));
    });
    this.video.currentTime = time;
    await sought;
    const canvas = document.createElement("canvas");
    canvas.width = this.video.videoWidth; canvas.height = this.video.videoHeight;
    const pen = canvas.getContext("2d");
    pen.drawImage(this.video, 0, 0);
    return {url: canvas.toDataURL("image/png")};
  },
  async played(time, seconds) {
    await this.need(time);
    this.video.muted = true; this.video.currentTime = time;
    await this.video.play();
    while (this.video.currentTime < time + seconds) await new Promise(done => setTimeout(done, 50));
    this.video.pause();
    return this.video.currentTime;
  },
};
