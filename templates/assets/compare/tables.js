/* What is known of the chosen runs beside their curves: outcomes, settings that differ, where they part, incidents. */
(() => {
  "use strict";

  const { compare, charts, t } = window.sitegen, { WORDS } = window.sitegen.finds;
  const { make } = charts, { human } = charts.scale;
  const CLIP = 300, RANK = { critical: 0, error: 1, warning: 2, info: 3 };
  const MISSING = "–";

  const clip = (text) => (text.length > CLIP ? `${text.slice(0, CLIP - 1)}…` : text);
  const number = (value, digits = 4) => (value === null || value === undefined ? MISSING : human(value, digits));
  const date = (stamp) => {
    const day = stamp === null || stamp === undefined ? null : new Date(stamp * 1000);
    return day && !Number.isNaN(day.getTime()) ? day.toISOString().slice(0, 10) : MISSING;
  };
  /* As on the page of the run: sitegen.pages.words. */
  const duration = (seconds) => {
    if (seconds === null || seconds === undefined) return MISSING;
    const whole = Math.round(seconds), minutes = Math.floor(whole / 60);
    if (whole < 60) return t("{s} s", { s: whole });
    if (minutes < 60) return t("{m} m {s} s", { m: minutes, s: whole % 60 });
    return t("{h} h {m} m", { h: human(Math.floor(minutes / 60), 9), m: minutes % 60 });
  };
  const hours = (value) => (value === null || value === undefined ? MISSING : value < 9.95 ? value.toFixed(1) : human(Math.round(value), 9));

  const table = (heads, rows, className = "") => make("div", { className: "sg-scroll", tabIndex: 0, role: "group", "aria-label": t("table") },
    make("table", { className: `sg-table ${className}` },
      make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)));
  const th = (words, className = "") => make("th", { className, scope: "col" }, words);
  const td = (inside, className = "") => make("td", { className }, ...[inside].flat());

  /* Number of a run in the colour of its line. */
  const tag = (board, run) => {
    const { colour, number: n } = board.look(board.runs.indexOf(run)), node = make("b", { className: "sg-runno", textContent: String(n) });
    node.style.color = colour;
    return node;
  };
  const name = (board, run) => [tag(board, run), " ", make("a", { href: run.href, textContent: run.title, title: run.title, className: "sg-name" })];

  const outcomes = (board) => {
    const columns = [
      [t("Best"), (told) => (told.best ? [make("b", { textContent: number(told.best.value) }), make("small", { className: "sg-line", textContent: t("{what}, step {step}", { what: told.best.label, step: told.best.step }) })] : MISSING)],
      [t("Steps"), (told) => [number(told.steps, 9), ...(told.planned_steps && told.planned_steps !== told.last_step ? [make("small", { className: "sg-line", textContent: t("of {n}", { n: human(told.planned_steps, 9) }) })] : [])]],
      [t("Wall time"), (told) => duration(told.wall_s)], [t("GPU-h"), (told) => hours(told.gpu_hours)],
      ["tokens/s/GPU", (told) => number(told.throughput, 4)], [t("Started"), (told) => date(told.started_at)],
    ];
    const rows = board.runs.map((run) => {
      const { told } = run, first = td(name(board, run), "sg-run");
      if (!told) return make("tr", {}, first, make("td", { colSpan: columns.length + 1, className: "sg-muted", textContent: run.faults.join("; ") }));
      if (told.headline) first.append(make("small", { className: "sg-line", textContent: told.headline, title: told.headline }));
      return make("tr", {}, first, td(make("span", { className: `sg-dot sg-dot--${told.status}`, textContent: WORDS[told.status] || told.status })), ...columns.map(([, cell]) => td(cell(told), "sg-num")));
    });
    return table([th(t("Run")), th(t("Status")), ...columns.map(([word]) => th(word, "sg-num"))], rows, "sg-outcome-table");
  };

  /* --- settings ---------------------------------------------------------------------------- */

  const plain = (text) => {
    const bare = text.replace(/['" \n]/g, "").toLowerCase();
    if (["", "none", "null", "~", "???"].includes(bare)) return "none";
    return bare !== "" && Number.isFinite(Number(bare)) ? String(Number(bare)) : bare;
  };
  /* As sitegen.archive.settings.same: a placeholder says nothing. */
  const same = (a, b) => a === b || a.includes("${") || b.includes("${") || plain(a) === plain(b);

  const settings = (runs) => {
    const said = runs.filter((run) => run.told && run.told.setup && Object.keys(run.told.setup).length);
    const keys = [...new Set(said.flatMap((run) => Object.keys(run.told.setup)))].sort();
    const differing = [], single = [];
    for (const key of keys) {
      const values = said.map((run) => run.told.setup[key]), stated = values.filter((one) => one !== undefined);
      const differs = stated.some((one) => !same(one, stated[0]));
      if (differs) differing.push(key);
      else if (stated.length < said.length) single.push(key);
    }
    return { said, differing, single, equal: keys.length - differing.length - single.length };
  };

  const setting = (board, key, said) => {
    const first = said.map((run) => run.told.setup[key]).find((one) => one !== undefined);
    return make("tr", {}, td(make("code", { textContent: key }), "sg-any"), ...said.map((run) => {
      const value = run.told.setup[key];
      if (value === undefined) return td(make("span", { className: "sg-muted", textContent: t("not logged") }));
      return td(make(same(value, first) ? "span" : "mark", { className: "sg-setting", textContent: value === "" ? t("(empty)") : clip(value) }), "sg-any");
    }));
  };

  const config = (board) => {
    const { said, differing, single, equal } = settings(board.runs), out = [];
    const heads = [th(t("Setting")), ...said.map((run) => make("th", { scope: "col", className: "sg-runhead" }, ...name(board, run)))];
    const silent = board.runs.filter((run) => !said.includes(run));
    if (said.length < 2) return [make("p", { className: "sg-empty", textContent: t("Fewer than two of these runs log their configuration: there is nothing to compare.") })];
    out.push(differing.length ? filtered(table(heads, differing.map((key) => setting(board, key, said)))) : make("p", { className: "sg-empty", textContent: t("No setting that they log differs.") }));
    out.push(make("p", { className: "sg-muted sg-small", textContent: silent.length
      ? t("{n} settings are the same in all; not logged by {runs}. Marked: not as in the first run that says it.", { n: equal, runs: silent.map((run) => run.title).join(t(", ")) })
      : t("{n} settings are the same in all. Marked: not as in the first run that says it.", { n: equal }) }));
    if (single.length) {
      const fold = make("details", { className: "sg-fold" }, make("summary", {}, t("Logged by some of them only"), " ", make("span", { className: "sg-muted", textContent: t("{n} keys: whether they differ is not known", { n: single.length }) })));
      fold.addEventListener("toggle", () => { if (fold.open && fold.children.length === 1) fold.append(make("div", { className: "sg-fold-body" }, filtered(table(heads.map((one) => one.cloneNode(true)), single.map((key) => setting(board, key, said)))))); });
      out.push(fold);
    }
    return out;
  };

  const filtered = (box) => {
    const rows = [...box.querySelectorAll("tbody tr")];
    if (rows.length < 13) return box;
    const field = make("input", { type: "search", className: "sg-search", placeholder: t("find a key or value"), "aria-label": t("find a key or value") });
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      rows.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(wanted); });
    });
    return make("div", {}, field, box);
  };

  /* --- incidents --------------------------------------------------------------------------- */

  const when = ({ first, last }) => {
    if (first === null) return t("before the first step");
    return last === null || last === first ? t("step {step}", { step: first }) : t("steps {first} to {last}", { first, last });
  };
  const remarks = (n, more) => {
    if (n === 1) return more ? t("and 1 remark") : t("1 remark");
    return more ? t("and {n} remarks", { n }) : t("{n} remarks", { n });
  };

  const incidents = (board) => board.runs.map((run) => {
    const all = run.told ? [...run.told.incidents].sort((a, b) => RANK[a.severity] - RANK[b.severity] || (a.first ?? -1) - (b.first ?? -1)) : [];
    const loud = all.filter((one) => one.severity !== "info"), quiet = all.length - loud.length;
    const list = make("ul", { className: "sg-plain" }, ...loud.map((one) => make("li", {},
      make("span", { className: `sg-pill sg-pill--${one.severity}`, textContent: WORDS[one.severity] || one.severity }), " ",
      make("a", { href: `${run.href}#${one.id.split("/").pop()}`, textContent: `${one.rule} ${one.title}` }), " ",
      make("span", { className: "sg-muted sg-nowrap", textContent: when(one) }),
      make("small", { className: "sg-line", textContent: one.message }))));
    const rest = quiet ? remarks(quiet, loud.length > 0) : loud.length ? "" : run.told ? t("nothing to act on") : t("not known");
    return make("section", { className: "sg-card" }, make("h3", {}, ...name(board, run)), list, rest ? make("p", { className: "sg-muted sg-small", textContent: rest }) : "");
  });

  Object.assign(compare, { tables: { outcomes, config, incidents, settings, table, th, td, name, tag, same } });
})();
