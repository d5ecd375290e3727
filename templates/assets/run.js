/* Run page: chips show one group of charts, inputs filter charts and long tables. The page is complete without it. */
(() => {
  "use strict";

  const input = (placeholder) => {
    const field = document.createElement("input");
    field.type = "search";
    field.className = "sg-search";
    field.placeholder = placeholder;
    field.setAttribute("aria-label", placeholder);
    return field;
  };

  const metrics = (root) => {
    const chips = [...root.querySelectorAll("[data-sg-group]")];
    const overview = root.querySelector("#overview");
    const groups = [...root.querySelectorAll(".sg-group")];
    const charts = [...root.querySelectorAll(".sg-chart")];
    const find = input("find a metric");
    root.querySelector(".sg-chips").append(find);

    const press = (key) => chips.forEach((chip) => {
      if (chip.dataset.sgGroup === key) chip.setAttribute("aria-current", "true");
      else chip.removeAttribute("aria-current");
    });

    const show = (key) => {
      press(key);
      find.value = "";
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
      const wanted = find.value.trim().toLowerCase();
      if (!wanted) return show(overview ? "overview" : "all");
      press("");
      charts.forEach((chart) => {
        chart.hidden = !chart.querySelector("figcaption").textContent.toLowerCase().includes(wanted);
      });
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
