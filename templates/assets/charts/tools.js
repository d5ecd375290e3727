/* What is around the charts: the row of choices above them, the menu of each, the keys. */
(() => {
  "use strict";

  const { charts, t } = window.sitegen;
  const mean = (weight) => t("exp. mean {weight}", { weight });
  const SMOOTH = [["auto", t("running median")], ["off", t("off: every value")], ...[0.5, 0.8, 0.9, 0.95, 0.99].map((weight) => [weight, mean(weight)])];
  const HELP = [
    ["drag", "zoom; double click or Esc: all steps"], ["click", "keep the cursor there, for a link; again: let it go"],
    ["← →", "previous, next value; with Shift ten"], ["Home End", "first, last value"], ["+ −", "zoom in, out at the cursor"],
    ["[ ]", "move the zoomed part"], ["f", "full range of y, or the range of most values"], ["l", "logarithmic scale"], ["s", "next smoothing"],
    ["x", "next x axis"], ["g", "full screen"], ["m", "menu: PNG, SVG, CSV, link"], ["?", "this help"],
  ];

  const make = (tag, parts = {}, ...inside) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(parts)) {
      if (key.startsWith("aria-") || key === "role") node.setAttribute(key, value);
      else node[key] = value;
    }
    node.append(...inside);
    return node;
  };

  const choice = (label, name, options, change) => {
    const select = make("select", { className: "sg-choice", "aria-label": name }, ...options.map(([value, words]) => make("option", { value: String(value), textContent: words })));
    select.addEventListener("change", () => change(select.value));
    return [make("label", { className: "sg-tool" }, make("span", { textContent: label }), select), select];
  };

  const button = (words, title, click, className = "sg-chip") => {
    const node = make("button", { type: "button", className, textContent: words, title });
    node.addEventListener("click", click);
    return node;
  };

  /* The row above the charts. */
  const tools = (board) => {
    const { header, state } = board;
    const axes = [["step", t("step")], ...header.axes.map(([key, label, unit]) => [key, unit ? `${t(label)} (${t(unit)})` : t(label)])];
    const [xLabel, x] = choice("x", t("x axis"), axes, (key) => axis(board, key));
    const [smoothLabel, smooth] = choice(t("smoothing"), t("smoothing"), SMOOTH, (value) => smoothing(board, value));
    const log = button(t("log y"), t("logarithmic scale of all charts; of one: its menu"), () => flip(board, "log", "all"));
    const full = button(t("full y range"), t("also what lies far from the rest; of one: its menu"), () => flip(board, "full", "all"));
    const layers = charts.LAYERS.filter(([key]) => has(header, key)).map(([key, words]) => {
      const node = button(t(words), t("show or hide: {words}", { words: t(words) }), () => layer(board, key), `sg-chip sg-layer sg-layer--${key}`);
      return [key, node];
    });
    const zoomed = button("", t("back to all steps (Esc)"), () => board.zoom(null));
    const pinned = button("", t("let the cursor go"), () => board.pin(null));
    const help = button("?", t("keys"), () => charts.help(), "sg-chip sg-help-open");
    help.setAttribute("aria-label", t("Keys of the charts"));
    const row = make("div", { className: "sg-tools", role: "group", "aria-label": t("How charts are drawn") }, zoomed, pinned, xLabel, smoothLabel, log, full, make("span", { className: "sg-layers", role: "group", "aria-label": t("What charts show") }, ...layers.map(([, node]) => node)), help);
    board.root.querySelector(".sg-chips").after(row);
    if (!header.axes.length) xLabel.hidden = true;
    const how = board.root.querySelector(".sg-how");
    if (how) how.hidden = true; /* the names of the layers say it */
    const update = () => {
      x.value = state.axis;
      smooth.value = String(state.smooth);
      if (!smooth.value) smooth.append(make("option", { value: String(state.smooth), textContent: mean(state.smooth), selected: true }));
      log.setAttribute("aria-pressed", String(state.log.get("all") === true));
      full.setAttribute("aria-pressed", String(state.full.has("all")));
      layers.forEach(([key, node]) => node.setAttribute("aria-pressed", String(!state.off.has(key))));
      zoomed.hidden = !state.zoom;
      if (state.zoom) zoomed.textContent = t("steps {steps} ×", { steps: state.zoom.map((one) => charts.scale.human(one, 5)).join(" – ") });
      pinned.hidden = state.at === null;
      pinned.textContent = t("at step {step} ×", { step: state.at });
    };
    update();
    return { update, row };
  };

  const has = (header, key) => {
    if (key === "rewritten") return header.pieces.length > 1;
    if (key === "limits") return header.metrics.some((metric) => metric.limits.length);
    return key === "phases" ? header.phases.length > 0 : key === "incidents" ? header.marks.length > 0 : true;
  };

  const axis = async (board, key) => {
    board.touch();
    await board.along(key);
    board.cursor = null;
    board.refresh();
    board.say(t("x axis: {axis}", { axis: t(board.place.label) }));
  };

  const smoothing = (board, value) => {
    board.touch();
    board.state.smooth = Number(value) ? Number(value) : value;
    board.refresh();
    board.say(t("smoothing: {how}", { how: SMOOTH.find(([one]) => String(one) === String(value))[1] }));
  };

  const layer = (board, key) => {
    if (!board.state.off.delete(key)) board.state.off.add(key);
    board.refresh();
  };

  /* Log scale or full range, of one chart or of all. */
  const flip = (board, what, id) => {
    const { state } = board;
    board.touch();
    if (what === "full") {
      if (id === "all") state.full.has("all") ? state.full.clear() : (state.full = new Set(["all"]));
      else if (!state.full.delete(id)) state.full.add(id);
    } else if (id === "all") {
      const on = state.log.get("all") !== true;
      state.log.clear();
      if (on) state.log.set("all", true);
    } else {
      const chart = board.shown.find((one) => one.metric.id === id);
      state.log.set(id, !(chart && chart.y.log));
    }
    board.refresh();
  };

  /* The button of a chart that opens its menu. */
  const menu = (board, figure) => {
    const k = board.byId.get(figure.dataset.sgChart), metric = board.header.metrics[k];
    const open = make("button", { type: "button", className: "sg-menu-open", title: t("full screen, scales, files, link"), textContent: "⋯", "aria-label": t("Menu of {title}", { title: metric.title }), "aria-expanded": "false" });
    figure.querySelector("figcaption").append(open);
    open.addEventListener("click", () => unfold(board, figure, open, k));
  };

  let unfolded = null;
  const fold = () => {
    if (!unfolded) return;
    unfolded.list.remove();
    unfolded.open.setAttribute("aria-expanded", "false");
    unfolded = null;
  };

  const unfold = (board, figure, open, k) => {
    const again = unfolded && unfolded.open === open;
    fold();
    if (again) return;
    const chart = () => board.alive.get(figure) || board.large, { id } = board.header.metrics[k];
    const now = chart();
    const entry = (words, act, key = "") => {
      const node = button(words, "", async () => {
        fold();
        open.focus();
        await act();
      }, "sg-menu-entry");
      if (key) node.append(make("kbd", { textContent: key }));
      return node;
    };
    const list = make("div", { className: "sg-menu", role: "group", "aria-label": open.getAttribute("aria-label") },
      entry(t("Full screen"), () => charts.full.open(board, k), "g"),
      entry(now && now.y.log ? t("Linear scale") : t("Log scale"), () => flip(board, "log", id), "l"),
      entry(board.state.full.has(id) ? t("Range of most values") : t("Full y range"), () => flip(board, "full", id), "f"),
      entry(t("Save PNG"), () => charts.save.png(chart())), entry(t("Save SVG"), () => charts.save.svg(chart())),
      entry(t("Save CSV, every value"), () => charts.save.csv(chart())), entry(t("Copy link"), () => copy(board, id)));
    figure.append(list);
    open.setAttribute("aria-expanded", "true");
    unfolded = { list, open };
    list.querySelector("button").focus();
    list.addEventListener("keydown", (event) => {
      const all = [...list.children], at = all.indexOf(document.activeElement);
      if (event.key === "Escape") {
        fold();
        open.focus();
      } else if (event.key === "ArrowDown") all[(at + 1) % all.length].focus();
      else if (event.key === "ArrowUp") all[(at + all.length - 1) % all.length].focus();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  };
  document.addEventListener("pointerdown", (event) => {
    if (unfolded && !unfolded.list.contains(event.target) && event.target !== unfolded.open) fold();
  });

  const copy = async (board, id) => {
    const link = new URL(location.href);
    if (!board.state.chart) link.hash = id;
    try {
      await navigator.clipboard.writeText(link.href);
      board.say(t("The link is copied"));
    } catch {
      location.hash = link.hash; /* no clipboard here: at least the address has it */
      board.say(t("The address of this page is the link"));
    }
  };

  /* Keys of the chart that has the focus. */
  const keys = (board, event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const chart = board.shown.find((one) => one.node === event.target) || (board.large && board.large.node.isConnected ? board.large : null);
    if (!chart) return;
    const act = ACTS[event.key];
    if (act && act(board, chart, event) !== false) event.preventDefault();
  };

  const move = (by) => async (board, chart, event) => {
    const times = event.shiftKey ? 10 : 1;
    await chart.sharpen();
    const { live } = chart.seen, [from, to] = chart.range, { nearest } = charts.points;
    if (!live.n) return;
    const at = board.cursor === null ? nearest(live, by > 0 ? from : to) - by : nearest(live, board.cursor);
    go(board, chart, live.x[Math.max(0, Math.min(live.n - 1, at + by * times))]);
  };

  const end = (side) => async (board, chart) => {
    await chart.sharpen();
    const { live } = chart.seen, { nearest } = charts.points;
    if (live.n) go(board, chart, live.x[nearest(live, chart.range[side])]);
  };

  const go = (board, chart, x) => {
    const [from, to] = chart.range, { place } = board;
    if (x < from || x > to) {
      const half = (chart.steps[1] - chart.steps[0]) / 2, step = place.step(x);
      board.zoom([step - half, step + half], chart);
    }
    board.point(x, chart);
    board.say(chart.said || "");
  };

  const closer = (factor) => (board, chart) => {
    const [from, to] = chart.steps, { place } = board;
    const cursor = board.cursor === null ? (from + to) / 2 : place.step(board.cursor);
    board.zoom([cursor - (cursor - from) * factor, cursor + (to - cursor) * factor], chart);
  };

  const slide = (share) => (board, chart) => {
    const [from, to] = chart.steps, by = Math.max(board.all[0] - from, Math.min(board.all[1] - to, (to - from) * share));
    board.zoom([from + by, to + by], chart);
  };

  const escape = (board, chart) => {
    if (board.state.at !== null) board.pin(null);
    else if (chart.own && chart.first && chart.own !== chart.first) board.zoom(null, chart);
    else if (board.state.zoom) board.zoom(null);
    else return false; /* a dialog may close */
    return true;
  };

  const next = (list, now) => list[(list.findIndex((one) => String(one) === String(now)) + 1) % list.length];

  const ACTS = {
    ArrowRight: move(1), ArrowLeft: move(-1), Home: end(0), End: end(1), "+": closer(0.5), "=": closer(0.5), "-": closer(2), _: closer(2),
    "[": slide(-0.5), "]": slide(0.5), Escape: escape, 0: (board, chart) => board.zoom(null, chart),
    f: (board, chart) => flip(board, "full", chart.metric.id), l: (board, chart) => flip(board, "log", chart.metric.id),
    s: (board) => smoothing(board, next(SMOOTH.map(([value]) => value), board.state.smooth)),
    x: (board) => axis(board, next(["step", ...board.header.axes.map(([key]) => key)], board.state.axis)),
    g: (board, chart) => (chart.large ? charts.full.close() : charts.full.open(board, chart.k)),
    m: (board, chart) => chart.figure.querySelector(".sg-menu-open") && chart.figure.querySelector(".sg-menu-open").click(),
    Enter: (board, chart) => board.cursor !== null && pinAt(board, chart),
    "?": () => charts.help(),
  };

  const pinAt = async (board, chart) => {
    await chart.sharpen();
    const found = chart.read(board.raw);
    if (found) board.pin(board.state.at === found.step ? null : found.step);
  };

  charts.help = () => {
    const dialog = make("dialog", { className: "sg-help sg-page", "aria-label": t("Keys of the charts") },
      make("h2", { textContent: t("Charts") }),
      make("dl", {}, ...HELP.map(([key, words]) => make("div", {}, make("dt", {}, make("kbd", { textContent: t(key) })), make("dd", { textContent: t(words) })))),
      button(t("Close"), "", () => dialog.close()));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  };

  Object.assign(charts, { tools, menu, keys, make, button, choice, flip, pinAt, copy });
})();
