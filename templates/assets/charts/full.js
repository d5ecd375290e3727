/* One chart as large as the screen, with further metrics over it. */
(() => {
  "use strict";

  const { charts, t } = window.sitegen;
  const { make, button } = charts;
  const FAMILIES = ["reward", "kl", "entropy", "policy", "critic", "length", "speed", "memory", "validation", "rollout"];

  /* Another metric in a chart: its own y scale, from the lowest to the highest place of the picture. */
  class Other {
    constructor(board, chart, k, colour) {
      Object.assign(this, { board, chart, k, metric: board.data.header.metrics[k], colour, hidden: false, values: null });
    }

    async load() {
      this.values = await this.board.data.exact(this.k);
      this.seen = null;
      this.chart.refresh();
    }

    refresh(range, count) {
      const { board } = this;
      if (!this.seen || this.seen.place !== board.place) {
        this.seen = { place: board.place, ...charts.points.points(board.data, this.k, this.values, board.place) };
      }
      const sorted = charts.points.sorted(this.seen.live, range);
      this.axis = charts.scale.axis(sorted, [], { full: board.state.full.has("all"), log: board.state.log.get("all") });
      this.columns = this.hidden ? { x: [], low: [], high: [], line: [] } : charts.points.columns(this.seen.live, range, count, board.state.smooth, 400);
    }

    units(value) {
      if (value === null || !this.axis.log) return value;
      return value > 0 ? Math.log10(value) : this.axis.lo - 1;
    }

    y(value) {
      const plot = this.chart.geometry(), { lo, hi } = this.axis;
      return plot.top + (1 - (Math.max(2 * lo - hi, Math.min(2 * hi - lo, value)) - lo) / (hi - lo)) * (plot.floor - plot.top);
    }

    get drawn() {
      const { smooth } = this.board.state, off = this.board.state.off;
      return { columns: this.columns, colour: this.colour, smooth, units: (value) => this.units(value), layers: { band: !off.has("band"), line: true }, y: (value) => this.y(value) };
    }

    tell(x) {
      const i = this.seen.live.n ? charts.points.nearest(this.seen.live, x) : -1;
      const word = i < 0 ? t("no value") : this.seen.exact ? charts.scale.whole(this.seen.live.middle[i]) : `≈ ${charts.scale.human(this.seen.live.middle[i], 4)}`;
      return [`${this.metric.title} ${word} ${this.metric.unit}`.trim(), ""];
    }
  }

  let dialog = null;

  const colour = (board, metric, taken) => {
    const style = getComputedStyle(document.body), of = (family) => style.getPropertyValue(`--sg-${family}`).trim();
    const own = of(metric.family);
    return own && !taken.has(own) ? own : FAMILIES.map(of).find((one) => !taken.has(one)) || board.colours.text;
  };

  const legend = (board, chart, list) => {
    const entry = (metric, tint, pressed, click, remove) => {
      const swatch = make("span", { className: "sg-swatch" });
      swatch.style.background = tint;
      const node = make("button", { type: "button", className: "sg-chip sg-legend", title: metric.name, "aria-pressed": String(pressed) }, swatch, metric.title);
      node.addEventListener("click", click);
      return remove ? [node, button("×", t("remove {title}", { title: metric.title }), remove, "sg-chip sg-legend-out")] : [node];
    };
    const { state } = board, whole = !state.off.has("line") || !state.off.has("band");
    list.replaceChildren(
      ...entry(chart.metric, chart.colour(), whole, () => {
        ["line", "band"].forEach((key) => (whole ? state.off.add(key) : state.off.delete(key)));
        board.refresh();
        legend(board, chart, list);
      }),
      ...chart.others.flatMap((other) => entry(other.metric, other.colour, !other.hidden, () => {
        other.hidden = !other.hidden;
        chart.refresh();
        legend(board, chart, list);
      }, () => {
        chart.others = chart.others.filter((one) => one !== other);
        remember(board, chart);
        legend(board, chart, list);
      })));
  };

  const remember = (board, chart) => {
    board.state.with = chart.others.map((other) => other.metric.id);
    board.refresh();
  };

  const add = async (board, chart, k, list) => {
    if (k === undefined || k === chart.k || chart.others.some((one) => one.k === k)) return;
    const taken = new Set([chart.colour(), ...chart.others.map((one) => one.colour)]);
    const other = new Other(board, chart, k, colour(board, board.data.header.metrics[k], taken));
    other.values = await board.ready(k);
    chart.others.push(other);
    remember(board, chart);
    legend(board, chart, list);
    if (!other.values) other.load();
  };

  const picker = (board, chart, list) => {
    const options = make("datalist", { id: "sg-metrics-list" }, ...board.header.metrics.map((metric) => make("option", { value: metric.name, label: metric.title })));
    const field = make("input", { type: "search", className: "sg-search", placeholder: t("add a metric"), "aria-label": t("add a metric to this chart") });
    field.setAttribute("list", options.id);
    field.addEventListener("change", () => {
      const wanted = field.value.trim().toLowerCase(), all = board.header.metrics;
      if (!wanted) return;
      const found = all.findIndex((one) => one.name.toLowerCase() === wanted || one.title.toLowerCase() === wanted);
      const k = found >= 0 ? found : all.findIndex((one) => one.name.toLowerCase().includes(wanted) || one.title.toLowerCase().includes(wanted));
      if (k >= 0) add(board, chart, k, list);
      field.value = "";
    });
    return [field, options];
  };

  const open = async (board, k) => {
    const values = await board.ready(k);
    close();
    board.touch();
    const metric = board.header.metrics[k], figure = make("figure", { className: `sg-chart sg-full-chart sg-g-${metric.family}` });
    const list = make("span", { className: "sg-legends", role: "group", "aria-label": t("Series") });
    const act = (words, title, work) => button(words, title, () => work());
    const chart = () => board.large;
    const head = make("div", { className: "sg-full-head" },
      make("b", { textContent: metric.title }), make("code", { textContent: metric.name }), list);
    const row = make("div", { className: "sg-full-tools" },
      act(t("log y"), "l", () => charts.flip(board, "log", metric.id)), act(t("full range"), "f", () => charts.flip(board, "full", metric.id)),
      act("+", t("zoom in"), () => charts.keys(board, { key: "+", target: chart().node, preventDefault() {} })),
      act("−", t("zoom out"), () => charts.keys(board, { key: "-", target: chart().node, preventDefault() {} })),
      act(t("all steps"), "Esc", () => board.zoom(null)),
      act("PNG", t("save as PNG"), () => charts.save.png(chart())), act("SVG", t("save as SVG"), () => charts.save.svg(chart())),
      act("CSV", t("save every value as CSV"), () => charts.save.csv(chart())), act(t("link"), t("copy link"), () => charts.copy(board, metric.id)),
      act("?", t("keys"), () => charts.help()));
    const out = button(t("Close"), t("g or Esc"), () => close(), "sg-chip sg-full-close");
    dialog = make("dialog", { className: "sg-full sg-page", "aria-label": metric.title }, head, row, figure);
    dialog.addEventListener("close", () => ended(board));
    document.body.append(dialog);
    dialog.showModal();
    board.state.chart = metric.id;
    board.large = new charts.Chart(board, figure, k, { large: true, values });
    row.prepend(...picker(board, board.large, list));
    row.append(out);
    const wanted = board.state.with.filter((id) => board.byId.has(id));
    legend(board, board.large, list);
    wanted.forEach((id) => add(board, board.large, board.byId.get(id), list));
    board.large.watch = new ResizeObserver(() => board.large && board.large.resize());
    board.large.watch.observe(figure);
    board.large.sharpen();
    board.refresh();
    board.large.node.focus();
  };

  const ended = (board) => {
    if (!board.large) return;
    const { metric, watch } = board.large;
    watch.disconnect();
    board.large.destroy();
    board.large = null;
    board.here = board.cursor = null;
    Object.assign(board.state, { chart: null, with: [] });
    dialog.remove();
    dialog = null;
    board.refresh();
    const back = [...board.alive.values()].find((one) => one.metric.id === metric.id && !one.own);
    if (back) back.node.focus({ preventScroll: true });
  };

  const close = () => dialog && dialog.close();

  charts.full = { open, close };
})();
