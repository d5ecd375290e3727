/* Where two runs part: the page says the definition in the words of `MEANS`. */
(() => {
  "use strict";

  const { compare, t } = window.sitegen;
  const TIMES = 3, STAY = 10, WINDOW = 5, FEWEST = 8;

  const MEANS = t("Compared are the steps that both runs logged. The noise of a run is the median change from one of them to the next, times 1.4826 / √2 (the standard deviation, where the noise is normal). Two runs part at the first step from which on the running median of {window} of their difference is larger than {times} × √(noise² + noise²) at {stay} shared steps in a row, or at all that are left if at least 3 are. Beside it: the first step at which they did not log the very same number.", { window: WINDOW, times: TIMES, stay: STAY });

  const median = (numbers) => {
    const sorted = Float64Array.from(numbers).sort(), middle = (sorted.length - 1) / 2;
    return sorted.length ? (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2 : NaN;
  };

  const noise = (values) => (1.4826 / Math.SQRT2) * median(values.slice(1).map((one, i) => Math.abs(one - values[i])));

  /* Values of two lines at the steps that both have. */
  const shared = (a, b) => {
    const out = { step: [], a: [], b: [] };
    for (let i = 0, j = 0; i < a.n && j < b.n;) {
      if (a.step[i] < b.step[j]) i += 1;
      else if (a.step[i] > b.step[j]) j += 1;
      else {
        out.step.push(a.step[i]);
        out.a.push(a.middle[i]);
        out.b.push(b.middle[j]);
        i += 1;
        j += 1;
      }
    }
    return out;
  };

  /* { shared, same: first step with another number or null, step: where they part or null, least: threshold };
     `few` where too few steps are shared to say. */
  const apart = (one, other) => {
    const { step, a, b } = shared(one, other), n = step.length;
    const odd = step.findIndex((_, i) => a[i] !== b[i]), same = odd < 0 ? null : step[odd];
    if (n < FEWEST) return { shared: n, few: true, same, step: null };
    const far = a.map((value, i) => value - b[i]);
    const middle = far.map((_, i) => Math.abs(median(far.slice(Math.max(0, i - (WINDOW >> 1)), i + (WINDOW >> 1) + 1))));
    const size = Math.max(...a.map(Math.abs), ...b.map(Math.abs));
    const least = Math.max(TIMES * Math.hypot(noise(a), noise(b)), 1e-9 * size);
    for (let i = 0, streak = 0; i < n; i += 1) {
      streak = middle[i] > least ? streak + 1 : 0;
      if (streak === STAY || (i === n - 1 && streak >= 3)) return { shared: n, same, step: step[i - streak + 1], least };
    }
    return { shared: n, same, step: null, least };
  };

  compare.apart = { apart, noise, MEANS };
})();
