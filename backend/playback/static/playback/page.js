// The player of a page that the server has written: its recordings stand in #recordings (JSON).
import { mount } from "./player.js";

const root = document.querySelector("[data-player]");
export const { video, go } = mount(root, JSON.parse(document.getElementById("recordings").textContent));
