/* The chosen runs: which of them the site has, what its API says of them, and the file of their charts. */
(() => {
  "use strict";

  const { compare, charts, t } = window.sitegen;
  const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]], COLOURS = 7;

  const json = async (url) => {
    const answer = await charts.fetched(url);
    if (!answer.ok) throw new Error(t("{status} for {path}", { status: answer.status, path: new URL(url).pathname }));
    return answer.json();
  };

  /* Index of the site: run -> { title, charts }, old names, removed runs. */
  const index = async (root) => {
    const told = await json(new URL("compare/runs.json", root));
    return {
      runs: new Map(told.runs.map(([id, title, drawn]) => [id, { title, drawn: Boolean(drawn) }])),
      aliases: new Map(Object.entries(told.aliases)), removed: new Map(Object.entries(told.removed)),
    };
  };

  /* Splits what was asked for into ids of runs and words about what is none. An old name leads to its run. */
  const known = (asked, site) => {
    const ids = [], lost = [];
    for (const one of asked) {
      const id = site.runs.has(one) ? one : site.aliases.get(one);
      if (id !== undefined && site.runs.has(id)) {
        if (!ids.includes(id)) ids.push(id);
      } else lost.push([one, site.removed.has(one) ? t("was removed {when}", { when: site.removed.get(one) }) : t("is no run of this site")]);
    }
    return { ids, lost };
  };

  const kept = new Map();
  const load = (id, site, root) => {
    if (!kept.has(id)) kept.set(id, bring(id, site, root));
    return kept.get(id);
  };

  const bring = async (id, site, root) => {
    const { title, drawn } = site.runs.get(id);
    const run = { id, title, href: new URL(`runs/${id}/${location.protocol === "file:" ? "index.html" : ""}`, root).href, data: null, told: null, faults: [] };
    const fault = (what) => (error) => { run.faults.push(t("{what}: {why}", { what, why: error.message })); };
    await Promise.all([
      json(new URL(`api/v1/runs/${id}.json`, root)).then((told) => { [run.told] = told.runs; }).catch(fault(t("its facts did not arrive"))),
      drawn && charts.read(new URL(`runs/${id}/data/charts.bin`, root)).then((data) => { run.data = data; }).catch(fault(t("its charts did not arrive"))),
    ]);
    if (!drawn) run.faults.push(t("it has no curves: fewer than two steps were logged"));
    const metrics = run.data ? run.data.header.metrics : [];
    run.metrics = new Map(metrics.map((metric, k) => [metric.key || metric.name, k]));
    return run;
  };

  /* Colour, dash and number of the run at a place: neighbours differ in both, no two of 28 in neither. */
  const look = (place, colours) => ({ colour: colours[place % COLOURS], dash: DASHES[place % DASHES.length], number: place + 1 });

  const colours = () => {
    const style = getComputedStyle(document.body), of = (name) => style.getPropertyValue(name).trim();
    return {
      text: of("--sg-text"), muted: of("--sg-text-2"), grid: of("--sg-grid"), lane: of("--sg-surface-2"), surface: of("--sg-surface"),
      font: style.fontFamily, runs: Array.from({ length: COLOURS }, (_, i) => of(`--sg-run-${i + 1}`)),
    };
  };

  compare.runs = { index, known, load, look, colours };
})();
