"use strict";
// The pause button stops the page from following, where it is, until it is pressed again.
(() => {
  const set = (link, paused) => {
    document.body.dataset.paused = paused ? "yes" : "no";
    link.textContent = paused ? "Resume" : "Pause";
  };
  document.addEventListener("page", () => {
    const link = document.getElementById("pause");
    if (link !== null) set(link, link.dataset.paused === "yes");
  });
  document.addEventListener("click", (e) => {
    const link = e.target.closest?.("#pause");
    if (link == null || e.ctrlKey || e.metaKey || e.shiftKey) return; // it is a link
    e.preventDefault();
    const paused = document.body.dataset.paused !== "yes";
    set(link, paused);
    const at = new URL(location.href);
    if (paused) at.searchParams.set("pause", "1");
    else at.searchParams.delete("pause");
    history.replaceState(null, "", at);
    if (!paused) location.reload();
  });
})();
