// A slash focuses the page's search field.
document.addEventListener("keydown", (event) => {
  const field = document.querySelector('form[role="search"] input[type="search"]');
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName || "");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || !field) return;
  event.preventDefault();
  field.focus();
});

// On a phone the navigation scrolls: show the current page's link.
(() => {
  const bar = document.querySelector("header nav ul");
  const current = bar && bar.querySelector("[aria-current]");
  if (current) bar.scrollLeft = current.offsetLeft - (bar.clientWidth - current.offsetWidth) / 2;
})();

// The list of crawls closes on Escape, or on a click outside of it.
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

// Show a plot's values at the pointer.
(() => {
  "use strict";
  const pad = (n) => String(n).padStart(2, "0");
  const clock = (at, days) => {
    const t = new Date(at * 1000);
    const time = `${pad(t.getUTCHours())}:${pad(t.getUTCMinutes())}:${pad(t.getUTCSeconds())}`;
    return days ? `${t.toISOString().slice(0, 10)} ${time.slice(0, 5)}` : time;
  };
  const hide = () => document.querySelectorAll(".tip").forEach((tip) => tip.remove());
  document.addEventListener("pointermove", (event) => {
    const box = event.target.closest && event.target.closest(".drawing");
    const svg = box && box.querySelector("svg[data-points]");
    if (!svg) { hide(); return; }
    const plot = JSON.parse(svg.dataset.points);
    const rect = svg.getBoundingClientRect();
    const fraction = Math.min(Math.max((event.clientX - rect.left) / rect.width, 0), 1);
    const n = Math.round(fraction * (plot.at.length - 1));
    const days = plot.at[plot.at.length - 1] - plot.at[0] > 86400;
    const values = plot.lines
      .filter(([, line]) => line[n] !== null)
      .map(([name, line]) => `${plot.lines.length > 1 ? `${name} ` : ""}${line[n].toLocaleString("en")}${plot.unit}`);
    let tip = box.querySelector(".tip");
    if (!tip) { hide(); tip = document.createElement("span"); tip.className = "tip"; box.append(tip); }
    tip.textContent = `${clock(plot.at[n], days)} · ${values.join(", ") || "nothing"}`;
    const left = fraction * rect.width - tip.offsetWidth / 2;
    tip.style.left = `${Math.min(Math.max(left, 0), Math.max(rect.width - tip.offsetWidth, 0))}px`;
  });
})();

// Update a live page: the server sends rendered parts, which replace the old ones.
(() => {
  "use strict";
  const main = document.querySelector("main[data-live]");
  if (!main || !window.EventSource) return;
  const state = document.getElementById("stream-state");
  const base = (location.pathname.match(/^\/c\/[^/]+/) || [""])[0]; // another crawl's pages
  const source = new EventSource(`${base}/events/${encodeURIComponent(main.dataset.live)}`);
  const waiting = new Map();

  const report = (text) => { if (state.textContent !== text) state.textContent = text; };

  // A part with the focus or the selection is replaced later.
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
    report("live");
    const parts = JSON.parse(event.data);
    for (const [name, html] of [...waiting, ...Object.entries(parts)]) put(name, html);
  });
  source.addEventListener("down", (event) => report(event.data));
  source.addEventListener("open", () => report("live"));
  source.addEventListener("error", () => report("no connection, trying again"));
  window.addEventListener("pagehide", () => source.close());
})();
