/* Sorts and filters tables that are complete without it. The state is in the address, so that a view can be linked.
   table[id] + form[data-sg-table=id]: rows carry data-<facet>, several values divided by a line break.
   th[data-sort=text|num]: cells sort by data-v where they have it, else by their text; data-key names the column in the
   address, in whatever language it is shown. */
(function () {
  "use strict";
  var t = window.sitegen.t;
  var FEW = 50;  /* rows that are laid out at first: thousands of them take a browser seconds, whatever is seen */
  var COUNTED = {  /* one, all, some of all */
    run: [t("1 run"), t("{n} runs"), t("{shown} of {n} runs")],
    incident: [t("1 incident"), t("{n} incidents"), t("{shown} of {n} incidents")],
    entry: [t("1 entry"), t("{n} entries"), t("{shown} of {n} entries")],
  };
  /* The address waits until the rows are seen, not until the browser is idle: some never are. */
  function afterwards(work) { requestAnimationFrame(function () { setTimeout(work); }); }
  var collator = new Intl.Collator(document.documentElement.lang || "en", { numeric: true, sensitivity: "base" });

  /* The theme wraps tables of guides to scroll inside themselves; keys must reach them. */
  addEventListener("load", function () {
    document.querySelectorAll(".md-typeset__scrollwrap").forEach(function (wrap) { wrap.tabIndex = 0; });
  });

  document.querySelectorAll("form[data-sg-table]").forEach(function (form) {
    var table = document.getElementById(form.dataset.sgTable);
    if (table) start(table, form);
  });
  document.querySelectorAll("table[data-sg-sort], #last-runs").forEach(function (table) {
    start(table, null);
  });

  function start(table, form) {
    var body = table.tBodies[0];
    var rows = Array.from(body.rows).map(function (tr, place) {
      return { tr: tr, place: place, text: null, fits: true, keys: {} };
    });
    var sorted = rows, laid = rows, limit = FEW;
    var later = document.createElement("tbody");  /* rows that are not laid out: beside them, each row would be styled anew */
    later.hidden = true;
    var more = document.createElement("button");
    more.type = "button";
    more.className = "sg-chip sg-more-rows";
    more.hidden = true;
    more.addEventListener("click", function () { lay(limit + FEW); });
    if (rows.length > FEW) {
      (table.closest(".sg-scroll") || table).after(more);
      new IntersectionObserver(function (seen) {
        if (seen.some(function (one) { return one.isIntersecting; })) lay(limit + FEW);
      }, { rootMargin: "600px" }).observe(more);
      addEventListener("beforeprint", function () { lay(Infinity); });
    }

    /* The first rows that fit, in order; the rest waits hidden until somebody comes near. */
    function lay(count) {
      var fitting = sorted.filter(function (row) { return row.fits; });
      var first = fitting.slice(0, limit = count), seen = new Set(first);
      var gone = laid.filter(function (row) { return !seen.has(row); });
      if (gone.length && !later.isConnected) body.after(later);
      move(gone, later);
      move(first, body);
      laid = first;
      more.hidden = fitting.length <= limit;
      more.textContent = t("{n} more", { n: fitting.length - limit });
    }

    function move(those, to) {
      var moved = document.createDocumentFragment();
      those.forEach(function (row) { moved.append(row.tr); });
      to.append(moved);
    }

    var heads = Array.from(table.tHead.rows[0].cells);
    var order = { column: -1, down: false };
    heads.forEach(function (th, column) {
      if (!th.dataset.sort) return;
      var button = document.createElement("button");
      button.type = "button";
      button.append.apply(button, th.childNodes);
      th.append(button);
      button.addEventListener("click", function () {
        var first = th.dataset.sort === "num";
        if (order.column !== column) order = { column: column, down: first };
        else if (order.down === first) order.down = !first;
        else order = { column: -1, down: false };
        sort();
        afterwards(remember);
      });
    });

    /* What a row sorts by, read from its cell once: reaching 5 000 cells takes longer than sorting them. */
    function key(row) {
      var column = order.column;
      if (!(column in row.keys)) row.keys[column] = read(row);
      return row.keys[column];
    }

    function read(row) {
      var cell = row.tr.cells[order.column];
      var value = cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent.trim();
      if (heads[order.column].dataset.sort === "text") return value;
      return value === "" || isNaN(value) ? null : Number(value);
    }

    function sort() {
      heads.forEach(function (th, column) {
        if (column === order.column) th.setAttribute("aria-sort", order.down ? "descending" : "ascending");
        else th.removeAttribute("aria-sort");
      });
      sorted = rows.slice();
      if (order.column >= 0) {
        var text = heads[order.column].dataset.sort === "text";
        var keyed = sorted.map(function (row) { return [key(row), row]; });
        keyed.sort(function (a, b) {
          if (a[0] === null || b[0] === null) return (a[0] === null) - (b[0] === null) || a[1].place - b[1].place;
          var way = text ? collator.compare(a[0], b[0]) : a[0] - b[0];
          return (order.down ? -way : way) || a[1].place - b[1].place;
        });
        sorted = keyed.map(function (pair) { return pair[1]; });
      }
      lay(FEW);
    }

    function state() {
      var asked = new URLSearchParams();
      if (form) new FormData(form).forEach(function (value, name) { if (value) asked.append(name, value); });
      return asked;
    }

    function filter() {
      var asked = state();
      var words = (asked.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
      var facets = Array.from(new Set(asked.keys())).filter(function (name) { return name !== "q"; });
      var shown = 0;
      rows.forEach(function (row) {
        var fits = facets.every(function (name) {
          var own = (row.tr.dataset[name] || "").split("\n");
          return asked.getAll(name).some(function (value) { return own.indexOf(value) >= 0; });
        });
        if (fits && words.length) {
          if (row.text === null) row.text = row.tr.textContent.toLowerCase();
          fits = words.every(function (word) { return row.text.indexOf(word) >= 0; });
        }
        row.fits = fits;
        shown += fits;
      });
      lay(FEW);
      var output = form.querySelector("output");
      var one = output.dataset.one;
      var said = COUNTED[one] || COUNTED.entry;
      var places = { n: rows.length, shown: shown };
      output.textContent = t(shown < rows.length ? said[2] : rows.length === 1 ? said[0] : said[1], places);
      form.querySelector("button[type=reset]").hidden = !Array.from(asked.keys()).length;
      return asked;
    }

    function remember() {
      var asked = form ? state() : new URLSearchParams();
      if (order.column >= 0) asked.set("sort", (order.down ? "-" : "") + name(order.column));
      var query = asked.toString();
      try {
        history.replaceState(null, "", (query ? "?" + query : location.pathname) + location.hash);
      } catch (error) { /* a page opened from a file may not change its address */ }
    }

    function name(column) {
      return heads[column].dataset.key || heads[column].textContent.trim().toLowerCase().replace(/[^a-z0-9]+/g, "-");
    }

    var asked = new URLSearchParams(location.search);
    var wanted = asked.get("sort") || "";
    heads.forEach(function (th, column) {
      if (th.dataset.sort && wanted.replace(/^-/, "") === name(column)) {
        order = { column: column, down: wanted[0] === "-" };
      }
    });
    if (order.column >= 0) sort();
    else if (rows.length > FEW) lay(FEW);
    if (!form) return;
    form.hidden = false;
    asked.forEach(function (value, field) {
      form.querySelectorAll('[name="' + CSS.escape(field) + '"]').forEach(function (input) {
        if (input.type === "checkbox") input.checked = input.checked || input.value === value;
        else input.value = value;
      });
    });
    if (Array.from(filter().keys()).every(function (name) { return name === "q"; }) && matchMedia("(max-width: 59.9em)").matches) {
      form.querySelector("details").open = false;  /* on a small screen the rows come first */
    }
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    form.addEventListener("reset", function () { setTimeout(function () { filter(); remember(); }); });
    form.addEventListener("input", function () { filter(); remember(); });
  }
})();
