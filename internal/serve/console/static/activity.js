"use strict";
// The pause button stops the page from following, where it is, until it is pressed again.
(() => {
  const link = document.getElementById("pause");
  const set = (paused) => {
    document.body.dataset.paused = paused ? "yes" : "no";
    link.textContent = paused ? "Go on" : "Pause";
  };
  set(link.dataset.paused === "yes");
  link.addEventListener("click", (e) => {
    if (e.ctrlKey || e.metaKey || e.shiftKey) return; // it is a link
    e.preventDefault();
    const paused = document.body.dataset.paused !== "yes";
    set(paused);
    const at = new URL(location.href);
    if (paused) at.searchParams.set("pause", "1");
    else at.searchParams.delete("pause");
    history.replaceState(null, "", at);
    if (!paused) location.reload();
  });
})();
