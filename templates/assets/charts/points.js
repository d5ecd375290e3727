/* Rows or buckets of a metric along an axis, and what of them a chart of so many columns shows. */
(() => {
  "use strict";

  const { charts } = window.sitegen;
  const GAP = 2.5; /* usual distances between rows that make a gap */
  const BUCKET = 3; /* fewest rows in a column: below that a band says nothing */
  const SMOOTHED = 10;

  const median = (numbers) => {
    const sorted = Float64Array.from(numbers).sort(), middle = (sorted.length - 1) / 2;
    return sorted.length ? (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2 : NaN;
  };

  /* Steps of a metric that carry no finite number: step -> "nan", "inf", "-inf", "null". */
  const lost = (metric) => {
    const out = new Map();
    for (const [kind, distances] of Object.entries(metric.lost)) {
      let step = 0;
      for (const distance of distances) out.set((step += distance), kind);
    }
    return out;
  };

  /* Where a line over rising `steps` must break: rows are missing, or a NaN lies between. */
  const breaks = (steps, odd) => {
    const out = new Uint8Array(steps.length);
    if (steps.length < 2) return out;
    const apart = new Float64Array(steps.length - 1);
    for (let i = 1; i < steps.length; i += 1) apart[i - 1] = steps[i] - steps[i - 1];
    const usual = steps.length > 3 ? GAP * median(apart) : Infinity;
    const marks = [...odd.keys()].sort((a, b) => a - b);
    for (let i = 1, m = 0; i < steps.length; i += 1) {
      while (m < marks.length && marks[m] <= steps[i - 1]) m += 1;
      if (apart[i - 1] > usual || (m < marks.length && marks[m] <= steps[i])) out[i] = 1;
    }
    return out;
  };

  /* Numbers of one piece of a metric in order: x, step, low, high, middle of each bucket (of a row: all the same). */
  const gather = (count, at) => {
    const out = { n: 0, x: [], step: [], last: [], low: [], high: [], middle: [] };
    for (let i = 0; i < count; i += 1) {
      const one = at(i);
      if (Number.isNaN(one.low)) continue;
      for (const part of ["x", "step", "last", "low", "high", "middle"]) out[part].push(one[part]);
    }
    out.n = out.x.length;
    return out;
  };

  /* `values`: exact rows of the metric, or null for its overview. `along(row)` and `centre(bucket)` place it on the axis. */
  const piece = (data, k, values, place, { row, rows, bucket, buckets }) => {
    if (values) {
      return gather(rows, (i) => {
        const value = values[row + i], step = data.steps[row + i];
        return { x: place.row(row + i), step, last: step, low: value, high: value, middle: value };
      });
    }
    const seen = data.seen(k);
    return gather(buckets, (i) => {
      const b = bucket + i, first = data.starts[b];
      const parts = { low: seen.low[b], high: seen.high[b], middle: seen.middle[b] };
      return { x: place.bucket(b), step: data.steps[first], last: data.steps[first + data.sizes[b] - 1], ...parts };
    });
  };

  /* The rows that count and the rewritten stretches of metric `k`, all on the axis that `place` describes. */
  const points = (data, k, values, place) => {
    const odd = lost(data.header.metrics[k]), found = [];
    let row = 0, bucket = 0;
    for (const [segment, rows, per] of data.header.pieces) {
      const buckets = Math.ceil(rows / per);
      const one = piece(data, k, values, place, { row, rows, bucket, buckets });
      one.breaks = breaks(one.step, segment < 0 ? odd : new Map());
      one.segment = segment;
      one.rows = values ? one.n : one.low.reduce((sum, low, i) => sum + (low === one.high[i] ? 1 : per), 0);
      found.push(one);
      row += rows;
      bucket += buckets;
    }
    const [live, ...forks] = found;
    return { live, forks: forks.filter((fork) => fork.n).map((fork) => led(fork, live, data)), odd, exact: Boolean(values) };
  };

  /* A rewritten stretch begins at the last row of its segment that was kept. */
  const led = (fork, live, data) => {
    let at = -1, row = 0;
    const kept = data.header.segments.flatMap(([segment, count]) => {
      row += count;
      return segment === fork.segment ? [[data.steps[row - count], data.steps[row - 1]]] : [];
    });
    for (let i = 0; i < live.n && live.step[i] < fork.step[0]; i += 1) {
      if (kept.some(([from, to]) => live.step[i] >= from && live.step[i] <= to)) at = i;
    }
    if (at < 0) return fork;
    const out = { ...fork, n: fork.n + 1 };
    for (const part of ["x", "step", "last", "low", "high", "middle"]) out[part] = [live[part][at], ...fork[part]];
    out.low[0] = out.high[0] = out.middle[0] = live.middle[at];
    out.breaks = Uint8Array.from([0, 0, ...fork.breaks.slice(1)]);
    return out;
  };

  const search = ({ x: xs, n }, x) => {
    let [low, high] = [0, n];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (xs[middle] < x) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  /* Index range of `one` that reaches just beyond [from, to], so that lines leave the picture. */
  const within = (one, [from, to]) => [Math.max(0, search(one, from) - 1), Math.min(one.n, search(one, to) + 1)];

  /* Median of 5, then mean of 3: noise goes, jumps stay sharp. */
  const calm = (middle) => {
    if (middle.length < SMOOTHED) return middle;
    const at = (list, i) => list[Math.max(0, Math.min(list.length - 1, i))];
    const steady = middle.map((_, i) => median([-2, -1, 0, 1, 2].map((j) => at(middle, i + j))));
    return steady.map((_, i) => (at(steady, i - 1) + at(steady, i) + at(steady, i + 1)) / 3);
  };

  /* Exponential mean of all of a line, corrected for its start; never across a break. */
  const exponential = (one, weight) => {
    let sum = 0, mass = 0;
    return one.middle.map((value, i) => {
      if (one.breaks[i]) sum = mass = 0;
      sum = sum * weight + (1 - weight) * value;
      mass = mass * weight + (1 - weight);
      return sum / mass;
    });
  };

  /* At most `columns` columns of `one` within a range: x, low, high and the line, null where the line is lifted.
     smooth: "auto" (running median), "off" (every value), or the weight of an exponential mean.
     raw: up to so many rows "auto" draws as they are. */
  const columns = (one, range, count, smooth, raw) => {
    const [from, to] = within(one, range), n = to - from, out = { x: [], low: [], high: [], line: [], banded: false };
    if (n <= 0) return out;
    const rowsEach = one.rows / Math.max(1, one.n);
    const dense = n > (smooth === "off" ? 4 : 1) * count || (smooth === "auto" && n > raw);
    const several = dense ? Math.max(1, Math.min(count, Math.floor(n / (rowsEach < 2 ? BUCKET : 1)))) : n;
    const mean = typeof smooth === "number" ? (one.means && one.weight === smooth ? one.means : (one.means = exponential(one, (one.weight = smooth)))) : null;
    const [left, right] = [one.x[from], one.x[to - 1]], width = (right - left) / several || 1;
    const groups = [];
    for (let i = from; i < to; i += 1) {
      const bin = several === n ? i : Math.min(several - 1, Math.floor((one.x[i] - left) / width));
      const last = groups[groups.length - 1];
      if (last && last.bin === bin && several !== n) last.to = i + 1;
      else groups.push({ bin, from: i, to: i + 1 });
    }
    out.banded = several !== n || rowsEach > 1 || mean !== null;
    let run = [];
    const flush = () => {
      const line = run.map((g) => g.line);
      const drawn = smooth === "auto" && out.banded ? calm(line) : line;
      run.forEach((g, i) => {
        out.x.push(g.x);
        out.low.push(g.low);
        out.high.push(g.high);
        out.line.push(drawn[i]);
      });
      run = [];
    };
    groups.forEach((g, i) => {
      if (i && one.breaks[g.from]) {
        const before = run[run.length - 1];
        flush();
        out.x.push((before.x + one.x[g.from]) / 2);
        [out.low, out.high, out.line].forEach((list) => list.push(null));
      }
      const middles = one.middle.slice(g.from, g.to);
      run.push({
        x: (one.x[g.from] + one.x[g.to - 1]) / 2,
        low: Math.min(...one.low.slice(g.from, g.to)),
        high: Math.max(...one.high.slice(g.from, g.to)),
        line: mean ? mean[g.to - 1] : median(middles),
      });
    });
    flush();
    return out;
  };

  /* All numbers of a line within a range, sorted: what an axis is chosen by. */
  const sorted = (one, [from, to]) => {
    const out = [];
    for (let i = 0; i < one.n; i += 1) {
      if (one.x[i] >= from && one.x[i] <= to) out.push(one.low[i], one.high[i], one.middle[i]);
    }
    return Float64Array.from(out).sort();
  };

  const nearest = (one, x) => {
    const i = search(one, x);
    if (i >= one.n) return one.n - 1;
    return i > 0 && x - one.x[i - 1] < one.x[i] - x ? i - 1 : i;
  };

  charts.points = { points, columns, sorted, nearest, search };
})();
