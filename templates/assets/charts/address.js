/* What a reader sees as part of the address, so that a link shows it again. */
(() => {
  "use strict";

  const { charts } = window.sitegen;
  const KEYS = ["x", "zoom", "smooth", "log", "lin", "full", "off", "at", "chart", "with"];

  const many = (query, key) => (query.get(key) || "").split(",").filter(Boolean);
  const short = (step) => Number(step.toPrecision(8)).toString();

  /* State of the board in the address of this page, checked against what the run has. */
  const read = (header) => {
    const query = new URLSearchParams(location.search), state = {
      axis: "step", zoom: null, smooth: "auto", log: new Map(), full: new Set(many(query, "full")),
      off: new Set(many(query, "off")), at: null, chart: query.get("chart"), with: many(query, "with"),
    };
    if (header.axes.some(([key]) => key === query.get("x"))) state.axis = query.get("x");
    const zoom = (query.get("zoom") || "").split("..").map(Number);
    if (zoom.length === 2 && zoom.every(Number.isFinite) && zoom[1] > zoom[0] && query.get("zoom")) state.zoom = zoom;
    const smooth = query.get("smooth");
    if (smooth === "off") state.smooth = "off";
    else if (Number(smooth) > 0 && Number(smooth) < 1) state.smooth = Number(smooth);
    many(query, "log").forEach((id) => state.log.set(id, true));
    many(query, "lin").forEach((id) => state.log.set(id, false));
    if (query.get("at") && Number.isFinite(Number(query.get("at")))) state.at = Number(query.get("at"));
    return state;
  };

  const query = (state) => {
    const chosen = new URLSearchParams(location.search);
    KEYS.forEach((key) => chosen.delete(key));
    const log = [...state.log];
    const values = {
      x: state.axis === "step" ? "" : state.axis,
      zoom: state.zoom ? state.zoom.map(short).join("..") : "",
      smooth: state.smooth === "auto" ? "" : String(state.smooth),
      log: log.filter(([, on]) => on).map(([id]) => id).join(","),
      lin: log.filter(([, on]) => !on).map(([id]) => id).join(","),
      full: [...state.full].join(","), off: [...state.off].join(","),
      at: state.at === null ? "" : short(state.at), chart: state.chart || "", with: state.chart ? state.with.join(",") : "",
    };
    for (const [key, value] of Object.entries(values)) if (value) chosen.set(key, value);
    const text = chosen.toString().replace(/%2C/g, ",");
    return text ? `?${text}` : location.pathname;
  };

  const write = (state) => {
    const target = query(state) + location.hash;
    if (target !== location.search + location.hash) history.replaceState(history.state, "", target);
  };

  charts.address = { read, write };
})();
