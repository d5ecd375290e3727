/* One metric of one run, or the mean of several seeds, along the axis that all runs of the page share. */
(() => {
  "use strict";

  const { compare, charts, t } = window.sitegen;

  /* y at x for rising xs; NaN outside of them. */
  const at = (xs, ys, x) => {
    const n = xs.length;
    if (!n || x < xs[0] || x > xs[n - 1]) return NaN;
    const i = charts.points.search({ x: xs, n }, x);
    if (xs[i] === x || i === 0) return ys[i];
    return ys[i - 1] + ((x - xs[i - 1]) / (xs[i] - xs[i - 1])) * (ys[i] - ys[i - 1]);
  };

  /* First step of the first stretch of a phase, null where the run has none. */
  const begins = (run, phase) => {
    const found = run.data.header.phases.filter(([name]) => name === phase).map(([, , first]) => first);
    return found.length ? Math.min(...found) : null;
  };

  /* How rows and buckets of `run` lie on axis `x`, with the start of phase `from` at 0; a word where they cannot. */
  const place = async (run, x, from) => {
    const { data } = run, { header } = data;
    let along = { key: x, row: (i) => data.steps[i], x: (step) => step };
    if (x !== "step") {
      const i = header.axes.findIndex(([key]) => key === x);
      if (i < 0) return { word: { time: t("logs no wall time"), tokens: t("logs no tokens") }[x] || t("logs no epoch") };
      const values = await data.exact(header.metrics.length + i), live = data.steps.slice(0, data.live);
      along = { key: x, row: (row) => values[row], x: (step) => at(live, values, Math.max(live[0], Math.min(live[live.length - 1], step))) };
    }
    let zero = 0;
    if (from) {
      const step = begins(run, from);
      if (step === null) return { word: t("has no phase “{phase}”", { phase: from }) };
      zero = along.x(step);
    }
    const row = (i) => along.row(i) - zero;
    const bucket = (b) => (row(data.starts[b]) + row(data.starts[b] + data.sizes[b] - 1)) / 2;
    return { row, bucket, x: (step) => along.x(step) - zero };
  };

  /* A run's metric as points: `values` are exact rows, or null for its picture. */
  const single = (run, k, values, where) => {
    const seen = charts.points.points(run.data, k, values, where);
    return { ...seen, odd: [...seen.odd].map(([step, kind]) => [where.x(step), kind]) };
  };

  /* Mean of several lines where two or more of them have a value, with the interval that holds the mean of all
     seeds with 95 % (t distribution); `t[df - 1]` is its quantile. */
  const mean = (lines, t) => {
    const grid = lines.reduce((longest, one) => (one.n > longest.n ? one : longest));
    const out = { n: 0, x: [], step: [], last: [], low: [], high: [], middle: [], of: [] };
    for (let i = 0; i < grid.n; i += 1) {
      const values = lines.map((one) => at(one.x, one.middle, grid.x[i])).filter((one) => !Number.isNaN(one));
      if (values.length < 2) continue;
      const n = values.length, centre = values.reduce((sum, one) => sum + one, 0) / n;
      const spread = Math.sqrt(values.reduce((sum, one) => sum + (one - centre) ** 2, 0) / (n - 1));
      const half = (t[n - 2] * spread) / Math.sqrt(n);
      out.x.push(grid.x[i]);
      out.step.push(grid.step[i]);
      out.last.push(grid.step[i]);
      out.middle.push(centre);
      out.low.push(centre - half);
      out.high.push(centre + half);
      out.of.push(n);
    }
    out.n = out.rows = out.x.length;
    out.breaks = new Uint8Array(out.n);
    return out;
  };

  compare.lines = { place, single, mean, begins, at };
})();
