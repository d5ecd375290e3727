/* All charts of a page together: what they share, which of them are alive, and where the cursor is. */
(() => {
  "use strict";

  const { charts } = window.sitegen;
  const NEAR = "300px", FAR = 2400;

  const colours = () => {
    const style = getComputedStyle(document.body), of = (name) => style.getPropertyValue(name).trim();
    return {
      text: of("--sg-text"), muted: of("--sg-text-2"), grid: of("--sg-grid"), lane: of("--sg-surface-2"), surface: of("--sg-surface"),
      font: style.fontFamily, phaseAlpha: Number(of("--sg-phase-opacity")) || 0.2,
      phase: (name) => of(`--sg-p-${name}`) || of("--sg-grid"),
      severity: (word) => of(`--sg-${word === "critical" ? "error" : word}`),
    };
  };

  /* Positions between known ones: y at x, for rising xs. */
  const between = (xs, ys, n) => (x) => {
    const i = charts.points.search({ x: xs, n }, x);
    if (i <= 0) return ys[0] + (xs[0] === x ? 0 : (x - xs[0]) * slope(xs, ys, 0, n));
    if (i >= n) return ys[n - 1] + (x - xs[n - 1]) * slope(xs, ys, n - 2, n);
    const span = xs[i] - xs[i - 1];
    return span ? ys[i - 1] + ((x - xs[i - 1]) / span) * (ys[i] - ys[i - 1]) : ys[i];
  };
  const slope = (xs, ys, i, n) => (n > 1 && xs[i + 1] > xs[i] ? (ys[i + 1] - ys[i]) / (xs[i + 1] - xs[i]) : 0);

  class Board {
    constructor(root, data) {
      Object.assign(this, { root, data, header: data.header, alive: new Map(), colours: colours() });
      this.all = this.header.frame;
      this.state = charts.address.read(this.header);
      this.byId = new Map(this.header.metrics.map((metric, k) => [metric.id, k]));
      this.place = this.steps();
      this.cursor = this.here = null;
      this.touched = this.state.at !== null; /* a link to a step is about its exact values */
    }

    async start() {
      await this.along(this.state.axis);
      if (this.state.at !== null) this.cursor = this.raw = this.place.x(this.state.at);
      this.speaker = document.createElement("p");
      this.speaker.className = "sg-visually-hidden";
      this.speaker.setAttribute("role", "status");
      this.root.append(this.speaker);
      this.tools = charts.tools(this);
      const figures = [...document.querySelectorAll("[data-sg-chart]")].filter((one) => this.byId.has(one.dataset.sgChart));
      figures.forEach((figure) => charts.menu(this, figure));
      this.near = new IntersectionObserver((seen) => seen.forEach((one) => this.seen(one)), { rootMargin: NEAR });
      figures.forEach((figure) => this.near.observe(figure));
      new ResizeObserver(() => this.alive.forEach((chart) => chart.resize())).observe(this.root);
      const recolour = () => {
        this.colours = colours();
        this.refresh();
      };
      new MutationObserver(recolour).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
      window.addEventListener("keydown", (event) => charts.keys(this, event));
      this.ribbon();
      if (this.state.chart && this.byId.has(this.state.chart)) await charts.full.open(this, this.byId.get(this.state.chart));
      document.documentElement.dataset.sgCharts = "alive";
      performance.mark("sitegen:alive");
    }

    /* A chart comes to life near the screen, and rests again far from it. */
    async seen({ target, isIntersecting, boundingClientRect: box }) {
      const chart = this.alive.get(target);
      if (isIntersecting && !chart && target.clientWidth) {
        const steps = target.dataset.sgWindow && target.dataset.sgWindow.split(",").map(Number);
        const k = this.byId.get(target.dataset.sgChart), values = await this.ready(k);
        if (this.alive.has(target)) return;
        const made = this.raise(target, k, { window: steps || null, values });
        if (!made) return;
        this.alive.set(target, made);
        if (this.touched) made.sharpen();
        if (this.cursor !== null) made.show(this.cursor, false);
      } else if (!isIntersecting && chart && (!box.width || Math.abs(box.top) > FAR) && chart !== this.here) {
        chart.destroy();
        this.alive.delete(target);
      }
    }

    /* A chart over its drawing; where that fails the drawing stays. */
    raise(figure, k, how) {
      try {
        return new charts.Chart(this, figure, k, how);
      } catch (fault) {
        figure.classList.remove("sg-alive");
        figure.querySelectorAll(".sg-live").forEach((node) => node.remove());
        document.documentElement.dataset.sgCharts = `still: ${fault.message}`;
        return null;
      }
    }

    /* Exact values where there is no picture, else null and the picture is there: a chart asks when it is touched. */
    async ready(k) {
      if (!this.header.exact) return this.data.exact(k);
      await this.data.ready(k);
      return null;
    }

    get shown() { return [...this.alive.values(), ...(this.large ? [this.large] : [])]; }

    steps() {
      const { data } = this;
      return {
        key: "step", label: "step", unit: "", x: (step) => step, step: (x) => x, row: (i) => data.steps[i],
        bucket: (b) => (data.steps[data.starts[b]] + data.steps[data.starts[b] + data.sizes[b] - 1]) / 2,
      };
    }

    /* Puts all charts over another axis. */
    async along(key) {
      const i = this.header.axes.findIndex(([one]) => one === key);
      if (i < 0) this.place = this.steps();
      else {
        const { data } = this, at = await data.exact(this.header.metrics.length + i), [, label, unit] = this.header.axes[i];
        this.place = {
          key, label, unit, row: (row) => at[row], x: between(data.steps, at, data.live), step: between(at, data.steps, data.live),
          bucket: (b) => (at[data.starts[b]] + at[data.starts[b] + data.sizes[b] - 1]) / 2,
        };
      }
      this.state.axis = this.place.key;
    }

    /* State changed: everything again, and the address says so. */
    refresh() {
      this.shown.forEach((chart) => chart.refresh());
      charts.address.write(this.state);
      if (this.tools) this.tools.update();
      if (this.cursor !== null) this.point(this.raw, this.here);
    }

    /* More exact numbers are there. */
    again(chart) {
      if (this.cursor === null) return;
      if (chart === this.here) this.point(this.raw, chart); /* it knows better now which row that is */
      else chart.show(this.cursor, false);
    }

    /* First touch: from now on every chart in sight has its exact values. */
    touch() {
      if (this.touched) return;
      this.touched = true;
      this.shown.forEach((chart) => chart.sharpen());
    }

    zoom(steps, chart) {
      this.touch();
      if (steps) {
        let [from, to] = steps;
        const least = 2, middle = (from + to) / 2;
        if (to - from < least) [from, to] = [middle - least / 2, middle + least / 2];
        from = Math.max(this.all[0], to - from > 40 ? Math.round(from) : from);
        to = Math.min(this.all[1], to - from > 40 ? Math.round(to) : to);
        steps = to - from >= this.all[1] - this.all[0] ? null : [from, to];
      }
      if (chart && chart.own) {
        chart.first = chart.first || chart.own;
        chart.own = steps || chart.first;
        chart.refresh();
      } else {
        this.state.zoom = steps;
        this.refresh();
      }
    }

    /* The cursor is at x of the axis, on `chart`. */
    point(x, chart) {
      this.touch();
      this.here = chart;
      const found = chart && chart.read(x);
      this.raw = x;
      if (found) x = found.x;
      this.cursor = x;
      if (chart) chart.sharpen();
      this.shown.forEach((one) => one !== chart && one.show(x, false));
      if (chart) chart.show(x, true);
    }

    leave(chart) {
      if (this.here !== chart) return;
      this.here = null;
      this.cursor = this.raw = this.state.at === null ? null : this.place.x(this.state.at);
      this.shown.forEach((one) => one.show(this.cursor, false));
    }

    /* Keeps the cursor at a step, also in the address; null lets it go. */
    pin(step) {
      this.state.at = step;
      charts.address.write(this.state);
      this.tools.update();
      this.cursor = this.raw = step === null ? null : this.place.x(step);
      this.shown.forEach((one) => one.show(this.cursor, one === this.here));
    }

    say(words) { this.speaker.textContent = words; }

    /* Phases of the ribbon zoom to themselves. */
    ribbon() {
      document.querySelectorAll(".sg-ribbon [data-sg-steps]").forEach((span) => {
        const steps = span.dataset.sgSteps.split(",").map(Number), zoom = () => this.zoom(steps[0] === steps[1] ? [steps[0] - 1, steps[1] + 1] : steps);
        span.classList.add("sg-phase--live");
        span.addEventListener("click", zoom);
      });
    }
  }

  charts.board = async (root, url) => {
    const board = new Board(root, await charts.read(url));
    await board.start();
    charts.page = board;
  };
})();
