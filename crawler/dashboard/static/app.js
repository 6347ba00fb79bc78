// A slash goes to the page's search, as in most dashboards.
document.addEventListener("keydown", (event) => {
  const field = document.querySelector('form[role="search"] input[type="search"]');
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName || "");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || !field) return;
  event.preventDefault();
  field.focus();
});

// On a phone the pages' names scroll: show the one that is open.
(() => {
  const bar = document.querySelector("header nav ul");
  const here = bar && bar.querySelector("[aria-current]");
  if (here) bar.scrollLeft = here.offsetLeft - (bar.clientWidth - here.offsetWidth) / 2;
})();

// The list of crawls closes like any menu: by Escape, or by a click beside it.
document.addEventListener("keydown", (event) => {
  const list = document.querySelector(".crawls[open]");
  if (event.key !== "Escape" || !list) return;
  list.open = false;
  list.querySelector("summary").focus();
});
document.addEventListener("click", (event) => {
  document.querySelectorAll(".crawls[open]").forEach((list) => {
    if (!list.contains(event.target)) list.open = false;
  });
});

// Shows a plot's values at the pointer.
(() => {
  "use strict";
  const two = (n) => String(n).padStart(2, "0");
  const clock = (at, days) => {
    const t = new Date(at * 1000);
    const time = `${two(t.getUTCHours())}:${two(t.getUTCMinutes())}:${two(t.getUTCSeconds())}`;
    return days ? `${t.toISOString().slice(0, 10)} ${time.slice(0, 5)}` : time;
  };
  const hide = () => document.querySelectorAll(".tip").forEach((tip) => tip.remove());
  document.addEventListener("pointermove", (event) => {
    const box = event.target.closest && event.target.closest(".drawing");
    const svg = box && box.querySelector("svg[data-points]");
    if (!svg) { hide(); return; }
    const told = JSON.parse(svg.dataset.points);
    const seen = svg.getBoundingClientRect();
    const part = Math.min(Math.max((event.clientX - seen.left) / seen.width, 0), 1);
    const n = Math.round(part * (told.at.length - 1));
    const days = told.at[told.at.length - 1] - told.at[0] > 86400;
    const values = told.lines
      .filter(([, line]) => line[n] !== null)
      .map(([name, line]) => `${told.lines.length > 1 ? `${name} ` : ""}${line[n].toLocaleString("en")}${told.unit}`);
    let tip = box.querySelector(".tip");
    if (!tip) { hide(); tip = document.createElement("span"); tip.className = "tip"; box.append(tip); }
    tip.textContent = `${clock(told.at[n], days)} · ${values.join(", ") || "nothing"}`;
    const left = part * seen.width - tip.offsetWidth / 2;
    tip.style.left = `${Math.min(Math.max(left, 0), Math.max(seen.width - tip.offsetWidth, 0))}px`;
  });
})();

// Keeps a page fresh: the server sends parts that it has rendered, this puts them in their places.
(() => {
  "use strict";
  const main = document.querySelector("main[data-live]");
  if (!main || !window.EventSource) return;
  const state = document.getElementById("stream-state");
  const base = (location.pathname.match(/^\/c\/[^/]+/) || [""])[0]; // another crawl's pages
  const source = new EventSource(`${base}/events/${encodeURIComponent(main.dataset.live)}`);
  const waiting = new Map();

  const say = (text) => { if (state.textContent !== text) state.textContent = text; };

  // What somebody uses is left alone until they move on.
  const inUse = (place) => {
    const selection = window.getSelection();
    return place.contains(document.activeElement)
      || (selection && !selection.isCollapsed && place.contains(selection.anchorNode));
  };

  const put = (name, html) => {
    const place = document.getElementById(`live-${name}`);
    if (!place) return;
    if (inUse(place)) { waiting.set(name, html); return; }
    waiting.delete(name);
    const lefts = [...place.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
    place.innerHTML = html;
    place.querySelectorAll(".scroll").forEach((box, at) => { box.scrollLeft = lefts[at] || 0; });
  };

  source.addEventListener("parts", (event) => {
    say("live");
    const parts = JSON.parse(event.data);
    for (const [name, html] of [...waiting, ...Object.entries(parts)]) put(name, html);
  });
  source.addEventListener("down", (event) => say(event.data));
  source.addEventListener("open", () => say("live"));
  source.addEventListener("error", () => say("no connection, trying again"));
  window.addEventListener("pagehide", () => source.close());
})();
