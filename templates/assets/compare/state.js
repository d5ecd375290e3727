/* What a reader compares, as part of the address: a link shows it again. */
(() => {
  "use strict";

  const compare = (window.sitegen.compare = {});
  const MOST = 20;

  const many = (query, key) => [...new Set((query.get(key) || "").split(",").map((one) => one.trim()).filter(Boolean))];
  const short = (number) => Number(number.toPrecision(8)).toString();

  const read = () => {
    const query = new URLSearchParams(location.search), asked = many(query, "runs");
    query.getAll("run").forEach((id) => { if (id && !asked.includes(id)) asked.push(id); });
    const zoom = (query.get("zoom") || "").split("..").map(Number);
    const smooth = query.get("smooth");
    return {
      runs: asked.slice(0, MOST), beyond: asked.slice(MOST), metric: query.get("metric") || "",
      x: query.get("x") || "step", from: query.get("from") || "", log: query.has("log"), full: query.has("full"),
      smooth: smooth === "off" ? "off" : Number(smooth) > 0 && Number(smooth) < 1 ? Number(smooth) : "auto",
      off: new Set(many(query, "off")), seeds: query.get("seeds") === "mean", marks: query.get("marks") !== "off",
      zoom: query.get("zoom") && zoom.length === 2 && zoom.every(Number.isFinite) && zoom[1] > zoom[0] ? zoom : null,
    };
  };

  const address = (state) => {
    const query = new URLSearchParams();
    const values = {
      runs: state.runs.join(","), metric: state.metric, x: state.x === "step" ? "" : state.x, from: state.from,
      log: state.log ? "1" : "", full: state.full ? "1" : "", smooth: state.smooth === "auto" ? "" : String(state.smooth),
      off: [...state.off].join(","), seeds: state.seeds ? "mean" : "", marks: state.marks ? "" : "off",
      zoom: state.zoom ? state.zoom.map(short).join("..") : "",
    };
    for (const [key, value] of Object.entries(values)) if (value) query.set(key, value);
    const text = query.toString().replace(/%2C/g, ",").replace(/%2F/g, "/");
    return text ? `?${text}` : location.pathname;
  };

  /* `anew`: an entry of its own in the history, since other runs are shown. */
  const write = (state, anew = false) => {
    const target = address(state);
    if (target === location.search) return;
    try {
      if (anew) history.pushState(null, "", target);
      else history.replaceState(null, "", target + location.hash);
    } catch { /* a page opened as a file keeps its address */ }
  };

  Object.assign(compare, { MOST, state: { read, write, address } });
})();
