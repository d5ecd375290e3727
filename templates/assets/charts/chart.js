/* One chart over its drawing: uPlot places, zooms and points; layers.js draws. */
(() => {
  "use strict";

  const { charts, t } = window.sitegen;
  const { scale, points, layers } = charts;
  const WIDE = 300; /* px; narrower charts get fewer ticks */

  class Chart {
    /* `figure` holds a drawing of metric `k`; `window` are the steps it begins with, where it has its own. */
    constructor(board, figure, k, { window: own = null, large = false, values = null } = {}) {
      Object.assign(this, { board, figure, k, large, metric: board.data.header.metrics[k] });
      this.own = own;
      this.moment = own && figure.closest("article") ? figure.closest("article").id : "";
      const [limits, show] = board.header.moments[this.moment] || [this.metric.limits, []];
      Object.assign(this, { limits, must: show });
      this.values = values;
      this.others = [];
      this.drawing = figure.querySelector("svg.sg-svg");
      this.note = figure.querySelector("figcaption span");
      this.rest = this.note && this.note.textContent;
      this.build();
    }

    get state() { return this.board.state; }

    /* Steps to show. */
    get steps() { return this.own || this.state.zoom || this.board.all; }

    get range() {
      const { place } = this.board, [from, to] = this.steps.map((step) => place.x(step));
      return to > from ? [from, to] : [from - 0.5, from + 0.5];
    }

    build() {
      const node = (this.node = document.createElement("div"));
      node.className = "sg-live";
      node.tabIndex = 0;
      node.setAttribute("role", "application");
      node.setAttribute("aria-roledescription", t("interactive chart"));
      node.setAttribute("aria-label", this.drawing ? this.drawing.getAttribute("aria-label") : this.metric.title);
      const [width, height] = this.size();
      this.figure.append(node);
      this.figure.classList.add("sg-alive");
      this.plot = new uPlot(this.options(width, height), [[0, 1], [0, 1]], node);
      this.plot.over.append((this.overlay = document.createElement("div")));
      this.plot.over.append((this.tip = document.createElement("div")));
      this.overlay.className = "sg-over";
      this.tip.className = "sg-tip";
      this.tip.hidden = true;
      this.plot.over.addEventListener("mouseleave", () => this.board.leave(this));
      this.clicks();
      this.refresh();
    }

    /* A click that is no drag keeps the cursor, or lets it go. */
    clicks() {
      const { over } = this.plot;
      let from = null;
      over.addEventListener("mousemove", (event) => this.pointed(event));
      over.addEventListener("pointermove", (event) => event.pointerType === "touch" && this.pointed(event)); /* a finger across */
      over.addEventListener("mousedown", (event) => { from = event.clientX; });
      over.addEventListener("click", (event) => {
        if (event.target === over && from !== null && Math.abs(event.clientX - from) < 4 && event.detail === 1) {
          clearTimeout(this.pinning);
          this.pinning = setTimeout(() => charts.pinAt(this.board, this), 220); /* not of a double click */
        }
        this.node.focus({ preventScroll: true });
      });
      over.addEventListener("dblclick", () => clearTimeout(this.pinning));
    }

    size() {
      if (this.large) return [this.figure.clientWidth, Math.max(220, this.figure.clientHeight - 4)];
      const box = this.drawing.viewBox.baseVal, style = getComputedStyle(this.figure);
      const width = this.figure.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      return [width, Math.max(96, Math.round((width * box.height) / box.width))];
    }

    options(width, height) {
      const right = () => (this.others.some((other) => !other.hidden) ? 60 : 16);
      const pad = this.large ? [30, right, 24, 58] : [12, 8, 16, width < 260 ? 40 : 46];
      return {
        width, height, padding: pad, legend: { show: false },
        scales: { x: { time: false, range: () => this.range }, y: { range: () => [this.y.bottom, this.y.hi] } },
        axes: [{ show: false }, { show: false }],
        series: [{}, { paths: () => null, points: { show: false } }],
        cursor: {
          y: false, points: { show: false },
          drag: { x: true, y: false, setScale: false, dist: 4 },
          bind: { dblclick: () => () => this.board.zoom(null, this) },
        },
        hooks: {
          draw: [(u) => this.draw(u)],
          setSelect: [(u) => this.selected(u)],
        },
      };
    }

    /* Fetches every value, where only a picture is there. */
    sharpen() {
      if (this.values) return Promise.resolve();
      if (!this.waiting) this.waiting = this.fetch();
      return this.waiting;
    }

    async fetch() {
      try {
        this.values = await this.board.data.exact(this.k);
        this.seen = null;
        this.refresh();
        this.board.again(this);
      } catch (fault) {
        this.board.say(t("The exact values of {title} did not arrive: {why}", { title: this.metric.title, why: fault.message }));
      }
      this.waiting = null;
    }

    /* Everything again: data on the axis, columns, y range. */
    refresh() {
      if (!this.plot) return;
      const { board } = this;
      if (!this.seen || this.seen.place !== board.place) {
        this.seen = { place: board.place, ...points.points(board.data, this.k, this.values, board.place) };
      }
      const { state } = board, { live, forks, odd } = this.seen, range = this.range;
      const width = this.plot.width - 60, count = Math.max(40, Math.floor(width / 2));
      this.columns = points.columns(live, range, count, state.smooth, this.large ? 400 : this.own ? 250 : 90);
      this.forks = forks.map((fork) => points.columns(fork, range, count, "off", count));
      this.odd = [...odd].map(([step, kind]) => [board.place.x(step), kind]);
      this.y = this.vertical(range);
      this.others.forEach((other) => other.refresh(range, count));
      this.plot.setData([this.columns.x.length ? this.columns.x : range, this.columns.line.length ? this.columns.line : [0, 1]], false);
      this.plot.batch(() => {
        this.plot.setScale("x", { min: range[0], max: range[1] });
        this.plot.setScale("y", { min: this.y.bottom, max: this.y.hi });
      });
      this.plot.redraw(false, this.large);
      this.hang();
    }

    vertical(range) {
      const { state } = this.board, id = this.metric.id;
      const sorted = points.sorted(this.seen.live, range);
      const found = scale.axis(sorted.length ? sorted : points.sorted(this.seen.live, [-Infinity, Infinity]), state.off.has("limits") ? [] : this.limits, {
        must: this.steps === this.first || !this.first ? this.must : [],
        full: state.full.has("all") || state.full.has(id), log: state.log.has(id) ? state.log.get(id) : state.log.get("all"),
      });
      const { height } = this.plot.bbox, tall = height / uPlot.pxRatio;
      const below = this.seen.odd.size ? (found.hi - found.lo) * (layers.LANE / Math.max(1, tall - layers.LANE)) : 0;
      return { ...found, bottom: found.lo - below };
    }

    units(value) {
      if (value === null || !this.y.log) return value;
      return value > 0 ? Math.log10(value) : this.y.lo - 1;
    }

    /* Where things lie, in px of the canvas as the page sees it. */
    geometry(u = this.plot) {
      const ratio = uPlot.pxRatio, box = u.bbox, [from, to] = this.range;
      const plot = { left: box.left / ratio, top: box.top / ratio, width: box.width / ratio, height: box.height / ratio };
      const { bottom, hi, lo } = this.y;
      plot.x = (value) => plot.left + ((value - from) / (to - from)) * plot.width;
      plot.y = (value) => plot.top + (1 - (Math.max(bottom - 1e3 * (hi - bottom), Math.min(hi + 1e3 * (hi - bottom), value)) - bottom) / (hi - bottom)) * plot.height;
      const notes = [this.y.log ? t("log scale") : "", this.y.log && this.hidden() ? t("{n} not above 0", { n: this.hidden() }) : ""];
      return Object.assign(plot, { lo, hi, floor: plot.y(lo), font: this.large ? 12 : 10, note: notes.filter(Boolean).join(", ") });
    }

    hidden() { return this.columns.low.filter((value) => value !== null && value <= 0).length; }

    /* What layers.paint draws. */
    picture() {
      const { board, state } = this, { place } = board;
      const wide = this.plot.width > WIDE || this.large;
      const y = this.y.log ? scale.decades(this.y.lo, this.y.hi).map((at) => [at, scale.decade(at)]) : this.plain(this.large ? 7 : wide ? 4 : 3);
      const [from, to] = this.range, xs = scale.ends(from, to, this.large ? Math.max(3, Math.round(this.plot.width / 110)) : wide ? 4 : 3, place.key === "step");
      const inner = scale.labels(xs.slice(1, -1)), end = (value) => scale.human(value, place.key === "step" ? 6 : 3);
      const last = `${end(to)}${this.large || place.key !== "step" ? ` ${t(place.unit || place.label)}` : ""}`;
      const xlabels = [end(from), ...inner, last];
      return {
        colours: board.colours, colour: this.colour(), columns: this.columns, forks: this.forks, odd: this.odd, y,
        x: xs.map((at, i) => [at, xlabels[i]]), units: (value) => this.units(value), smooth: state.smooth, others: this.others.filter((other) => !other.hidden).map((other) => other.drawn),
        layers: Object.fromEntries(charts.LAYERS.map(([key]) => [key, !state.off.has(key)])),
        phases: board.header.phases.map(([phase, word, first, last]) => ({ phase, word, from: place.x(first), to: place.x(last + 1) })),
        marks: this.marks().map(([step, severity, label, title, href]) => ({ x: place.x(step), severity, label, title, href })),
        limits: this.limits.map(([label, steps, values]) => ({ label, x: steps.map((step) => place.x(step)), values })),
        large: this.large, right: this.right(),
        empty: this.seen.live.n ? this.columns.x.length ? "" : t("not logged in this range") : t("no finite value"),
      };
    }

    plain(count, { lo, hi } = this.y) {
      const at = scale.ticks(lo, hi, count), words = scale.labels(at);
      return at.map((value, i) => [value, words[i]]);
    }

    /* The y axis of the first other metric: [px, word] and its colour. */
    right() {
      const other = this.others.find((one) => !one.hidden && one.axis);
      if (!other) return null;
      const { axis } = other, at = axis.log ? scale.decades(axis.lo, axis.hi).map((one) => [one, scale.decade(one)]) : this.plain(7, axis);
      return { colour: other.colour, ticks: at.map(([value, word]) => [other.y(value), word]) };
    }

    /* Incidents to mark: in the chart of one, that one. */
    marks() { return this.board.header.marks.filter((mark) => !this.moment || mark[4] === `#${this.moment}`); }

    colour() { return getComputedStyle(this.figure).getPropertyValue("--sg-c").trim() || this.board.colours.text; }

    draw(u) {
      if (!this.columns) return;
      const { ctx } = u;
      ctx.save();
      ctx.scale(uPlot.pxRatio, uPlot.pxRatio);
      layers.paint(charts.pen.canvas(ctx, this.board.colours.font), this.geometry(u), this.picture());
      ctx.restore();
    }

    /* Links to incidents and handles of phases, over the canvas. */
    hang() {
      const { board, state } = this, plot = this.geometry(), inside = (x) => x >= 0 && x <= plot.width;
      this.overlay.textContent = "";
      if (!state.off.has("incidents")) {
        for (const [step, severity, , title, href] of this.marks()) {
          const x = plot.x(board.place.x(step)) - plot.left;
          if (!inside(x) || severity === "info") continue;
          const link = document.createElement("a");
          Object.assign(link, { href, title, tabIndex: -1, className: "sg-over-mark" });
          link.setAttribute("aria-hidden", "true");
          link.style.left = `${x}px`;
          link.addEventListener("mousedown", (event) => event.stopPropagation());
          this.overlay.append(link);
        }
      }
      if (state.off.has("phases")) return;
      for (const [phase, word, first, last] of board.header.phases) {
        const from = Math.max(0, plot.x(board.place.x(first)) - plot.left);
        const to = Math.min(plot.width, plot.x(board.place.x(last + 1)) - plot.left);
        if (to - from < 2) continue;
        const handle = document.createElement("button");
        Object.assign(handle, { type: "button", tabIndex: -1, className: `sg-over-phase sg-bg-${phase}`, title: t("{word}, steps {first} to {last}: zoom to it", { word, first, last }) });
        handle.setAttribute("aria-hidden", "true");
        handle.style.left = `${from}px`;
        handle.style.width = `${to - from}px`;
        handle.addEventListener("mousedown", (event) => event.stopPropagation());
        handle.addEventListener("click", () => board.zoom([first, Math.max(last, first + 1)], this));
        this.overlay.append(handle);
      }
    }

    pointed(event) {
      const { over } = this.plot, x = event.clientX - over.getBoundingClientRect().left;
      if (x >= 0 && x <= over.clientWidth) this.board.point(this.plot.posToVal(x, "x"), this);
    }

    selected(u) {
      const { left, width } = u.select;
      if (width < 4) return;
      const [from, to] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
      u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      this.board.zoom([from, to].map((x) => this.board.place.step(x)), this);
    }

    /* The row nearest to x on the axis, in words and numbers; null where there is none. */
    read(x) {
      const { live, odd, forks } = this.seen, { place } = this.board;
      const i = live.n ? points.nearest(live, x) : -1;
      let found = i < 0 ? null : { x: live.x[i], step: live.step[i], last: live.last[i], low: live.low[i], high: live.high[i], value: live.middle[i] };
      for (const [step, kind] of odd) {
        const at = place.x(step);
        if (!found || Math.abs(at - x) < Math.abs(found.x - x)) found = { x: at, step, last: step, kind };
      }
      if (!found) return null;
      const exact = this.seen.exact || found.kind;
      found.word = found.kind ? { nan: "NaN", inf: "inf", "-inf": "-inf", null: "null" }[found.kind]
        : exact ? scale.whole(found.value) : found.low === found.high ? `≈ ${scale.human(found.value, 4)}` : `≈ ${scale.human(found.low, 4)} to ${scale.human(found.high, 4)}`;
      found.short = found.kind ? found.word : scale.human(found.value, 4);
      found.smooth = found.kind ? null : this.smoothed(found.x);
      found.rewritten = forks.flatMap((fork) => {
        const at = fork.step.indexOf(found.step);
        return at < 0 ? [] : [fork.middle[at]];
      });
      return found;
    }

    smoothed(x) {
      if (this.state.smooth === "off" || !this.columns.banded || !this.columns.x.length) return null;
      const i = points.nearest({ x: this.columns.x, n: this.columns.x.length }, x);
      return this.columns.line[i];
    }

    /* Shows where the cursor of the page is; `mine`: with all there is to say. */
    show(x, mine) {
      const [from, to] = this.range, found = x === null || x < from || x > to ? null : this.read(x);
      if (mine && found) x = found.x;
      const left = found ? ((x - from) / (to - from)) * this.plot.over.clientWidth : -10;
      this.plot.setCursor({ left, top: found ? 1 : -10 }, false);
      if (this.note) this.note.textContent = found ? `${found.short} @ ${found.step}` : this.rest;
      this.note && this.note.classList.toggle("sg-at", Boolean(found));
      this.tip.hidden = !(mine && found);
      if (mine && found) this.tell(found, left);
      return found;
    }

    tell(found, left) {
      const { place, header } = this.board, lines = [];
      const steps = found.last > found.step ? t("steps {first} to {last}", { first: found.step, last: found.last }) : t("step {step}", { step: found.step });
      lines.push([place.key === "step" ? steps : `${steps} · ${scale.human(found.x, 4)} ${t(place.unit || place.label)}`, ""]);
      lines.push([`${found.word}${found.kind ? "" : ` ${this.metric.unit}`}`.trim(), "sg-tip-value"]);
      if (found.smooth !== null) lines.push([t("smoothed {value}", { value: scale.human(found.smooth, 4) }), ""]);
      found.rewritten.forEach((value) => lines.push([t("rewritten: {value}", { value: this.seen.exact ? scale.whole(value) : scale.human(value, 4) }), ""]));
      this.others.forEach((other) => lines.push(other.tell(found.x)));
      const phase = header.phases.find(([, , first, last]) => found.step >= first && found.step <= last);
      if (phase) lines.push([phase[1], ""]);
      header.marks.filter((mark) => mark[0] === found.step).forEach((mark) => lines.push([mark[3], ""]));
      this.tip.replaceChildren(...lines.map(([words, tag]) => {
        const line = document.createElement("div");
        line.textContent = words;
        line.className = tag;
        return line;
      }));
      const width = this.plot.over.clientWidth, wide = this.tip.offsetWidth;
      this.tip.style.left = `${left + 10 + wide > width + 8 ? Math.max(-40, left - wide - 10) : left + 10}px`;
      this.said = lines.map(([words]) => words).join(", ");
    }

    resize() {
      const [width, height] = this.size();
      if (width > 0 && (width !== this.plot.width || height !== this.plot.height)) {
        this.plot.setSize({ width, height });
        this.refresh();
      }
    }

    destroy() {
      this.plot.destroy();
      this.plot = null;
      this.node.remove();
      this.figure.classList.remove("sg-alive");
      if (this.note) this.note.textContent = this.rest;
    }
  }

  charts.LAYERS = [
    ["band", "smallest to largest"], ["line", "smoothed"], ["rewritten", "rewritten rows"],
    ["limits", "thresholds"], ["phases", "phases"], ["incidents", "incidents"],
  ];
  charts.Chart = Chart;
})();
