// Moves the player to the moment of a mark or of the address, and to the piece of the recording that holds it.
// Says if a piece cannot be played.
document.addEventListener("DOMContentLoaded", () => {
  const player = document.getElementById("player");
  if (!player) return;
  const pieces = [...document.querySelectorAll("#pieces option")].map((option) => ({
    url: option.value, start: Number(option.dataset.start), end: Number(option.dataset.end), offset: Number(option.dataset.offset),
  }));
  const cursor = document.getElementById("cursor");
  const whole = Number(player.dataset.duration);
  let playing = pieces[0];

  const unplayable = document.getElementById("unplayable");
  // The first piece may have failed before this script ran.
  unplayable.hidden = !player.error;
  player.addEventListener("error", () => { unplayable.hidden = false; });
  player.addEventListener("loadedmetadata", () => { unplayable.hidden = true; });

  const seek = (ms) => {
    const piece = pieces.find((one) => one.start <= ms && ms < one.end) || pieces[pieces.length - 1];
    const at = Math.max(0, (ms - piece.start + piece.offset) / 1000);
    const jump = () => { player.currentTime = at; };
    if (piece === playing && player.readyState >= 1) { jump(); return; }
    if (piece !== playing) { playing = piece; player.src = piece.url; }
    player.addEventListener("loadedmetadata", jump, { once: true });
  };
  if (player.dataset.at) seek(Number(player.dataset.at));
  player.addEventListener("timeupdate", () => {
    const ms = player.currentTime * 1000 - playing.offset + playing.start;
    cursor.style.left = `${Math.min(100, (100 * ms) / whole)}%`;
  });
  for (const mark of document.querySelectorAll("[data-seek]")) {
    mark.addEventListener("click", () => seek(Number(mark.dataset.seek)));
  }
});
