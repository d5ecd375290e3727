/* Run page: chips show one group of charts, inputs filter charts and long tables. The page is complete without it. */
(() => {
  "use strict";

  const t = (window.sitegen && window.sitegen.t) || ((text) => text);

  const input = (placeholder) => {
    const field = document.createElement("input");
    field.type = "search";
    field.className = "sg-search";
    field.placeholder = placeholder;
    field.setAttribute("aria-label", placeholder);
    return field;
  };

  /* What was chosen is part of the address. */
  const remember = (chosen) => {
    const query = new URLSearchParams(location.search);
    for (const [key, value] of Object.entries(chosen)) {
      if (value) query.set(key, value);
      else query.delete(key);
    }
    const text = query.toString().replace(/%2C/g, ",");
    try {
      history.replaceState(history.state, "", `${text ? `?${text}` : location.pathname}${location.hash}`);
    } catch { /* a page opened as a file keeps its address */ }
  };

  /* Whether a name has every word of `text`, or matches it between slashes. */
  const matcher = (text) => {
    const pattern = /^\/(.+)\/$/.exec(text.trim());
    if (pattern) {
      try {
        const found = new RegExp(pattern[1], "i");
        return (name) => found.test(name);
      } catch { return () => false; } /* not yet complete */
    }
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return (name) => words.every((word) => name.toLowerCase().includes(word));
  };

  const metrics = (root) => {
    const chips = [...root.querySelectorAll("[data-sg-group]")];
    const overview = root.querySelector("#overview");
    const groups = [...root.querySelectorAll(".sg-group")];
    const charts = [...root.querySelectorAll(".sg-chart")];
    const find = input(t("find a metric"));
    find.title = t("words that the name holds, or /a pattern/");
    const none = document.createElement("p");
    none.className = "sg-empty";
    none.hidden = true;
    none.textContent = t("No metric of this run has such a name.");
    root.querySelector(".sg-chips").append(find);
    root.append(none);
    const names = new Map(charts.map((chart) => [chart, [...chart.querySelectorAll("figcaption b, figcaption code")].map((one) => one.textContent).join(" ")]));

    const press = (key) => chips.forEach((chip) => {
      if (chip.dataset.sgGroup === key) chip.setAttribute("aria-current", "true");
      else chip.removeAttribute("aria-current");
    });

    const show = (key) => {
      press(key);
      find.value = "";
      none.hidden = true;
      remember({ find: "", group: key === "overview" || !overview ? "" : key });
      const only = key !== "overview" && key !== "all";
      charts.forEach((chart) => { chart.hidden = false; });
      if (overview) overview.hidden = false;
      groups.forEach((group) => {
        const mine = group.id === `group-${key}`;
        group.hidden = only && !mine;
        group.open = key === "all" || mine;
      });
      if (overview && only) {
        const kept = [...overview.children].filter((chart) => {
          chart.hidden = !chart.classList.contains(`sg-g-${key}`);
          return !chart.hidden;
        });
        overview.hidden = kept.length === 0;
      }
    };

    const search = () => {
      if (!find.value.trim()) return show(overview ? "overview" : "all");
      press("");
      const wanted = matcher(find.value);
      charts.forEach((chart) => { chart.hidden = !wanted(names.get(chart)); });
      none.hidden = charts.some((chart) => !chart.hidden);
      remember({ find: find.value, group: "" });
      if (overview) overview.hidden = !overview.querySelector(".sg-chart:not([hidden])");
      groups.forEach((group) => {
        group.hidden = !group.querySelector(".sg-chart:not([hidden])");
        group.open = !group.hidden;
      });
      return undefined;
    };

    chips.forEach((chip) => chip.addEventListener("click", (event) => {
      event.preventDefault();
      show(chip.dataset.sgGroup);
    }));
    find.addEventListener("input", search);
    if (overview) press("overview");
    const query = new URLSearchParams(location.search), group = query.get("group");
    if (query.get("find")) {
      find.value = query.get("find");
      search();
    } else if (chips.some((chip) => chip.dataset.sgGroup === group)) show(group);
  };

  const filter = (box) => {
    const rows = [...box.querySelectorAll("tbody tr")];
    const field = input(box.dataset.sgFilter);
    box.prepend(field);
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      rows.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(wanted); });
    });
  };

  /* A link to a chart or a remark opens the folds around it. */
  const reveal = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    for (let node = target; node; node = node.parentElement) node.hidden = false;
    target.scrollIntoView();
  };

  const start = () => {
    document.querySelectorAll("[data-sg-metrics]").forEach(metrics);
    document.querySelectorAll("[data-sg-filter]").forEach(filter);
    reveal();
    window.addEventListener("hashchange", reveal);
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
