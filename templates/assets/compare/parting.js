/* The table of where each run parts from the first one, per metric; values arrive while it is read. */
(() => {
  "use strict";

  const { compare, charts, t } = window.sitegen;
  const { make, button } = charts;

  const cell = (board, found, metric) => {
    if (!found) return make("span", { className: "sg-muted", textContent: t("not logged") });
    if (found.few) return make("span", { className: "sg-muted", textContent: t("{n} shared steps: too few", { n: found.shared }) });
    if (found.step === null) return make("span", { className: "sg-muted", textContent: found.same === null ? t("the very same numbers") : t("not beyond noise") });
    const go = button(t("step {step}", { step: found.step }), t("show the curves there"), () => board.lookAt(metric.key, found.step), "sg-chip");
    return make("span", {}, go, found.same !== null && found.same < found.step ? make("small", { className: "sg-line", textContent: t("other numbers from {step}", { step: found.same }) }) : "");
  };

  const exact = async (run, key) => {
    const k = run.metrics.get(key);
    if (k === undefined) return null;
    const step = { row: (i) => run.data.steps[i], bucket: () => 0, x: (at) => at };
    return charts.points.points(run.data, k, await run.data.exact(k), step).live;
  };

  /* Every metric of `metrics`, in turn: [metric, one answer per other run]. */
  const measured = async (board, metrics, tell) => {
    const [base, ...others] = board.runs, out = [];
    for (const metric of metrics) {
      const first = await exact(base, metric.key);
      const lines = await Promise.all(others.map((run) => exact(run, metric.key)));
      out.push([metric, lines.map((line) => (line && first ? compare.apart.apart(first, line) : null))]);
      tell(out.length);
      if (out.length % 4 === 0) await new Promise((done) => setTimeout(done)); /* the page stays alive */
    }
    return out;
  };

  const earliest = ([, found]) => Math.min(Infinity, ...found.map((one) => (one && one.step !== null && !one.few ? one.step : Infinity)));

  const parting = (board) => {
    const box = make("div", { id: "parting" }), [base, ...others] = board.runs;
    const means = make("p", { className: "sg-muted sg-small", textContent: compare.apart.MEANS });
    if (!others.length || !base.data) return make("p", { className: "sg-empty", textContent: others.length ? t("The first run has no curves.") : t("It takes two runs.") });
    const shared = board.metrics.filter(({ key }) => base.metrics.has(key) && others.some((run) => run.metrics.has(key)));
    const first = shared.filter((one) => one.first), begun = first.length ? first : shared.slice(0, 12);
    const status = make("p", { className: "sg-muted sg-small", textContent: "…" });
    const fill = async (metrics) => {
      const rows = await measured(board, metrics, (n) => { status.textContent = t("{n} of {all} metrics", { n, all: metrics.length }); });
      rows.sort((a, b) => earliest(a) - earliest(b));
      const heads = [compare.tables.th(t("Metric")), ...others.map((run) => make("th", { scope: "col", className: "sg-runhead" }, ...compare.tables.name(board, run)))];
      const list = rows.map(([metric, found]) => make("tr", {}, compare.tables.td([make("b", { textContent: metric.title }), metric.name === metric.title ? "" : make("code", { className: "sg-line", textContent: metric.name })]), ...found.map((one) => compare.tables.td(cell(board, one, metric)))));
      box.replaceChildren(compare.tables.table(heads, list), status);
      status.textContent = "";
      if (metrics.length < shared.length) status.append(button(t("All {n} metrics they share", { n: shared.length }), t("reads every value of these runs"), () => fill(shared)));
      box.dataset.sgFilled = String(metrics.length);
    };
    const near = new IntersectionObserver((seen) => {
      if (!seen.some((one) => one.isIntersecting)) return;
      near.disconnect();
      fill(begun).catch((fault) => { status.textContent = t("Not known: {why}", { why: fault.message }); });
    }, { rootMargin: "400px" });
    box.append(status);
    near.observe(box);
    return make("div", {}, make("p", {}, t("Each run beside the first, "), ...compare.tables.name(board, base), t(", metrics that part earliest first.")), box, make("details", { className: "sg-fold" }, make("summary", { textContent: t("What “part” means here") }), make("div", { className: "sg-fold-body" }, means)));
  };

  compare.parting = parting;
})();
