/* The overlay as a file: PNG and SVG of what is seen with its legend, CSV of every value of the metric. */
(() => {
  "use strict";

  const { compare, charts, t } = window.sitegen;
  const HEAD = 26, ROW = 16, SHARP = 2;

  const named = (board, ending) => `compare.${board.state.metric.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 80) || "metric"}.${ending}`;
  const clip = (text, n) => (text.length > n ? `${text.slice(0, n - 1)}…` : text);

  const page = (pen, board, width, height, foot) => {
    const { colours, large } = board, metric = board.metrics.find((one) => one.key === board.state.metric);
    pen.fill([[[0, 0], [width, 0], [width, height], [0, height]]], colours.surface);
    pen.text(clip(metric ? metric.title : "", Math.floor(width / 14)), 8, 17, colours.text, { size: 13, bold: true });
    pen.text(clip(metric ? `${metric.unit}  ${metric.name}`.trim() : "", Math.floor(width / 12)), width - 8, 17, colours.muted, { size: 10, align: "right" });
    const plot = large.geometry(), { y } = plot;
    large.paint(pen, { ...plot, top: plot.top + HEAD, floor: plot.floor + HEAD, y: (value) => y(value) + HEAD });
    large.shown.forEach((line, i) => {
      const at = foot + i * ROW;
      pen.stroke([[[12, at - 4], [40, at - 4]]], line.colour, { width: 2, dash: line.dash });
      pen.text(`${line.number}  ${clip(line.run.title, Math.floor(width / 8))}${line.seeds ? `  ${t("(mean of {n} seeds, 95 % interval)", { n: line.seeds })}` : ""}`, 46, at, colours.text, { size: 11 });
    });
  };

  const sizes = (board) => {
    const { width, height } = board.large.plot, foot = height + HEAD + ROW;
    return [width, foot + ROW * board.large.shown.length, foot];
  };

  const png = async (board) => {
    const [width, height, foot] = sizes(board), canvas = document.createElement("canvas");
    canvas.width = width * SHARP;
    canvas.height = height * SHARP;
    const ctx = canvas.getContext("2d");
    ctx.scale(SHARP, SHARP);
    page(charts.pen.canvas(ctx, board.colours.font), board, width, height, foot);
    charts.save.offer(await new Promise((done) => canvas.toBlob(done, "image/png")), named(board, "png"));
  };

  const svg = (board) => {
    const [width, height, foot] = sizes(board), pen = charts.pen.svg(width, height, board.colours.font);
    page(pen, board, width, height, foot);
    charts.save.offer(new Blob([pen.document], { type: "image/svg+xml" }), named(board, "svg"));
  };

  /* Every row that counts of every run, switched off ones and NaN included, whatever the zoom. */
  const csv = async (board) => {
    const rows = [["run", "title", "step", board.unit, "value"]];
    for (const run of board.runs) {
      const k = run.metrics.get(board.state.metric), where = board.places.get(run.id);
      if (k === undefined || where.word) continue;
      const { live, odd } = compare.lines.single(run, k, await run.data.exact(k), where);
      for (let i = 0; i < live.n; i += 1) rows.push([run.id, run.title, live.step[i], live.x[i], live.middle[i]]);
      for (const [x, kind] of odd) rows.push([run.id, run.title, "", x, kind]);
    }
    const text = rows.map((cells) => cells.map((cell) => charts.save.quoted(String(cell))).join(",")).join("\n");
    charts.save.offer(new Blob([`${text}\n`], { type: "text/csv" }), named(board, "csv"));
  };

  compare.save = { png, svg, csv };
})();
