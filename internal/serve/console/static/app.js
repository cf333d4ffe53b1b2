"use strict";
// The pages work without this. It loads anew what has changed, shows the page that a link or a
// form leads to in place of this one, counts down, and takes keys.
(() => {
  const armAfter = 500; // ms for which a question must have been shown before it can be approved

  // arm keeps the buttons of questions that have just come from being pressed by chance.
  const arm = (card) => {
    const buttons = card.querySelectorAll("form button:not([hidden])");
    buttons.forEach((b) => { b.disabled = true; });
    setTimeout(() => {
      if (card.classList.contains("over") || card.querySelector("time.expired") !== null) return;
      buttons.forEach((b) => { b.disabled = false; });
    }, armAfter);
  };

  // watch keeps the answer to a question at hand on a narrow screen (app.css), while what will
  // run is before it. It can be approved there once the end of that was shown, above the answer.
  const watch = (card) => {
    const call = card.querySelector(".call");
    if (call === null || card.querySelector("button.readon") === null) return;
    const end = document.createElement("div");
    end.className = "end";
    call.append(end);
    card.classList.add("unread");
    let ends = null;
    new IntersectionObserver((all) => {
      const last = all.at(-1);
      card.classList.toggle("sticks", last.isIntersecting || last.boundingClientRect.top < 0);
      if (ends !== null || !last.isIntersecting) return;
      card.classList.remove("unread");
      const covers = card.querySelector(".decide").offsetHeight; // with the button that is to come
      card.classList.add("unread");
      ends = new IntersectionObserver((ended) => {
        if (!ended.some((e) => e.isIntersecting)) return;
        ends.disconnect();
        card.classList.remove("unread");
        arm(card); // what is tapped there was another button
      }, { rootMargin: `0px 0px -${covers}px 0px` });
      ends.observe(end);
    }).observe(call);
  };
  // arrive begins what a page has, once it is shown at its address.
  let shown;
  const arrive = () => {
    shown = location.pathname + location.search;
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    document.querySelectorAll("article.card.pending").forEach((card) => { arm(card); watch(card); });
    document.dispatchEvent(new Event("page"));
  };

  // request resolves to the answer to a GET, or to a POST of the fields: its page is a document
  // of which no script runs. A page that is shown as a whole takes the notes for it.
  const request = (url, fields, whole) => new Promise((resolve, reject) => {
    const x = new XMLHttpRequest();
    x.open(fields === undefined ? "GET" : "POST", url);
    x.responseType = "document";
    x.timeout = 30000;
    if (whole) x.setRequestHeader("Petrigate-Shows", "page");
    x.onload = () => resolve({ status: x.status, page: x.response, url: x.responseURL });
    x.onerror = x.ontimeout = () => reject(new Error("no answer"));
    x.send(fields);
  });

  // mergeCards adds questions that have come behind the others, and closes those that have
  // ended where they are: nothing moves under a pointer.
  const mergeCards = (now, next) => {
    const fresh = new Map([...next.querySelectorAll("article.card")].map((c) => [c.id, c]));
    now.querySelectorAll("article.card").forEach((card) => {
      const other = fresh.get(card.id);
      fresh.delete(card.id);
      const pending = other !== undefined && other.classList.contains("pending");
      if (pending || !card.classList.contains("pending")) return;
      card.classList.remove("pending");
      card.classList.add("over");
      card.querySelectorAll("button, input").forEach((e) => { e.disabled = true; });
      const line = document.createElement("p");
      line.className = "hint";
      line.textContent = "Answered elsewhere or ended; see the history.";
      card.append(line);
    });
    if (fresh.size > 0) document.getElementById("notes")?.replaceChildren(); // they are about others
    fresh.forEach((card) => {
      const own = document.importNode(card, true);
      now.querySelector(".empty")?.remove();
      now.append(own);
      arm(own);
      watch(own);
    });
  };

  let visits = 0, pages = 0; // that were asked for, and that were shown
  const refresh = async () => {
    const before = visits + pages;
    const { status, page: next } = await request(location.href);
    if (status !== 200 || next === null || before !== visits + pages) return; // it is of another page; the next event tries again
    document.title = next.title;
    document.querySelectorAll("[data-live]").forEach((now) => {
      const other = next.getElementById(now.id);
      if (other === null) return;
      if (now.dataset.live === "questions") mergeCards(now, other);
      else if (!now.contains(document.activeElement)) now.replaceChildren(...[...document.importNode(other, true).childNodes]);
    });
    const nav = document.querySelector("nav");
    const badge = next.querySelector("#waiting");
    const own = nav.querySelector("#waiting");
    const head = next.getElementById("waits");
    if (head !== null) document.getElementById("waits").textContent = head.textContent;
    if (own !== null) own.textContent = badge === null ? "0" : badge.textContent;
    else if (badge !== null) nav.firstElementChild.append(" ", document.importNode(badge, true));
  };

  // put shows a page in place of this one. What is said of forms stays the same element, so that
  // it is read out.
  const put = (next) => {
    const main = document.getElementById("main"), notes = document.getElementById("notes");
    const taken = (selector) => [...next.querySelectorAll(selector)].map((e) => document.importNode(e, true));
    pages++;
    document.title = next.title;
    document.body.dataset.view = next.body.dataset.view;
    document.body.dataset.paused = "no";
    document.querySelector("nav").replaceChildren(...taken("nav > *"));
    document.querySelectorAll("body > .banner").forEach((b) => b.remove());
    main.before(...taken("body > .banner"));
    while (notes.nextSibling !== null) notes.nextSibling.remove();
    main.append(...taken("#main > :not(#notes)"));
    notes.replaceChildren(...taken("#notes > *"));
    main.focus({ preventScroll: true });
  };

  // Pages whose script begins with a document of its own are loaded as ever.
  const inPlace = (url) => url.origin === location.origin && document.body.dataset.view !== "policy" && !/^\/(policy|logout|activity\.jsonl)\b/.test(url.pathname);

  // visit shows the page at an address, or the answer to a form. One follows the other; a page
  // that was not asked for yet when the next one was is left out.
  let turn = Promise.resolve();
  const visit = (url, fields, back) => {
    const mine = ++visits;
    turn = turn.then(async () => {
      if (fields === undefined && mine !== visits) return;
      const answer = await request(url, fields, true);
      if (answer.page?.body.dataset.view === undefined) throw new Error(answer.status);
      put(answer.page);
      if (!back) {
        scrollTo(0, 0);
        const nowhere = fields !== undefined && answer.url === String(url); // no address loads it
        if (!nowhere && answer.url !== location.href) history.pushState(null, "", answer.url);
      }
      arrive();
    }).catch((e) => {
      if (fields === undefined) { location.assign(url); return; }
      const line = document.createElement("p");
      line.className = "note wrong";
      line.textContent = /^4/.test(e.message) ? "Nothing was done: sign in again with petrigate open." : "The proxy did not answer, so the result is unknown. Reload the page.";
      document.getElementById("notes").replaceChildren(line);
      scrollTo(0, 0);
    });
    return turn;
  };

  document.addEventListener("click", (e) => {
    if (!e.target.matches?.("button.readon")) return;
    const end = e.target.closest("article").querySelector(".end");
    if (end.getBoundingClientRect().top < 0) end.scrollIntoView({ block: "center" }); // it was jumped over
    else scrollBy(0, innerHeight / 2);
  });
  document.addEventListener("click", (e) => {
    const link = e.target.closest?.("a[href]");
    if (e.defaultPrevented || e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || link == null || link.hasAttribute("download")) return;
    const url = new URL(link.href);
    if (!inPlace(url) || link.getAttribute("href").startsWith("#")) return;
    e.preventDefault();
    visit(url);
  });
  document.addEventListener("submit", (e) => {
    const form = e.target, url = new URL(form.action);
    if (e.defaultPrevented || !inPlace(url)) return;
    const fields = new URLSearchParams(new FormData(form, e.submitter));
    e.preventDefault();
    if (form.method === "get") {
      url.search = fields;
      visit(url);
      return;
    }
    form.querySelectorAll("button").forEach((b) => { b.disabled = true; });
    visit(url, fields).then(() => { // a reason stays where its answer was not taken
      const reason = document.getElementById(fields.get("id"))?.querySelector("form input[name=reason]");
      if (reason && document.querySelector("#notes .wrong") !== null) reason.value = fields.get("reason") ?? "";
    });
  });
  window.addEventListener("popstate", () => { if (shown !== location.pathname + location.search) visit(new URL(location.href), undefined, true); });

  let busy = false, again = false;
  const soon = async () => {
    if (document.querySelector("[data-live]") === null) return;
    if (busy) { again = true; return; }
    busy = true;
    try { await refresh(); } catch { /* the next event tries again */ }
    busy = false;
    if (again) { again = false; setTimeout(soon, 200); }
  };

  // Events of the kinds that the page shows have it loaded anew. A hidden page listens to none.
  const kinds = { inbox: ["approvals"], question: ["approvals"], activity: ["activity", "approvals"], nets: ["activity"], sessions: ["activity"], health: ["activity"], tools: ["activity"] };
  let source = null, seen = false;
  const listen = () => {
    if (document.hidden) { source?.close(); source = null; return; }
    if (source !== null) return;
    source = new EventSource("/events");
    source.addEventListener("approvals", (e) => {
      const first = !seen, shows = kinds[document.body.dataset.view]?.includes("approvals");
      seen = true; // the page was made before it: a question may have come since, and be counted there already
      if (!first || shows || String(e.data) !== (document.getElementById("waiting")?.textContent ?? "0")) soon();
    });
    source.addEventListener("activity", () => { if (kinds[document.body.dataset.view]?.includes("activity") && document.body.dataset.paused !== "yes") soon(); });
  };
  document.addEventListener("visibilitychange", () => { listen(); if (!document.hidden) soon(); });
  listen();

  // Time left, in words like those of the server.
  const words = (ms) => {
    const s = Math.max(0, Math.round(ms / 1000));
    const hours = Math.floor(s / 3600), minutes = Math.floor((s % 3600) / 60);
    return (hours > 0 ? hours + "h" : "") + (s >= 60 ? minutes + "m" : "") + (s < 60 || s % 60 > 0 ? (s % 60) + "s" : "");
  };
  setInterval(() => document.querySelectorAll("time.countdown").forEach((t) => {
    const left = Date.parse(t.dataset.until) - Date.now();
    const line = left > 0 ? words(left) + " left" : "expired";
    if (t.textContent !== line) t.textContent = line;
    t.classList.toggle("short", left < 60000);
    t.classList.toggle("expired", left <= 0);
    if (left <= 0) t.closest("article")?.querySelectorAll("form button").forEach((b) => { b.disabled = true; });
  }), 1000);

  // Enter in a PIN approves, or presses the only button there is: of several, none is meant. Enter in the reason denies.
  document.addEventListener("keydown", (e) => {
    const form = e.target.form;
    if (e.key !== "Enter" || form?.querySelector("input[name=pin]") == null) return;
    if (e.target.name !== "pin" && e.target.name !== "reason") return;
    e.preventDefault();
    const buttons = form.querySelectorAll("button:not([hidden])");
    const approve = form.querySelector("button.approve");
    if (e.target.name === "reason") form.querySelector("button.deny")?.click();
    else if (approve !== null && approve.offsetParent === null) form.querySelector("button.readon").click(); // it is not shown yet
    else (approve ?? (buttons.length === 1 ? buttons[0] : null))?.click();
  });

  // Keys.
  const cards = () => [...document.querySelectorAll("article.card.pending")];
  const current = () => document.activeElement?.closest?.("article.card");
  const move = (step) => {
    const all = cards(), at = all.indexOf(current());
    const to = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + step))];
    to?.focus();
    to?.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
    const card = current();
    switch (e.key) {
      case "j": move(1); break;
      case "k": move(-1); break;
      case "x": { const box = card?.querySelector("input[type=checkbox]"); if (box) box.checked = !box.checked; break; }
      case "a": (card?.querySelector("input[name=pin]") ?? card?.querySelector("button.approve"))?.focus(); break; // and Enter
      case "d": card?.querySelector("input[name=reason]")?.focus(); break; // Enter there denies
      default: return;
    }
    e.preventDefault();
  });
  arrive();
})();
