/* The page that compares runs: who is compared, how, and the parts below each other. State is in the address. */
(() => {
  "use strict";

  const { compare, charts, t } = window.sitegen, { WORDS } = window.sitegen.finds;
  const { make, button, choice } = charts;
  const { state: address, runs: known, tables } = compare;
  const SMOOTH = [["auto", t("running median")], ["off", t("off: every value")], ...[0.5, 0.8, 0.9, 0.95, 0.99].map((weight) => [weight, t("exp. mean {weight}", { weight })])];
  const AXES = [["step", t("step"), ""], ["time", t("wall time (h)"), t("h")], ["tokens", t("tokens"), t("tokens")], ["epoch", t("epoch"), t("epoch")]];
  const FIRST = ["score", "val", "rewards", "kl_ref", "entropy", "response_length", "grad_norm"];
  const SMALL = 12;

  /* A piece of a run's line, for its button. */
  const stroke = (colour, dash) => {
    const of = (tag, parts) => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [key, value] of Object.entries(parts)) node.setAttribute(key, value);
      return node;
    };
    const line = of("svg", { class: "sg-dash", viewBox: "0 0 26 8", "aria-hidden": "true" });
    line.append(of("path", { d: "M1 4h24", stroke: colour, "stroke-dasharray": dash.join(" ") }));
    return line;
  };

  class Page {
    constructor(root, site) {
      Object.assign(this, { root, site, state: address.read(), runs: [], metrics: [], quantiles: JSON.parse(root.dataset.sgT) });
      this.home = new URL(root.dataset.sgCompare, location.href);
      this.colours = known.colours();
      this.body = make("div", { className: "sg-compared" });
      this.said = root.querySelector("[data-sg-said]");
      this.said.className = "sg-visually-hidden";
    }

    look(place) { return known.look(place, this.colours.runs); }

    say(words) { this.said.textContent = words; }

    /* Other runs, or the same in another order: everything anew. */
    async show() {
      const { ids, lost } = known.known(this.state.runs, this.site);
      this.runs = await Promise.all(ids.map((id) => known.load(id, this.site, this.home)));
      this.lost = lost;
      this.grouped();
      this.metrics = this.shared();
      if (!this.metrics.some(({ key }) => key === this.state.metric)) this.state.metric = this.telling();
      await this.placed();
      this.draw();
      document.title = document.title.replace(/^[^-]*/, `${t("Compare {n} runs", { n: this.runs.length })} `);
    }

    change(runs) {
      Object.assign(this.state, { runs, zoom: null });
      this.state.off = new Set([...this.state.off].filter((id) => runs.includes(id)));
      address.write(this.state, true);
      return this.show();
    }

    /* Runs of one seed group that are both here get its name. */
    grouped() {
      const count = new Map(), of = ({ told }) => (told && told.seeds ? told.seeds.runs.map((one) => one.run).join(" ") : "");
      this.runs.forEach((run) => count.set(of(run), (count.get(of(run)) || 0) + 1));
      this.runs.forEach((run) => { run.group = of(run) && count.get(of(run)) > 1 ? of(run) : ""; });
    }

    /* Metrics of all runs, those that most of them log first within a family. */
    shared() {
      const found = new Map();
      for (const run of this.runs) {
        for (const [key, k] of run.metrics) {
          const metric = run.data.header.metrics[k];
          if (!found.has(key)) found.set(key, { key, title: metric.title, name: metric.name, unit: metric.unit, family: metric.family, runs: 0, first: metric.first });
          found.get(key).runs += 1;
        }
      }
      return [...found.values()];
    }

    title(key) {
      const found = this.metrics.find((one) => one.key === key);
      return found ? found.title : key;
    }

    telling() {
      const most = Math.max(0, ...this.metrics.map((one) => one.runs)), all = this.metrics.filter((one) => one.runs === most);
      return (FIRST.map((key) => all.find((one) => one.key === key)).find(Boolean) || all[0] || { key: "" }).key;
    }

    async placed() {
      const { x, from } = this.state, pairs = this.runs.map(async (run) => [run.id, run.data ? await compare.lines.place(run, x, from) : { word: t("no curves") }]);
      this.places = new Map(await Promise.all(pairs));
      const [, , unit] = AXES.find(([key]) => key === x) || AXES[0];
      const phase = from && (this.phases().find(([name]) => name === from)?.[1] || from);
      this.unit = phase ? t("{unit} since {phase}", { unit: unit || t("steps"), phase }) : unit || t("step");
    }

    phases() {
      const found = new Map();
      this.runs.forEach((run) => run.data && run.data.header.phases.forEach(([name, word]) => found.set(name, word)));
      return [...found];
    }

    axes() {
      const logged = new Set(this.runs.flatMap((run) => (run.data ? run.data.header.axes.map(([key]) => key) : [])));
      return AXES.filter(([key]) => key === "step" || logged.has(key) || key === this.state.x);
    }

    /* --- parts --------------------------------------------------------------------------- */

    draw() {
      [this.large, ...(this.smalls || [])].forEach((one) => one && one.remove());
      this.smalls = [];
      const parts = [this.chosen(), this.faults()];
      if (this.runs.length) {
        parts.push(this.part("curves", t("Curves"), this.chart()), this.part("outcomes", t("Outcomes"), tables.outcomes(this)));
        parts.push(this.part("divergence", t("Where they part"), this.parting()), this.part("settings", t("Settings that differ"), ...tables.config(this)));
        parts.push(this.part("incidents", t("Incidents"), make("div", { className: "sg-boards" }, ...tables.incidents(this))));
      }
      this.body.replaceChildren(...parts.filter(Boolean));
      if (!this.body.isConnected) this.root.querySelector(".sg-still").replaceWith(this.body);
      if (this.runs.length) this.alive();
      else this.drawn();
    }

    /* All that was asked for is on the screen. */
    drawn() {
      document.documentElement.dataset.sgCompared = "alive";
      performance.mark("sitegen:compared");
    }

    part(id, title, ...inside) { return make("section", { id }, make("h2", { textContent: title }), ...inside); }

    faults() {
      const lines = [
        ...this.lost.map(([id, why]) => [id, why]), ...this.state.beyond.map((id) => [id, t("is left out: {n} runs at most", { n: compare.MOST })]),
        ...this.runs.filter((run) => run.faults.length).map((run) => [run.title, run.faults.join("; ")]),
      ];
      const hints = this.runs.length === 0 ? t("Choose two runs or more: by their names here, or with the boxes of any table of runs.") : this.runs.length === 1 ? t("Choose one run more to compare it with.") : "";
      if (!lines.length && !hints) return null;
      return make("div", { className: "sg-empty sg-faults", role: "status" },
        ...lines.map(([id, why]) => make("p", {}, make("code", { textContent: id.length > 200 ? `${id.slice(0, 199)}…` : id }), ` ${t("{why}.", { why })}`)), hints && make("p", { textContent: hints }));
    }

    /* The runs: each with its line, its number, and buttons that hide it, put it first or take it out. */
    chosen() {
      const list = make("ol", { className: "sg-chosen", "aria-label": t("Runs that are compared") }, ...this.runs.map((run, place) => this.entry(run, place)));
      return make("div", { className: "sg-who" }, list, this.adding());
    }

    entry(run, place) {
      const { colour, dash, number } = this.look(place), off = this.state.off.has(run.id), { told } = run;
      const toggle = make("button", { type: "button", className: "sg-chip sg-legend", "aria-pressed": String(!off), title: t("show or hide its line") });
      toggle.append(stroke(colour, dash));
      const label = make("b", { className: "sg-runno", textContent: String(number) });
      label.style.color = colour;
      toggle.append(label, " ", make("span", { className: "sg-hidden", textContent: t("line of {title}", { title: run.title }) }));
      toggle.addEventListener("click", () => this.toggle(run.id));
      const first = button(t("first"), t("compare the others with this run"), () => this.change([run.id, ...this.runs.filter((one) => one !== run).map((one) => one.id)]), "sg-chip sg-quiet");
      first.setAttribute("aria-label", t("Put {title} first", { title: run.title }));
      first.hidden = place === 0;
      const away = button("×", t("take it out"), () => this.change(this.runs.filter((one) => one !== run).map((one) => one.id)), "sg-chip sg-quiet");
      away.setAttribute("aria-label", t("Take {title} out", { title: run.title }));
      const seeds = told && told.seeds ? make("span", { className: "sg-muted sg-small sg-nowrap", textContent: t("seed {seed}, 1 of {n}", { seed: told.seeds.seed, n: told.seeds.runs.length }) }) : "";
      return make("li", {}, toggle, make("a", { href: run.href, className: "sg-name", textContent: run.title, title: `${run.title} (${run.id})` }),
        told ? make("span", { className: `sg-dot sg-dot--${told.status}`, textContent: WORDS[told.status] || told.status }) : "", seeds, first, away);
    }

    adding() {
      const field = make("input", { type: "search", className: "sg-search", placeholder: t("add a run"), "aria-label": t("Add a run by its name"), autocomplete: "off" });
      const list = make("datalist", { id: "sg-all-runs" });
      field.setAttribute("list", list.id);
      field.addEventListener("focus", () => {
        if (!list.children.length) list.append(...[...this.site.runs].map(([id, { title }]) => make("option", { value: id, textContent: title })));
      }, { once: true });
      const add = () => {
        const wanted = field.value.trim(), lower = wanted.toLowerCase();
        if (!wanted) return;
        const found = this.site.runs.has(wanted) ? wanted : [...this.site.runs].find(([id, { title }]) => id.toLowerCase().includes(lower) || title.toLowerCase().includes(lower))?.[0];
        if (found && this.runs.some((run) => run.id === found)) this.say(t("{run} is here already", { run: found }));
        else this.change([...this.state.runs, found || wanted].slice(0, compare.MOST)).then(() => this.root.querySelector(".sg-who input").focus());
      };
      field.addEventListener("keydown", (event) => { if (event.key === "Enter") add(); });
      field.addEventListener("input", (event) => { if (event.inputType === "insertReplacementText" || !event.inputType) add(); });
      const full = this.runs.length >= compare.MOST;
      field.disabled = full;
      return make("p", { className: "sg-adding" }, field, list, button(t("Add"), "", add), make("span", { className: "sg-muted sg-small", textContent: full ? t("{n} runs at most", { n: compare.MOST }) : "" }));
    }

    chart() {
      const figure = (this.figure = make("figure", { className: "sg-chart sg-overlay" }));
      this.caption = make("figcaption", {});
      figure.append(this.caption);
      this.grid = make("div", { className: "sg-grid sg-grid--small sg-overlays" });
      this.absent = make("p", { className: "sg-muted sg-small" });
      const missing = window.uPlot ? "" : make("p", { className: "sg-empty", textContent: t("The curves need uPlot, which is not in this installation; the tables below are complete.") });
      return make("div", {}, this.tools(), missing, figure, this.absent, this.grid);
    }

    tools() {
      const { state } = this, one = ({ key, title, name, runs }) => [key, `${title}${name === title ? "" : ` · ${name}`}${runs < this.runs.length ? ` ${t("({n} of {all})", { n: runs, all: this.runs.length })}` : ""}`];
      const [metricLabel, metric] = choice(t("metric"), t("metric"), this.metrics.map(one), (key) => this.pick(key));
      metric.classList.add("sg-choice--wide");
      metric.value = state.metric;
      const [xLabel, x] = choice("x", t("x axis"), this.axes().map(([key, words]) => [key, words]), (key) => this.along({ x: key }));
      x.value = state.x;
      const [fromLabel, from] = choice(t("0 is"), t("where 0 is"), [["", t("the start")], ...this.phases().map(([name, word]) => [name, t("start of {phase}", { phase: word })])], (name) => this.along({ from: name }));
      from.value = state.from;
      const [smoothLabel, smooth] = choice(t("smoothing"), t("smoothing"), SMOOTH, (value) => this.set({ smooth: Number(value) ? Number(value) : value }));
      smooth.value = String(state.smooth);
      const flip = (words, title, key) => {
        const node = button(words, title, () => {
          node.setAttribute("aria-pressed", String(!this.state[key]));
          this.set({ [key]: !this.state[key] });
        });
        node.setAttribute("aria-pressed", String(state[key]));
        node.dataset.sgFlip = key;
        return node;
      };
      const row = make("div", { className: "sg-tools", role: "group", "aria-label": t("How the curves are drawn") }, metricLabel, xLabel, fromLabel, smoothLabel,
        flip(t("log y"), t("logarithmic scale"), "log"), flip(t("full y range"), t("also what lies far from the rest"), "full"), flip(t("incidents"), t("onsets of incidents"), "marks"));
      if (this.runs.some((run) => run.group)) row.append(flip(t("mean of seeds"), t("runs that differ in the seed as one line: their mean with its 95 % confidence interval"), "seeds"));
      this.zoomed = button("", t("back to everything (Esc)"), () => this.zoom(null));
      row.append(this.zoomed, make("span", { className: "sg-layers" },
        button("PNG", t("save what is seen as PNG"), () => compare.save.png(this)), button("SVG", t("save what is seen as SVG"), () => compare.save.svg(this)),
        button("CSV", t("save every value of this metric as CSV"), () => compare.save.csv(this)), button(t("Copy link"), t("the address of exactly this view"), () => this.copy())));
      return row;
    }

    async alive() {
      this.large = new compare.Overlay(this, this.figure, this.state.metric);
      this.large.node.addEventListener("keydown", (event) => this.keys(event));
      this.refresh();
      await this.reload();
      const others = this.metrics.filter((one) => one.runs === Math.max(...this.metrics.map((each) => each.runs)));
      const first = others.filter((one) => one.first);
      if (window.uPlot) (first.length > 1 ? first : others).slice(0, SMALL).forEach((one) => this.small(one));
      new ResizeObserver(() => [this.large, ...this.smalls].forEach((one) => one.resize())).observe(this.figure);
    }

    small({ key, title }) {
      const pick = button(title, t("show {title} large", { title }), () => this.pick(key), "sg-pick-metric");
      const figure = make("figure", { className: "sg-chart" }, make("figcaption", {}, pick));
      this.grid.append(figure);
      const made = new compare.Overlay(this, figure, key, true);
      figure.addEventListener("click", () => this.pick(key));
      this.smalls.push(made);
      made.load();
    }

    /* The large chart: its picture soon, then every value. */
    async reload() {
      const { large } = this;
      large.key = this.state.metric;
      await large.load();
      this.refresh();
      this.drawn();
      if (large === this.large && this.runs.some((run) => run.data && run.data.header.exact)) {
        await large.load(true);
        this.refresh();
      }
    }

    refresh() {
      const metric = this.metrics.find((one) => one.key === this.state.metric);
      this.caption.replaceChildren(make("b", { textContent: metric ? metric.title : t("no metric") }), metric ? make("code", { textContent: metric.name }) : "", make("span", { textContent: metric ? metric.unit : "" }));
      this.absent.textContent = this.large.absent.map(([run, why]) => `${this.runs.indexOf(run) + 1} ${run.title}: ${why}`).join(" · ");
      this.zoomed.hidden = !this.state.zoom;
      if (this.state.zoom) this.zoomed.textContent = `${this.state.zoom.map((one) => charts.scale.human(one, 4)).join(" – ")} ×`;
      this.smalls.forEach((one) => one.figure.classList.toggle("sg-shown", one.key === this.state.metric));
      address.write(this.state);
    }

    again() {
      [this.large, ...this.smalls].forEach((one) => one.refresh());
      this.refresh();
    }

    /* --- what a reader does -------------------------------------------------------------- */

    async pick(key) {
      this.state.metric = key;
      this.root.querySelector(".sg-choice--wide").value = key;
      await this.reload();
      this.say(t("{title} of {n} runs", { title: this.title(key), n: this.large.shown.length }));
    }

    async along(part) {
      Object.assign(this.state, part, { zoom: null });
      await this.placed();
      await Promise.all([this.reload(), ...this.smalls.map((one) => one.load())]);
      this.say(t("x axis: {axis}", { axis: this.unit }));
    }

    async set(part) {
      Object.assign(this.state, part);
      if ("seeds" in part) await Promise.all([this.reload(), ...this.smalls.map((one) => one.load())]);
      this.again();
    }

    zoom(range) {
      this.state.zoom = range;
      this.again();
    }

    async toggle(id) {
      if (!this.state.off.delete(id)) this.state.off.add(id);
      const place = this.runs.findIndex((run) => run.id === id);
      this.body.querySelectorAll(".sg-legend")[place].setAttribute("aria-pressed", String(!this.state.off.has(id)));
      if (this.state.seeds) await Promise.all([this.large.load(true), ...this.smalls.map((one) => one.load())]);
      this.again();
    }

    async copy() {
      try {
        await navigator.clipboard.writeText(location.href);
        this.say(t("The link is copied"));
      } catch {
        this.say(t("The address of this page is the link"));
      }
    }

    keys(event) {
      const { large, state } = this, [from, to] = large.range, width = to - from;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const cursor = large.cursor === null ? (from + to) / 2 : large.cursor;
      const move = (by) => this.say(large.point(this.next(cursor, by * (event.shiftKey ? 10 : 1))));
      const acts = {
        ArrowRight: () => move(1), ArrowLeft: () => move(-1), "+": () => this.zoom([cursor - width / 4, cursor + width / 4]),
        "=": () => this.zoom([cursor - width / 4, cursor + width / 4]), "-": () => this.zoom(width >= large.whole[1] - large.whole[0] ? null : [cursor - width, cursor + width]),
        0: () => this.zoom(null), Escape: () => state.zoom && this.zoom(null), l: () => this.press("log"), f: () => this.press("full"),
      };
      if (!acts[event.key]) return;
      event.preventDefault();
      acts[event.key]();
    }

    press(key) { this.body.querySelector(`.sg-tools [data-sg-flip="${key}"]`).click(); }

    /* The x of the value `by` places further in the line that has most of them. */
    next(x, by) {
      const line = this.large.shown.reduce((a, b) => (b.live.n > (a ? a.live.n : 0) ? b : a), null);
      if (!line) return x;
      const i = charts.points.nearest(line.live, x) + (this.large.cursor === null ? 0 : by);
      return line.live.x[Math.max(0, Math.min(line.live.n - 1, i))];
    }

    /* The metric around a step of the first run, where x is steps. */
    async lookAt(key, step) {
      if (this.state.x !== "step" || this.state.from) await this.along({ x: "step", from: "" });
      this.root.querySelectorAll(".sg-tools select").forEach((one, i) => { if (i === 1) one.value = "step"; else if (i === 2) one.value = ""; });
      await this.pick(key);
      const [from, to] = this.large.whole, half = Math.max(20, (to - from) / 10);
      this.zoom([Math.max(from, step - half), Math.min(to, step + half)]);
      this.figure.scrollIntoView({ block: "center" });
      this.large.node.focus({ preventScroll: true });
      this.large.point(step);
    }

    parting() { return compare.parting(this); }
  }

  compare.start = async (root) => {
    const page = new Page(root, await known.index(new URL(root.dataset.sgCompare, location.href)));
    compare.page = page;
    await page.show();
    window.addEventListener("popstate", () => {
      page.state = address.read();
      page.show();
    });
    const recolour = () => {
      page.colours = known.colours();
      page.show();
    };
    new MutationObserver(recolour).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  };
})();
