"use strict";
// The page works without this. It makes a slider of the history.
document.addEventListener("page", () => {
  const scrub = document.getElementById("scrub");
  if (scrub === null) return;
  const range = scrub.querySelector("input"), said = scrub.querySelector("output");
  const steps = () => [...document.querySelectorAll(".past a")].reverse(); // the oldest first
  const show = () => {
    const all = steps(), at = all.findIndex((a) => a.hasAttribute("aria-current"));
    range.max = String(all.length - 1);
    range.value = String(at < 0 ? all.length - 1 : at);
    said.textContent = all[range.value]?.textContent ?? "";
    range.setAttribute("aria-valuetext", said.textContent);
  };
  show();
  scrub.hidden = false;
  new MutationObserver(() => { if (document.activeElement !== range) show(); }).observe(document.getElementById("net"), { childList: true });
  let asked = 0;
  range.addEventListener("input", () => {
    const to = steps()[range.value], mine = ++asked;
    if (to === undefined) return;
    said.textContent = to.textContent;
    range.setAttribute("aria-valuetext", said.textContent);
    const x = new XMLHttpRequest(); // a document of which no script runs
    x.open("GET", to.href);
    x.responseType = "document";
    x.onload = () => {
      const net = x.status === 200 ? x.response?.getElementById("net") : null;
      if (mine !== asked || !net) return;
      history.replaceState(null, "", to.href);
      document.getElementById("net").replaceChildren(...document.importNode(net, true).childNodes);
    };
    x.send();
  });
});
