// The player of shared pages, of the console and of the app: controls by media-chrome, HLS by hls.js or by the browser.
// A page names its moments by links such as #t=24,48 or #v=2&t=24,48.
import "./styles.js";
import "./vendor/media-chrome.js";
import Hls from "./vendor/hls.js";
import { listen } from "./keys.js";

// A playlist that is refused says when to ask again.
const ASKED_ONCE = { default: { ...Hls.DefaultConfig.manifestLoadPolicy.default, errorRetry: null } };
const RENEWED_MS = 5 * 60_000;

const clock = (seconds) => {
  const whole = Math.floor(seconds), two = (n) => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
};
/** A sentence in English, with its values. The app gives a function that translates. */
const inEnglish = (sentence, values = {}) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);

function track(kind, src, { label = "", language = "" } = {}) {
  const made = document.createElement("track");
  Object.assign(made, { kind, src, label, srclang: language, default: kind !== "captions" });
  return made;
}

async function fetched(address) {
  const reply = await fetch(address);
  return reply.ok ? reply.json() : null;
}

function refusal(reply) {
  try { return JSON.parse(reply.responseText).detail; } catch { return ""; }
}

/**
 * Let the markup of _player.html play recordings. renewal: address that gives the recordings again, with new
 * signatures, or a function that returns them. signal: when it is aborted, the player lets go of the page. t: returns a
 * sentence in the language of the page.
 */
