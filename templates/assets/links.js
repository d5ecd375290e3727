/* Links to copy: of headings, incidents and charts, and texts with a button. A link to a run that is still written
   says as of which step it was copied; opened later, the page marks that step. Every page is complete without it. */
(() => {
  "use strict";

  const { t } = window.sitegen;

  /* The clipboard proper wants https or this machine; many sites of a cluster are plain http. */
  const copy = (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sg-offstage";
    area.setAttribute("aria-hidden", "true");
    const before = document.activeElement;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (before) before.focus();
    return done ? Promise.resolve() : Promise.reject(new Error("not allowed"));
  };

  const said = document.createElement("div");
  said.className = "sg-offstage";
  said.setAttribute("role", "status");

  const tell = (button, text) => {
    const before = button.dataset.sgLabel || button.textContent;
    button.dataset.sgLabel = before;
    button.textContent = text;
    said.textContent = text;
    clearTimeout(Number(button.dataset.sgTimer));
    button.dataset.sgTimer = String(setTimeout(() => {
      button.textContent = before;
      said.textContent = "";
      delete button.dataset.sgTimer;
    }, 1500));
  };

  const copyable = (pre) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sg-chip sg-copy-button";
    button.textContent = t("Copy");
    button.addEventListener("click", () => {
      copy(pre.querySelector("code").textContent).then(() => tell(button, t("Copied")), () => tell(button, t("Not allowed")));
    });
    pre.append(button);
  };

  const address = (pre) => {
    const root = new URL(pre.dataset.sgAddress, location.href);
    root.search = root.hash = "";
    const code = pre.querySelector("code");
    code.textContent = code.textContent.replaceAll("SITE/", root.href);
  };

  /* --- links to places ------------------------------------------------------------------- */

  const page = document.querySelector(".sg-page");
  const last = page && page.dataset.sgLastStep !== undefined ? Number(page.dataset.sgLastStep) : null;
  const growing = Boolean(page) && page.dataset.sgGrowing !== undefined;
  const pinned = (() => {
    const asked = new URLSearchParams(location.search).get("step");
    return last !== null && /^\d{1,15}$/.test(asked || "") ? Number(asked) : null;
  })();

  const linkTo = (id) => {
    const url = new URL(location.href);
    if (growing && last !== null && pinned === null) url.searchParams.set("step", String(last));
    url.hash = id;
    return url.href;
  };

  const copies = (link) => {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      const id = decodeURIComponent(link.hash.slice(1));
      copy(linkTo(id)).then(() => tell(link, t("copied")), () => tell(link, t("not allowed")));
    });
  };

  const anchor = (id, name) => {
    const link = document.createElement("a");
    link.className = "sg-anchor";
    link.href = `#${id}`;
    link.textContent = "#";
    link.setAttribute("aria-label", t("Copy the link to {name}", { name }));
    link.title = t("Copy the link");
    copies(link);
    return link;
  };

  const words = (node) => {
    const own = node.cloneNode(true);
    own.querySelectorAll(".sg-anchor, .sg-muted, .sg-small, .sg-pill, .sg-more, code").forEach((part) => part.remove());
    return own.textContent.trim().replace(/\s+/g, " ");
  };

  const places = () => {
    document.querySelectorAll(".sg-page :is(h2, h3, h4)[id]").forEach((heading) => {
      if (!heading.closest(".sg-incident, summary")) heading.append(anchor(heading.id, words(heading)));
    });
    document.querySelectorAll(".sg-page .sg-chart[id] > figcaption").forEach((caption) => {
      caption.append(anchor(caption.parentElement.id, t("the chart {name}", { name: words(caption) })));
    });
    document.querySelectorAll("a[data-sg-link], a.headerlink").forEach(copies);
  };

  /* --- the step that a link was copied at --------------------------------------------------- */

  const note = () => {
    const then = pinned.toLocaleString("en").replaceAll(",", "\u202f");
    const now = last.toLocaleString("en").replaceAll(",", "\u202f");
    const moved = () => {
      if (last < pinned) return t("This link was copied at step {then}; the run goes to step {now} only, since it was resumed from an earlier one.", { then, now });
      if (growing) return t("This link was copied at step {then}; the run has reached step {now}. Step {then} is marked, and what began later says so.", { then, now });
      return t("This link was copied at step {then}; the run ended at step {now}. Step {then} is marked, and what began later says so.", { then, now });
    };
    const box = document.createElement("p");
    box.className = "sg-pinned";
    box.append(`${moved()} `);
    const plain = new URL(location.href);
    plain.searchParams.delete("step");
    const link = document.createElement("a");
    link.href = plain.href;
    link.textContent = t("Show it without the mark");
    box.append(link);
    return box;
  };

  const later = (card) => {
    const sign = document.createElement("span");
    sign.className = "sg-tag sg-later";
    sign.textContent = t("began after step {step}", { step: pinned });
    (card.querySelector(".sg-incident-head") || card).append(" ", sign);
  };

  const pin = () => {
    if (pinned === null || pinned === last) return;
    page.querySelector(".sg-head").after(note());
    document.querySelectorAll("[data-sg-first]").forEach((card) => {
      if (Number(card.dataset.sgFirst) > pinned) later(card);
    });
    const bar = page.querySelector("[data-sg-range]");
    if (!bar) return;
    const [first, end] = bar.dataset.sgRange.split(" ").map(Number);
    if (pinned < first || pinned > end || first === end) return;
    const mark = document.createElement("span");
    mark.className = "sg-pin";
    mark.title = t("step {step}: the link was copied here", { step: pinned });
    mark.style.left = `${100 * Math.min(1, (pinned + 1 - first) / (end - first))}%`;
    bar.append(mark);
  };

  const start = () => {
    document.body.append(said);
    places();
    pin();
    document.querySelectorAll("pre[data-sg-address]").forEach(address);
    document.querySelectorAll("[data-sg-address-note]").forEach((note) => { note.hidden = true; });
    document.querySelectorAll(".sg-page pre.sg-copy").forEach(copyable);
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
