/* Boxes in tables of runs: what is chosen is compared on one page. It is kept for the visit, so that runs of several
   tables come together. Tables are complete without it. */
(() => {
  "use strict";

  const { t } = window.sitegen;
  const KEY = "sitegen-compare", MOST = 20, LEAST = 2;
  const brand = document.querySelector(".sg-find-open");
  const root = new URL(`${brand ? brand.dataset.sgFind : "."}/`, location.href);

  const read = () => {
    try {
      const kept = JSON.parse(sessionStorage.getItem(KEY + root.pathname) || "[]");
      return Array.isArray(kept) ? kept.filter((one) => typeof one === "string").slice(0, MOST) : [];
    } catch {
      return [];
    }
  };
  let chosen = read();
  const keep = () => {
    try {
      sessionStorage.setItem(KEY + root.pathname, JSON.stringify(chosen));
    } catch { /* no storage here: what is chosen lasts for this page */ }
  };

  const RUN = /\/runs\/([A-Za-z0-9][A-Za-z0-9._-]*)\/(?:index\.html)?$/;
  const PAGE = location.protocol === "file:" ? "compare/index.html" : "compare/";
  const ids = (row) => [...row.querySelectorAll("td.sg-run a.sg-name")].map((link) => (RUN.exec(link.pathname) || [])[1]).filter(Boolean);

  const boxes = []; /* [box, row, runs of the row] */
  const cell = document.createElement("td");
  cell.className = "sg-box";
  const blank = document.createElement("input");
  blank.type = "checkbox";
  cell.append(blank);

  const box = (row) => {
    const own = ids(row), made = cell.cloneNode(true);
    row.prepend(made);
    if (!own.length) return made.replaceChildren();
    const input = made.firstChild, name = row.querySelector("td.sg-run a.sg-name").textContent.slice(0, 80);
    input.setAttribute("aria-label", own.length > 1 ? t("Compare {name} and {n} more", { name, n: own.length - 1 }) : t("Compare {name}", { name }));
    boxes.push([input, row, own]);
    return undefined;
  };

  const column = (table) => {
    const head = document.createElement("th");
    head.className = "sg-box";
    head.scope = "col";
    const words = document.createElement("span");
    words.className = "sg-hidden";
    words.textContent = t("Compare");
    head.append(words);
    table.tHead.rows[0].prepend(head);
    for (const row of table.tBodies[0].rows) box(row);
    table.addEventListener("change", (event) => {
      const found = boxes.find(([input]) => input === event.target);
      if (found) choose(found[2], found[0].checked);
    });
  };

  const choose = (own, on) => {
    chosen = chosen.filter((one) => !own.includes(one));
    if (on) chosen.push(...own);
    keep();
    show();
  };

  const bar = document.createElement("div"), count = document.createElement("span"), go = document.createElement("a"), clear = document.createElement("button");
  bar.className = "sg-chooser";
  bar.setAttribute("role", "region");
  bar.setAttribute("aria-label", t("Runs to compare"));
  count.setAttribute("role", "status");
  go.className = "sg-go";
  go.textContent = t("Compare");
  clear.type = "button";
  clear.textContent = t("Clear");
  clear.addEventListener("click", () => {
    chosen = [];
    keep();
    show();
  });
  bar.append(count, go, clear);
  bar.hidden = true;

  const show = () => {
    boxes.forEach(([input, row, own]) => {
      const on = own.every((one) => chosen.includes(one));
      if (input.checked !== on) input.checked = on;
      row.classList.toggle("sg-on", on);
    });
    const n = chosen.length, ready = n >= LEAST && n <= MOST;
    bar.hidden = n === 0;
    count.textContent = n > MOST ? t("{n} runs, at most {most}", { n, most: MOST }) : n < LEAST ? t("1 run, choose one more") : t("{n} runs", { n });
    if (ready) {
      go.href = new URL(`${PAGE}?runs=${chosen.map(encodeURIComponent).join(",")}`, root).href;
      go.removeAttribute("aria-disabled");
    } else {
      go.removeAttribute("href");
      go.setAttribute("aria-disabled", "true");
    }
  };

  const tables = document.querySelectorAll(".sg-page table.sg-runs");
  if (!tables.length) return;
  tables.forEach(column);
  document.querySelector(".sg-page").append(bar);
  show();
  window.addEventListener("pageshow", () => {
    chosen = read(); /* back from the comparison */
    show();
  });
})();
