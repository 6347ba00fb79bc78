// A slash goes to the page's search, as in most dashboards.
document.addEventListener("keydown", (event) => {
  const field = document.querySelector('form[role="search"] input[type="search"]');
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName || "");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || !field) return;
  event.preventDefault();
  field.focus();
});

// Keeps a page fresh: the server sends parts that it has rendered, this puts them in their places.
(() => {
  "use strict";
  const main = document.querySelector("main[data-live]");
  if (!main || !window.EventSource) return;
  const state = document.getElementById("stream-state");
  const source = new EventSource(`/events/${encodeURIComponent(main.dataset.live)}`);
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
