"use strict";
// The editor of a draft: checked as one types, with links to the places of problems. Without
// this script its buttons do the same. What the server sends is moved as nodes of a document
// of which no script runs.
(() => {
  const quiet = 300; // ms for which nobody has typed
  const form = document.getElementById("editor");
  const text = document.getElementById("text");
  if (form === null || text === null) return;
  const numbers = document.getElementById("numbers");
  const changed = document.getElementById("changed");
  const first = text.defaultValue;
  const wasDirty = text.dataset.dirty === "yes";

  const dirty = () => wasDirty || text.value !== first;
  let sent = false;
  form.addEventListener("submit", () => { sent = true; });
  window.addEventListener("beforeunload", (e) => { if (dirty() && !sent) e.preventDefault(); });
  window.addEventListener("pageshow", () => { sent = false; });

  // Line numbers.
  let count = 0;
  const number = () => {
    const n = text.value.split("\n").length;
    if (n !== count) {
      count = n;
      numbers.textContent = Array.from({ length: n }, (_, i) => i + 1).join("\n");
    }
    numbers.scrollTop = text.scrollTop;
  };
  numbers.hidden = false;
  text.addEventListener("scroll", () => { numbers.scrollTop = text.scrollTop; });
  number();

  // One request is under way; the next one ends it.
  let request = null, slow = 0, timer = 0;
  const say = (line) => {
    const verdict = document.getElementById("verdict");
    if (verdict !== null) verdict.textContent = line;
  };
  const show = (next, ids) => {
    for (const id of ids) {
      const now = document.getElementById(id), other = next.getElementById(id);
      if (now !== null && other !== null) now.replaceChildren(...document.importNode(other, true).childNodes);
    }
  };
  const check = (ids = ["problems", "report"]) => {
    request?.abort();
    clearInterval(slow);
    const began = Date.now();
    const x = new XMLHttpRequest();
    request = x;
    x.open("POST", "/policy/check");
    x.responseType = "document";
    x.onload = () => {
      clearInterval(slow);
      if (x.status === 200 && x.response) show(x.response, ids);
      else say(x.status === 401 || x.status === 403 ? "Not checked: sign in again with petrigate open." : "Not checked: HTTP status " + x.status + ".");
    };
    x.onerror = () => { clearInterval(slow); say("Not checked: the proxy does not answer."); };
    const body = new URLSearchParams(new FormData(form));
    body.set("part", "report");
    x.send(body);
    slow = setInterval(() => say("Still checking, " + Math.round((Date.now() - began) / 1000) + " s …"), 1000);
  };
  text.addEventListener("input", () => {
    number();
    changed.textContent = dirty() ? "changed" : "";
    clearTimeout(timer);
    timer = setTimeout(() => check(), quiet);
  });
  form.elements.known?.addEventListener("change", () => check());

  // A column counts characters; the editor counts units of UTF-16.
  const go = (line, column) => {
    const lines = text.value.split("\n");
    const at = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
    const here = [...(lines[line - 1] ?? "")];
    const units = (n) => here.slice(0, n).join("").length;
    text.focus();
    text.setSelectionRange(at + units(Math.max(0, column - 1)), at + units(column));
    const height = parseFloat(getComputedStyle(text).lineHeight);
    const top = (line - 1) * height;
    if (top < text.scrollTop || top > text.scrollTop + text.clientHeight - 2 * height) text.scrollTop = Math.max(0, top - text.clientHeight / 3);
    text.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("click", (e) => {
    const link = e.target.closest?.("a[data-line]");
    if (link === null || link === undefined) return;
    e.preventDefault();
    go(Number(link.dataset.line), Number(link.dataset.column) || 1);
  });

  // What the page was loaded for stays until somebody types.
  if (document.querySelector("#verdict .state") === null) check(document.getElementById("report").childElementCount > 0 ? ["problems"] : ["problems", "report"]);
})();
