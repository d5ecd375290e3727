/* From values to axes: which range to show, where to put ticks, how to write numbers. As sitegen/charts/scale.py. */
(() => {
  "use strict";

  const { charts } = window.sitegen;
  const REACH = 1.5, FAR = 1.5, LOG_RATIO = 2000;

  const digits = (value, count) => value.toPrecision(count).replace(/(\.\d*?)0+($|e)/, "$1$2").replace(/\.($|e)/, "$1");

  const exponential = (value, count) => value.toExponential(count - 1).replace(/\.?0+e/, "e").replace("e+", "e");

  /* A number for people: 0.0351, 987, 1 245, 3.2M, 1e-6. */
  const human = (value, count = 3) => {
    if (Number.isNaN(value)) return "NaN";
    if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
    const size = Math.abs(value);
    if (size === 0) return "0";
    if (size < 1e-4 || size >= 1e15) return exponential(value, count);
    for (const [unit, sign] of [[1e12, "T"], [1e9, "G"], [1e6, "M"]]) if (size >= unit) return digits(value / unit, count) + sign;
    if (size >= 10 ** (count - 1)) return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
    return digits(value, count);
  };

  const at = (sorted, place) => sorted[Math.max(0, Math.min(sorted.length - 1, place))];

  /* Smallest and largest of `sorted` worth the height of a chart: lone spikes far from the rest are left out. */
  const robust = (sorted) => {
    const n = sorted.length, cut = n >= 8 ? Math.max(1, Math.floor(n / 100)) : 0;
    const low = at(sorted, cut), high = at(sorted, n - 1 - cut), reach = REACH * (high - low);
    if (!(reach > 0)) return [sorted[0], sorted[n - 1]];
    return [sorted.find((one) => one >= low - reach), sorted.findLast((one) => one <= high + reach)];
  };

  const isLog = (sorted, [low, high]) =>
    sorted[0] > 0 && high / low >= LOG_RATIO && at(sorted, Math.floor(sorted.length / 4)) * 30 < high;

  /* Thresholds near enough to share the picture. */
  const near = (limits, low, high) => {
    const reach = FAR * (high - low || Math.abs(high) || 1);
    return limits.flatMap(([, , values]) => values.filter((one) => one >= low - reach && one <= high + reach));
  };

  /* The y axis of `sorted` finite values. `log`: true, false, or undefined for what suits them. */
  const axis = (sorted, limits, { full = false, log, must = [] } = {}) => {
    if (!sorted.length) return { lo: 0, hi: 1, log: false, empty: true };
    let [low, high] = full ? [sorted[0], sorted[sorted.length - 1]] : robust(sorted);
    [low, high] = [Math.min(low, ...must), Math.max(high, ...must)];
    const also = near(limits, low, high);
    low = Math.min(low, ...also);
    high = Math.max(high, ...also);
    const wanted = log === undefined ? isLog(sorted, [low, high]) : log;
    if (wanted) {
      const least = sorted.find((one) => one > 0 && (full || one >= low)) || 1e-12;
      const top = Math.max(high, least);
      const pad = Math.max(0.05, 0.03 * Math.log10(top / least));
      return { lo: Math.log10(least) - pad, hi: Math.log10(top) + pad, log: true };
    }
    if (low === high) {
      const half = Math.abs(low) / 2 || 1;
      return { lo: low - half, hi: low + half, log: false };
    }
    if (low > 0 && low < 0.35 * (high - low)) low = 0;
    const pad = 0.04 * (high - low);
    return { lo: low === 0 ? 0 : low - pad, hi: high + pad, log: false };
  };

  const step = (span, count) => {
    const raw = span / Math.max(count, 1), size = 10 ** Math.floor(Math.log10(raw));
    return size * [1, 2, 2.5, 5, 10].find((nice) => nice * size >= raw * 0.999);
  };

  /* About `count` multiples of 1, 2, 2.5 or 5 x 10^n in [lo, hi]. */
  const ticks = (lo, hi, count, whole = false) => {
    if (!(hi > lo)) return [lo];
    let size = step(hi - lo, count);
    if (whole) size = Math.max(1, size === 2.5 ? 2 : size);
    const first = Math.ceil(lo / size - 1e-9), last = Math.floor(hi / size + 1e-9), out = [];
    for (let k = first; k <= last && out.length < 40; k += 1) out.push(k * size);
    return out;
  };

  /* Ticks of an x axis: both ends, and nice numbers that keep clear of them. */
  const ends = (lo, hi, count, whole) => {
    const clear = (hi - lo) / (count * 2.2), inner = ticks(lo, hi, count, whole);
    return [lo, ...inner.filter((one) => one >= lo + clear && one <= hi - clear), hi];
  };

  /* Labels of ticks, no digit too many; of numbers that differ little, what they add to the first one. */
  const labels = (values) => {
    if (values.length < 2) return values.map((one) => human(one));
    const size = Math.abs(values[1] - values[0]);
    const written = (value) => {
      const much = Math.abs(value);
      if (much < size * 1e-6) return "0";
      if (much < 1e-3 && size < 1e-3) {
        const count = 1 + Math.max(0, Math.floor(Math.log10(much) + 1e-9) - Math.floor(Math.log10(size) + 1e-9));
        return exponential(value, Math.abs(Number(value.toPrecision(count)) - value) < size / 100 ? count : count + 1);
      }
      for (const [unit, sign] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
        if (much >= unit) return `${fixed(value / unit, size / unit)}${sign}`;
      }
      return fixed(value, size);
    };
    const plain = values.map(written);
    if (plain.every((one) => one.length <= 7) && new Set(plain).size === plain.length) return plain;
    return values.map((one, i) => (i ? `+${human(one - values[0])}` : human(one, 4)));
  };

  const fixed = (value, size) => {
    const places = Math.max(0, -Math.floor(Math.log10(size) + 1e-9)) + 1;
    const text = value.toFixed(Math.min(places, 12));
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  };

  const decades = (lo, hi) => {
    const every = Math.max(1, Math.ceil((hi - lo) / 4)), out = [];
    for (let k = Math.ceil(lo); k <= Math.floor(hi); k += every) out.push(k);
    if (out.length > 1) return out;
    const fine = []; /* less than two decades: 1, 2, 5 of each */
    for (let k = Math.floor(lo); k <= Math.ceil(hi); k += 1) {
      for (const part of [1, 2, 5]) fine.push(k + Math.log10(part));
    }
    return fine.filter((one) => one >= lo && one <= hi);
  };

  const decade = (value) => human(Number((10 ** value).toPrecision(3)));

  /* A number to its last digit, as short as it can be said. */
  const whole = (value) => (value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential() : String(value));

  charts.scale = { human, whole, robust, axis, near, ticks, ends, labels, decades, decade };
})();