export function mount(root, recordings, { renewal = root.dataset.renewal, signal, t = inEnglish } = {}) {
  const languages = new Intl.DisplayNames([document.documentElement.lang || "en"], { type: "language" });
  const video = root.querySelector("video");
  const status = root.querySelector("[data-status]");
  const repeat = root.querySelector("[data-repeat]");
  const chapters = root.querySelector("[data-chapters]");
  let hls, retry;
  let renewed = Date.now();
  let shown = -1; // position of the recording that is loaded
  let span = null; // the moment that plays now: {recording, start, end} in seconds, end null for no end

  const say = (words) => { if (status.textContent !== words) status.textContent = words; };

  function read(hash) {
    const named = new URLSearchParams(hash.slice(1));
    const [start, end] = (named.get("t") ?? "").split(",").map(parseFloat);
    const recording = Number(named.get("v") ?? 1) - 1;
    if (!(start >= 0) || !recordings[recording]) return null;
    return { recording, start, end: end > start ? end : null };
  }

  function show(position, start = 0) {
    const recording = recordings[position];
    shown = position;
    chapters.hidden = true;
    say("");
    for (const link of root.querySelectorAll("nav a")) link.toggleAttribute("aria-current", read(link.hash).recording === position);
    video.replaceChildren();
    if (recording.storyboard) video.append(track("metadata", recording.storyboard, { label: "thumbnails" }));
    if (recording.chapters) {
      const listed = track("chapters", recording.chapters);
      listed.addEventListener("load", () => list(listed.track.cues, position));
      video.append(listed);
    }
    for (const captions of recording.captions) {
      const several = recording.captions.length > 1 ? [t("Track {n}", { n: captions.track })] : [];
      const named = captions.language ? [languages.of(captions.language)] : [];
      const label = [...several, ...named].join(", ") || t("Captions");
      video.append(track("captions", captions.src, { label, language: captions.language }));
    }
    load(recording, start);
  }

  /** Return an address with the signature that the page has now. */
  function signed(address) {
    const asked = new URL(address, location), now = new URL(recordings[shown].playlist, location).searchParams.get("token");
    if (now && asked.searchParams.has("token")) asked.searchParams.set("token", now);
    return asked.href;
  }

  /** Get new signatures: they end sooner than the page. Returns whether the page gave some. */
  async function renew() {
    const given = await (typeof renewal === "function" ? renewal() : fetched(renewal)).catch(() => null);
    if (!given) return false;
    renewed = Date.now();
    recordings.forEach((recording, position) => Object.assign(recording, given[position]));
    for (const one of video.querySelectorAll("track")) {
      if (one.readyState !== HTMLTrackElement.LOADED || one.kind === "metadata") one.src = signed(one.src);
    }
    return true;
  }

  function load(recording, start) {
    clearTimeout(retry);
    hls?.destroy();
    if (!Hls.isSupported()) {
      video.src = recording.playlist;
      if (start) video.addEventListener("loadedmetadata", () => { video.currentTime = start; }, { once: true });
      return;
    }
    hls = new Hls({ enableWorker: false, startPosition: start, maxBufferLength: 20, manifestLoadPolicy: ASKED_ONCE,
      xhrSetup: (request, address) => request.open("GET", signed(address), true) });
    hls.on(Hls.Events.LEVEL_LOADED, (_, { details }) => grown(recording, details));
    hls.on(Hls.Events.LEVEL_UPDATED, (_, { details }) => grown(recording, details));
    hls.on(Hls.Events.ERROR, (_, fault) => { if (fault.fatal) failed(recording, fault); });
    hls.loadSource(recording.playlist);
    hls.attachMedia(video);
  }

  function grown(recording, { live, edge }) {
    const thumbnails = video.querySelector("track[label=thumbnails]");
    if (recording.grows && !live && thumbnails) thumbnails.src = signed(thumbnails.src); // read again: now it is whole
    recording.grows = live;
    const until = { time: clock(edge), whole: clock((recording.duration_ms ?? 0) / 1000) };
    if (!live) say("");
    else if (recording.duration_ms) say(t("Playable up to {time} of {whole}. The rest is being prepared.", until));
    else say(t("Playable up to {time}. The rest is being prepared.", until));
  }

  function failed(recording, fault) {
    if (fault.type === Hls.ErrorTypes.MEDIA_ERROR && !recording.recovered) {
      recording.recovered = true;
      hls.recoverMediaError();
      return;
    }
    const reply = fault.networkDetails;
    const wait = Number(reply?.getResponseHeader?.("Retry-After"));
    if (wait > 0) {
      say(t("The recording is being prepared for playback. It starts by itself."));
      retry = setTimeout(() => load(recording, span?.start ?? 0), wait * 1000);
    } else if (fault.response?.code === 404 && renewal && Date.now() - renewed > RENEWED_MS / 2) {
      renewed = Date.now();
      renew().then((given) => (given ? load(recording, video.currentTime || span?.start || 0) : failed(recording, fault)));
    } else if (fault.response?.code === 404) {
      say(t("This recording cannot be played any more. Reload the page if it has been open for hours."));
    } else {
      say(refusal(reply) || t("The recording cannot be played now. Reload the page to try again."));
    }
  }

  function list(cues, position) {
    const links = [...cues].map((cue) => {
      cue.text = cue.getCueAsHTML().textContent; // media-chrome shows the text as it is: without "&amp;"
      const item = document.createElement("li"), link = document.createElement("a"), at = document.createElement("span");
      link.href = `#${position ? `v=${position + 1}&` : ""}t=${cue.startTime}`;
      link.append(cue.text);
      at.textContent = clock(cue.startTime);
      item.append(at, " ", link);
      return item;
    });
    chapters.querySelector("ol").replaceChildren(...links);
    chapters.hidden = !links.length;
  }

  /** Go to a moment; play it if play is true. A moment with an end stops there, or begins again. */
  function go(moment, play = true) {
    span = moment;
    if (moment.recording !== shown) show(moment.recording, moment.start);
    else if (video.readyState) video.currentTime = moment.start;
    else load(recordings[shown], moment.start);
    if (play) video.play().catch(() => {}); // The browser wants a press of the play button first.
    mark();
  }

  function mark() {
    const now = video.currentTime;
    for (const link of document.querySelectorAll("a[data-moment]")) {
      const moment = read(link.hash);
      const chosen = span?.end != null && video.seeking
        ? moment.recording === span.recording && moment.start === span.start
        : moment.recording === shown && moment.start <= now && now < moment.end;
      if (chosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  const isRepeated = () => repeat.getAttribute("aria-pressed") === "true";
  repeat.addEventListener("click", () => repeat.setAttribute("aria-pressed", String(!isRepeated())));

  video.addEventListener("timeupdate", () => {
    mark();
    if (!span?.end || video.seeking || video.currentTime < span.end) return;
    if (isRepeated()) video.currentTime = span.start;
    else { video.pause(); span = null; }
  });
  video.addEventListener("seeked", mark);
  // Whoever moves away from a moment watches on without its end.
  video.addEventListener("seeking", () => {
    if (span?.end && (video.currentTime < span.start - 0.5 || video.currentTime > span.end + 0.5)) span = null;
  });
  video.addEventListener("error", () => { if (!hls) say(t("This browser cannot play the recording.")); });

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#t="], a[href^="#v="]');
    const moment = link && read(link.hash);
    if (!moment) return;
    event.preventDefault();
    history.replaceState(null, "", link.hash);
    go(moment);
  }, { signal });
  window.addEventListener("hashchange", () => { const moment = read(location.hash); if (moment) go(moment); }, { signal });

  const renewals = renewal && setInterval(renew, RENEWED_MS);
  signal?.addEventListener("abort", () => { clearInterval(renewals); clearTimeout(retry); hls?.destroy(); });
  repeat.hidden = !document.querySelector("a[data-moment]");
  root.hidden = false;
  listen(root, video, () => [...document.querySelectorAll("a[data-moment]")], signal);
  go(read(location.hash) ?? { recording: 0, start: 0, end: null }, false);
  return { video, go };
}
