/* One metric of all chosen runs in one chart: uPlot places, zooms and points; the strokes are those of other charts. */
(() => {
  "use strict";

  const { compare, charts, t } = window.sitegen;
  const { points, scale, layers } = charts;
  const CROWD = 3, NUMBERS = 12; /* runs with a strong band; px between numbers at line ends */
  const FEW = 24, SHORT = [90, 250]; /* rows drawn as they are: in any company; of small and large charts by themselves */

  class Overlay {
    /* `board` is the page: state, runs, colours. `figure` holds the chart; `small` ones only show. */
    constructor(board, figure, key, small = false) {
      Object.assign(this, { board, figure, key, small, lines: [], absent: [], cursor: null });
      this.node = document.createElement("div");
      this.node.className = "sg-live";
      this.node.setAttribute("aria-label", t("{title}, {n} runs over each other", { title: board.title(key), n: board.runs.length }));
      if (small) this.node.setAttribute("role", "img");
      else {
        this.node.tabIndex = 0;
        this.node.setAttribute("role", "application");
        this.node.setAttribute("aria-roledescription", t("interactive chart"));
      }
      figure.append(this.node);
      if (window.uPlot) this.build();
    }

    build() {
      const [width, height] = this.size();
      this.plot = new uPlot({
        width, height, padding: this.small ? [8, 8, 16, 44] : [14, 30, 22, 60], legend: { show: false },
        scales: { x: { time: false, range: () => this.range }, y: { range: () => [this.y.bottom, this.y.hi] } },
        axes: [{ show: false }, { show: false }],
        series: [{}, { paths: () => null, points: { show: false } }],
        cursor: {
          show: !this.small, y: false, points: { show: false }, drag: { x: !this.small, y: false, setScale: false, dist: 4 },
          bind: { dblclick: () => () => this.board.zoom(null) },
        },
        hooks: { draw: [() => this.draw()], setSelect: [(u) => this.selected(u)] },
      }, [[0, 1], [0, 1]], this.node);
      if (this.small) return;
      this.tip = document.createElement("div");
      this.tip.className = "sg-tip";
      this.tip.hidden = true;
      const { over } = this.plot;
      over.append(this.tip);
      this.flags = new compare.Flags(this);
      over.addEventListener("mousemove", (event) => this.point(this.plot.posToVal(event.clientX - over.getBoundingClientRect().left, "x")));
      over.addEventListener("mouseleave", () => this.point(null));
      over.addEventListener("click", () => this.node.focus({ preventScroll: true }));
    }

    get y() { return this.axis || { lo: 0, hi: 1, bottom: 0, log: false }; }

    size() {
      const style = getComputedStyle(this.figure);
      const width = Math.max(200, this.figure.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
      return [width, this.small ? 116 : Math.round(Math.max(230, Math.min(380, width * 0.45)))];
    }

    /* Reads the metric of every run that is not switched off; `exact`: every value, not its picture. */
    async load(exact = false) {
      const { board, key } = this, { state } = board, found = [], absent = [];
      const turn = (this.turn = {});
      await Promise.all(board.runs.map(async (run, place) => {
        const k = run.metrics.get(key);
        if (k === undefined) return absent.push([run, run.data ? t("not logged by this run") : t("no curves")]);
        const where = board.places.get(run.id);
        if (where.word) return absent.push([run, where.word]);
        const { header } = run.data;
        const values = exact || !header.exact || state.seeds ? await run.data.exact(k) : null;
        if (!values) await run.data.ready(k);
        return found.push({ run, place, ...board.look(place), ...compare.lines.single(run, k, values, where) });
      }));
      if (turn !== this.turn) return; /* something else was asked for meanwhile */
      found.sort((a, b) => a.place - b.place);
      this.absent = absent;
      this.lines = state.seeds ? this.joined(found) : found;
      this.refresh();
    }

    /* Lines of which those of one seed group are one, with the band of its mean. */
    joined(found) {
      const rest = [], groups = new Map();
      for (const line of found) {
        const { group } = line.run;
        if (group) groups.set(group, [...(groups.get(group) || []), line]);
        else rest.push(line);
      }
      for (const members of groups.values()) {
        const shown = members.filter((one) => !this.board.state.off.has(one.run.id));
        if (shown.length < 2) rest.push(...members);
        else rest.push({ ...shown[0], live: compare.lines.mean(shown.map((one) => one.live), this.board.quantiles), odd: shown.flatMap((one) => one.odd), seeds: shown.length });
      }
      return rest.sort((a, b) => a.place - b.place);
    }

    get shown() { return this.lines.filter((line) => !this.board.state.off.has(line.run.id)); }

    get whole() {
      const ends = this.shown.flatMap(({ live }) => (live.n ? [live.x[0], live.x[live.n - 1]] : []));
      const [from, to] = ends.length ? [Math.min(...ends), Math.max(...ends)] : [0, 1];
      return to > from ? [from, to] : [from - 0.5, from + 0.5];
    }

    get range() { return this.board.state.zoom || this.whole; }

    refresh() {
      if (!this.plot) return;
      const { state } = this.board, range = this.range, count = Math.max(40, Math.floor((this.plot.width - 60) / 2));
      /* Where one line has too many rows to show each, all are smoothed: bare noise beside calm looks like unrest. */
      const rows = this.shown.map(({ live }) => points.search(live, range[1]) - points.search(live, range[0]));
      const short = SHORT[this.small ? 0 : 1], raw = Math.max(...rows) > short ? FEW : short;
      this.columns = this.shown.map((line) => points.columns(line.live, range, count, state.smooth, raw));
      const sorted = Float64Array.from(this.shown.flatMap((line) => [...points.sorted(line.live, range)])).sort();
      const axis = scale.axis(sorted, [], { full: state.full, log: state.log || undefined });
      const tall = this.plot.bbox.height / uPlot.pxRatio, odd = this.shown.some((line) => line.odd.length);
      this.axis = { ...axis, bottom: axis.lo - (odd ? (axis.hi - axis.lo) * (layers.LANE / Math.max(1, tall - layers.LANE)) : 0) };
      this.plot.setData([range, [0, 1]], false);
      this.plot.batch(() => {
        this.plot.setScale("x", { min: range[0], max: range[1] });
        this.plot.setScale("y", { min: this.axis.bottom, max: this.axis.hi });
      });
      this.plot.redraw(false);
      if (this.flags) this.flags.place();
      if (this.cursor !== null) this.point(this.cursor);
    }

    units(value) {
      if (value === null || !this.y.log) return value;
      return value > 0 ? Math.log10(value) : this.y.lo - 1;
    }

    geometry() {
      const ratio = uPlot.pxRatio, box = this.plot.bbox, [from, to] = this.range, { bottom, hi, lo } = this.y;
      const plot = { left: box.left / ratio, top: box.top / ratio, width: box.width / ratio, height: box.height / ratio };
      plot.x = (value) => plot.left + ((value - from) / (to - from)) * plot.width;
      plot.y = (value) => plot.top + (1 - (Math.max(2 * bottom - hi, Math.min(2 * hi - bottom, value)) - bottom) / (hi - bottom)) * plot.height;
      return Object.assign(plot, { lo, hi, floor: plot.y(lo), font: this.small ? 10 : 12, note: this.y.log ? t("log scale") : "" });
    }

    draw() {
      const { ctx } = this.plot, ratio = uPlot.pxRatio;
      ctx.save();
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.paint(charts.pen.canvas(ctx, this.board.colours.font), this.geometry());
      ctx.restore();
    }

    /* Everything with any pen. */
    paint(pen, plot) {
      const { colours, state } = this.board, [from, to] = this.range, { y: axis } = this;
      const ys = axis.log ? scale.decades(axis.lo, axis.hi).map((at) => [at, scale.decade(at)]) : this.ticks(axis);
      const xs = scale.ends(from, to, this.small ? 3 : Math.max(3, Math.floor(plot.width / 110)), state.x === "step");
      const words = scale.labels(xs);
      if (!this.small && words.length) words[words.length - 1] += ` ${this.board.unit}`;
      layers.grid(pen, plot, { colours, y: ys, x: xs.map((at, i) => [at, words[i]]), odd: this.shown.flatMap((line) => line.odd) });
      if (!this.shown.length) {
        pen.text(this.lines.length ? t("every run is switched off") : t("no run has this here"), plot.left + plot.width / 2, plot.top + plot.height / 2, colours.muted, { align: "center", size: plot.font });
        return;
      }
      pen.clip(plot.left, plot.top - 1, plot.width + 1, plot.height + 2, () => this.curves(pen, plot));
      if (!this.small && state.marks) this.onsets(pen, plot);
      this.lost(pen, plot);
      if (!this.small) this.numbers(pen, plot);
    }

    ticks({ lo, hi }) {
      const at = scale.ticks(lo, hi, this.small ? 3 : 6), words = scale.labels(at);
      return at.map((one, i) => [one, words[i]]);
    }

    curves(pen, plot) {
      const { state } = this.board, crowd = this.shown.length > CROWD;
      this.shown.forEach((line, i) => {
        const { x, low, high, line: middle, banded } = this.columns[i];
        if (banded || line.seeds) {
          const around = layers.area(x, low.map((one) => this.units(one)), high.map((one) => this.units(one)), plot);
          pen.fill(around, line.colour, line.seeds ? 0.22 : state.smooth === "off" ? 0.5 : crowd ? 0.09 : 0.18);
        }
      });
      this.shown.forEach((line, i) => {
        const { x, line: middle } = this.columns[i], drawn = layers.lines(x, middle.map((one) => this.units(one)), plot);
        pen.stroke(drawn, line.colour, { width: this.small ? 1.3 : 1.9, dash: this.small ? line.dash.map((one) => one / 2) : line.dash });
        const alone = x.length <= 24 ? drawn.flat() : drawn.filter((one) => one.length === 1).flat();
        if (alone.length) pen.stroke(alone.map((point) => [point]), line.colour, { width: this.small ? 3.5 : 5 });
      });
    }

    /* Onsets of incidents of each run, as little flags at its place in the order. */
    onsets(pen, plot) {
      for (const line of this.shown) {
        for (const mark of compare.onsets(line, this.board)) {
          const x = plot.x(mark.x);
          if (!(x >= plot.left && x <= plot.left + plot.width)) continue;
          pen.stroke([[[x, plot.top], [x, plot.top + plot.height]]], line.colour, { dash: [1, 4], width: 1.1, alpha: 0.75 });
          pen.fill([[[x - 4, plot.top - 9], [x + 4, plot.top - 9], [x, plot.top - 1]]], line.colour);
        }
      }
    }

    /* Steps that carry NaN or an infinity: crosses in the colour of their run below the curves. */
    lost(pen, plot) {
      const all = this.shown.flatMap((line) => line.odd.map(([x]) => [plot.x(x), line.colour]));
      if (!all.length) return;
      const y = plot.top + plot.height - layers.LANE / 2, taken = new Set();
      pen.text("NaN/inf", plot.left - 6, y + 3, this.board.colours.muted, { align: "right", size: plot.font - 1 });
      for (const [x, colour] of all) {
        const spot = `${Math.round(x / 3)} ${colour}`;
        if (taken.has(spot) || x < plot.left || x > plot.left + plot.width) continue;
        taken.add(spot);
        pen.stroke([[[x - 2.5, y - 2.5], [x + 2.5, y + 2.5]], [[x + 2.5, y - 2.5], [x - 2.5, y + 2.5]]], colour, { width: 1.4 });
      }
    }

    /* The number of each run where its line ends, moved apart where lines end together. */
    numbers(pen, plot) {
      const ends = this.shown.flatMap((line, i) => {
        const { x, line: middle } = this.columns[i];
        const last = middle.findLastIndex((one) => one !== null);
        return last < 0 ? [] : [{ line, x: Math.min(plot.left + plot.width, plot.x(x[last])), y: Math.max(plot.top, Math.min(plot.floor, plot.y(this.units(middle[last])))) }];
      });
      const taken = [];
      for (const end of ends.sort((a, b) => a.y - b.y)) {
        let { y } = end;
        while (taken.some((other) => Math.abs(other.x - end.x) < 16 && Math.abs(other.y - y) < NUMBERS)) y += 1;
        taken.push({ x: end.x, y });
        pen.text(String(end.line.number), end.x + 4, y + 4, end.line.colour, { size: 11, bold: true, halo: this.board.colours.surface });
      }
    }

    selected(u) {
      const { left, width } = u.select;
      if (this.small || width < 4) return;
      const zoom = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
      u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      this.board.zoom(zoom);
    }

    /* What each run has nearest to x. */
    told(x) {
      return this.shown.flatMap((line) => {
        const { live } = line, i = live.n ? points.nearest(live, x) : -1;
        return i < 0 ? [] : [{ line, x: live.x[i], step: live.step[i], value: live.middle[i], half: line.seeds ? (live.high[i] - live.low[i]) / 2 : null, of: line.seeds && live.of[i], exact: line.exact }];
      });
    }

    point(x) {
      this.cursor = x;
      const found = x === null ? [] : this.told(x), [from, to] = this.range;
      const near = found.filter((one) => one.x >= from && one.x <= to);
      if (!near.length) {
        this.tip.hidden = true;
        this.plot.setCursor({ left: -10, top: -10 }, false);
        return "";
      }
      const best = near.reduce((a, b) => (Math.abs(b.x - x) < Math.abs(a.x - x) ? b : a));
      const left = ((best.x - from) / (to - from)) * this.plot.over.clientWidth;
      this.plot.setCursor({ left, top: 1 }, false);
      return this.tell(near.filter((one) => Math.abs(one.x - best.x) <= (to - from) / 30), best, left);
    }

    tell(found, best, left) {
      const { board } = this, rows = [...found].sort((a, b) => b.value - a.value);
      const head = `${board.state.x === "step" && !board.state.from ? t("step {step}", { step: best.step }) : `${scale.human(best.x, 4)} ${board.unit}`}`;
      const lines = [head, ...rows.map(({ line, value, half, of, exact, step }) => {
        const word = exact ? String(Number(value.toPrecision(12))) : `≈ ${scale.human(value, 4)}`;
        return `${line.number}  ${half === null ? word : t("{mean} ± {half} ({n} seeds)", { mean: scale.human(value, 4), half: scale.human(half, 2), n: of })}${step === best.step ? "" : `  @ ${step}`}`;
      })];
      this.tip.replaceChildren(...lines.map((words, i) => {
        const row = document.createElement("div");
        if (i) {
          const swatch = document.createElement("span");
          swatch.className = "sg-swatch";
          swatch.style.background = rows[i - 1].line.colour;
          row.append(swatch, " ");
        }
        row.append(words);
        return row;
      }));
      this.tip.hidden = false;
      const width = this.plot.over.clientWidth, wide = this.tip.offsetWidth;
      this.tip.style.left = `${left + 10 + wide > width ? Math.max(-40, left - wide - 10) : left + 10}px`;
      return lines.join(", ");
    }

    resize() {
      if (!this.plot) return;
      const [width, height] = this.size();
      if (width === this.plot.width && height === this.plot.height) return;
      this.plot.setSize({ width, height });
      this.refresh();
    }

    remove() {
      if (this.plot) this.plot.destroy();
      this.node.remove();
    }
  }

  compare.Overlay = Overlay;
})();
