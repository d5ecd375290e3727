/* What a chart shows, drawn with any pen: phases, axes, rewritten rows, the band and its line, what is beyond. */
(() => {
  "use strict";

  const { charts, t } = window.sitegen;
  const LANE = 11, LINES = 12, ROOM = 12;
  const RANK = { critical: 0, error: 1, warning: 2, info: 3 };
  const KINDS = { nan: "NaN", inf: "inf", "-inf": "-inf", null: "null" };

  /* Lines [[x, y], …] without the nulls that lift the pen. */
  const lines = (xs, ys, plot) => {
    const out = [];
    let line = null;
    xs.forEach((x, i) => {
      if (ys[i] === null || Number.isNaN(ys[i])) line = null;
      else if (line) line.push([plot.x(x), plot.y(ys[i])]);
      else out.push((line = [[plot.x(x), plot.y(ys[i])]]));
    });
    return out;
  };

  const area = (xs, low, high, plot) => {
    const tops = lines(xs, high, plot), bottoms = lines(xs, low, plot);
    return tops.map((top, i) => [...top, ...bottoms[i].slice().reverse()]);
  };

  const box = (x, y, width, height) => [[[x, y], [x + width, y], [x + width, y + height], [x, y + height]]];

  const phases = (pen, plot, { phases: spans, colours, large }) => {
    for (const { phase, word, from, to } of spans) {
      const left = Math.max(plot.left, plot.x(from)), right = Math.min(plot.left + plot.width, plot.x(to));
      if (right > left) pen.fill(box(left, plot.top, right - left, plot.height), colours.phase(phase), colours.phaseAlpha);
      if (large && right - left > 7 * word.length) pen.text(word, left + 4, plot.top + 13, colours.muted, { size: 11 });
    }
  };

  const grid = (pen, plot, { colours, y, x, odd, right }) => {
    pen.stroke(y.map(([value]) => [[plot.left, plot.y(value)], [plot.left + plot.width, plot.y(value)]]), colours.grid);
    for (const [value, word] of y) if (!odd.length || plot.y(value) < plot.floor - 5) pen.text(word, plot.left - 6, plot.y(value) + 3, colours.muted, { align: "right", size: plot.font });
    const end = plot.left + plot.width;
    if (right) for (const [at, word] of right.ticks) pen.text(word, end + 6, at + (right.shift || 0) + 3, right.colour, { size: plot.font });
    const wide = (word) => 0.56 * plot.font * word.length, y0 = plot.top + plot.height + plot.font + 2;
    const ends = x.length > 1 ? [plot.left + wide(x[0][1]) + 4, end - wide(x[x.length - 1][1]) - 4] : [plot.left, end];
    x.forEach(([value, word], i) => {
      const first = i === 0, last = i === x.length - 1, at = first ? plot.left : last ? end : plot.x(value);
      if (!first && !last && (at - wide(word) / 2 < ends[0] || at + wide(word) / 2 > ends[1])) return;
      pen.text(word, at, y0, colours.muted, { align: first ? "left" : last ? "right" : "center", size: plot.font });
    });
    if (plot.note) pen.text(plot.note, plot.left + 3, plot.top + plot.font - 1, colours.muted, { size: plot.font });
  };

  const forks = (pen, plot, { forks: all, colour, units }) => {
    for (const fork of all) {
      const ys = fork.x.flatMap((_, i) => [units(fork.low[i]), units(fork.high[i])]);
      const drawn = fork.banded ? lines(fork.x.flatMap((x) => [x, x]), ys, plot) : lines(fork.x, fork.line.map(units), plot);
      pen.stroke(drawn, colour, { dash: [3, 2], alpha: 0.75 });
    }
  };

  const curve = (pen, plot, { columns, colour, units, layers, smooth }) => {
    const { x, low, high, line, banded } = columns;
    const [lows, highs] = [low.map(units), high.map(units)];
    if (banded && layers.band) {
      const raw = smooth === "off";
      const around = area(x, lows, highs, plot);
      pen.fill(around, colour, raw ? 0.55 : 0.26);
      pen.stroke(around, colour, { width: raw ? 1.1 : 0.7, alpha: raw ? 1 : 0.4, close: true });
    }
    if (!layers.line || (banded && smooth === "off")) return;
    const drawn = lines(x, line.map(units), plot);
    pen.stroke(drawn, colour, { width: 1.6 });
    const few = x.length <= 24 ? drawn.flat() : drawn.filter((one) => one.length === 1).flat();
    if (few.length) pen.stroke(few.map((point) => [point]), colour, { width: 5 });
  };

  /* Values beyond the border: one triangle per stretch, at its furthest. */
  const beyond = (pen, plot, { columns, colour, units }) => {
    const mark = (values, out, y, tip) => {
      let before = -Infinity;
      columns.x.forEach((x, i) => {
        if (values[i] === null || !out(units(values[i])) || plot.x(x) - before < ROOM) return;
        before = plot.x(x);
        pen.fill([[[before, y], [before - 3.5, tip], [before + 3.5, tip]]], colour);
      });
    };
    mark(columns.high, (v) => v > plot.hi, plot.top, plot.top + 5);
    mark(columns.low, (v) => v < plot.lo, plot.floor, plot.floor - 5);
  };

  const lane = (pen, plot, { odd, colours }) => {
    if (!odd.length) return;
    const y = plot.top + plot.height - LANE / 2;
    pen.fill(box(plot.left, plot.top + plot.height - LANE + 1, plot.width, LANE - 1), colours.lane);
    const kinds = [...new Set(odd.map(([, kind]) => kind))];
    const word = kinds.length > 1 ? "NaN/inf" : KINDS[kinds[0]];
    pen.text(word, plot.left - 6, y + 3, colours.muted, { align: "right", size: plot.font });
    const signs = {
      nan: (x) => [[[x - 2, y - 2], [x + 2, y + 2]], [[x + 2, y - 2], [x - 2, y + 2]]],
      inf: (x) => [[[x - 2, y + 2], [x, y - 2], [x + 2, y + 2]]],
      "-inf": (x) => [[[x - 2, y - 2], [x, y + 2], [x + 2, y - 2]]],
      null: (x) => [[[x - 2, y], [x + 2, y]]],
    };
    const taken = new Set();
    const marks = odd.flatMap(([x, kind]) => {
      const place = `${Math.round(plot.x(x) / 5)} ${kind}`;
      if (taken.has(place) || plot.x(x) < plot.left - 1 || plot.x(x) > plot.left + plot.width + 1) return [];
      taken.add(place);
      return signs[kind](plot.x(x));
    });
    pen.stroke(marks, colours.text, { width: 1.4 });
  };

  const limits = (pen, plot, { limits: all, colours, units }) => {
    for (const { label, x, values } of all) {
      const ys = values.map(units);
      const seen = ys.some((y) => y >= plot.lo && y <= plot.hi);
      const end = Math.max(plot.left + 20, Math.min(plot.left + plot.width, plot.x(x[x.length - 1])));
      if (!seen) {
        const up = ys[ys.length - 1] > plot.hi;
        pen.text(t(up ? "{label}, above" : "{label}, below", { label }), plot.left + plot.width, up ? plot.top + plot.font : plot.floor - 4, colours.text, { align: "right", size: plot.font, halo: colours.surface });
        continue;
      }
      const path = lines(x, ys, plot);
      if (plot.x(x[x.length - 1]) - plot.x(x[0]) < plot.width / 6) {
        const line = path[path.length - 1];
        line.push([line[line.length - 1][0] + plot.width / 6, line[line.length - 1][1]]);
      }
      pen.stroke(path, colours.text, { dash: [6, 3] });
      const high = plot.y(ys[ys.length - 1]) - 4;
      const align = end > plot.left + plot.width / 2 ? "right" : "left";
      pen.text(label, end, high < plot.top + plot.font ? high + plot.font + 6 : high, colours.text, { align, size: plot.font, halo: colours.surface });
    }
  };

  const shapes = {
    critical: (x, y) => [[x, y + 0.5], [x + 4, y + 4.5], [x, y + 8.5], [x - 4, y + 4.5]],
    error: (x, y) => [[x - 4, y + 1], [x + 4, y + 1], [x, y + 8.5]],
    warning: (x, y) => [[x - 4, y + 8.5], [x + 4, y + 8.5], [x, y + 1]],
  };

  const marks = (pen, plot, { marks: all, colours, large }) => {
    const inside = all.filter((mark) => shapes[mark.severity] && plot.x(mark.x) >= plot.left - 0.5 && plot.x(mark.x) <= plot.left + plot.width + 0.5);
    const lined = new Set([...inside].sort((a, b) => RANK[a.severity] - RANK[b.severity] || a.x - b.x).slice(0, LINES));
    let named = -Infinity;
    for (const mark of inside) {
      const x = plot.x(mark.x), colour = colours.severity(mark.severity);
      if (lined.has(mark)) pen.stroke([[[x, plot.top], [x, plot.top + plot.height]]], colour, { dash: [3, 2], width: 1.1 });
      const shape = [shapes[mark.severity](x, plot.top - 11)];
      pen.fill(shape, mark.severity === "warning" ? colours.surface : colour);
      pen.stroke(shape, colour, { close: true });
      if (large && x - named > 46) {
        pen.text(mark.label, Math.min(x, plot.left + plot.width - 20), plot.top - 15, colour, { size: 11, align: "center" });
        named = x;
      }
    }
  };

  /* Everything of a chart, the farthest first. */
  const paint = (pen, plot, seen) => {
    const { layers } = seen;
    if (layers.phases) phases(pen, plot, seen);
    grid(pen, plot, seen);
    pen.clip(plot.left, plot.top - 1, plot.width + 1, plot.height + 2, () => {
      if (layers.rewritten) forks(pen, plot, seen);
      curve(pen, plot, seen);
      seen.others.forEach((other) => curve(pen, { ...plot, y: other.y }, other));
      beyond(pen, plot, seen);
      if (layers.limits) limits(pen, plot, seen);
    });
    lane(pen, plot, seen);
    if (layers.incidents) marks(pen, plot, seen);
    if (seen.empty) pen.text(seen.empty, plot.left + plot.width / 2, plot.top + plot.height / 2, seen.colours.muted, { align: "center", size: plot.font });
  };

  charts.layers = { paint, grid, lines, area, LANE };
})();
