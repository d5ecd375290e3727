/* A chart as a file: PNG and SVG of what is seen, CSV of every value. */
(() => {
  "use strict";

  const { charts } = window.sitegen;
  const HEAD = 24, SHARP = 2;

  const offer = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };

  const named = (chart, ending) => {
    const clean = (text) => text.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|-+$/g, "").slice(0, 80) || "chart";
    return `${clean(chart.board.header.title)}.${clean(chart.metric.name)}.${ending}`;
  };

  /* Ground, title and the chart with any pen. */
  const page = (pen, chart, width, height) => {
    const { colours, header } = chart.board;
    pen.fill([[[0, 0], [width, 0], [width, height], [0, height]]], colours.surface);
    const clip = (text, n) => (text.length > n ? `${text.slice(0, n - 1)}…` : text);
    pen.text(clip(chart.metric.title, Math.floor(width / 14)), 8, 16, colours.text, { size: 12, bold: true });
    pen.text(clip(`${chart.metric.unit} · ${header.title}`.replace(/^ · /, ""), Math.floor(width / 12)), width - 8, 16, colours.muted, { size: 10, align: "right" });
    const plot = chart.geometry(), picture = chart.picture();
    const y = plot.y;
    charts.layers.paint(pen, { ...plot, top: plot.top + HEAD, floor: plot.floor + HEAD, y: (value) => y(value) + HEAD }, {
      ...picture, right: picture.right && { ...picture.right, shift: HEAD }, others: picture.others.map((other) => ({ ...other, y: (value) => other.y(value) + HEAD })),
    });
  };

  const png = async (chart) => {
    const { width, height } = chart.plot, tall = height + HEAD, canvas = document.createElement("canvas");
    canvas.width = width * SHARP;
    canvas.height = tall * SHARP;
    const ctx = canvas.getContext("2d");
    ctx.scale(SHARP, SHARP);
    page(charts.pen.canvas(ctx, chart.board.colours.font), chart, width, tall);
    const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
    offer(blob, named(chart, "png"));
  };

  const svg = (chart) => {
    const { width, height } = chart.plot, pen = charts.pen.svg(width, height + HEAD, chart.board.colours.font);
    page(pen, chart, width, height + HEAD);
    offer(new Blob([pen.document], { type: "image/svg+xml" }), named(chart, "svg"));
  };

  const quoted = (text) => (/^[=+@\t\r-]/.test(text) && Number.isNaN(Number(text)) ? `"'${text.replace(/"/g, '""')}"` : /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

  /* Every row of the metric, rewritten ones and those that are no number included, whatever the zoom. */
  const csv = async (chart) => {
    const { data, header } = chart.board, values = await data.exact(chart.k), rows = [];
    const axes = await Promise.all(header.axes.map((_, i) => data.exact(header.metrics.length + i)));
    const odd = new Map(chart.seen.odd);
    let row = 0;
    const segments = header.segments.flatMap(([segment, count]) => new Array(count).fill(segment));
    for (const [segment, count] of header.pieces) {
      for (const end = row + count; row < end; row += 1) {
        const step = data.steps[row], raw = values[row], missing = Number.isNaN(raw);
        if (missing && !(segment < 0 && odd.has(step))) continue;
        const word = missing ? odd.get(step) : String(raw);
        odd.delete(step);
        rows.push([step, ...axes.map((one) => one[row]), segment < 0 ? segments[row] : segment, segment < 0 ? "" : "yes", word]);
      }
    }
    odd.forEach((word, step) => rows.push([step, ...axes.map(() => ""), "", "", word]));
    const head = ["step", ...header.axes.map(([, label, unit]) => (unit ? `${label} ${unit}` : label)), "segment", "rewritten", chart.metric.name];
    const text = [head, ...rows].map((cells) => cells.map((cell) => quoted(String(cell))).join(",")).join("\n");
    offer(new Blob([`${text}\n`], { type: "text/csv" }), named(chart, "csv"));
  };

  charts.save = { png, svg, csv, offer, quoted };
})();
