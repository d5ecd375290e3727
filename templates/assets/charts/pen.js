/* Two pens with the same strokes: one draws on a canvas, one writes SVG. Points are [x, y] in px. */
(() => {
  "use strict";

  const { charts } = window.sitegen;
  const FONT = "sans-serif";

  const canvas = (ctx, family = FONT) => {
    const path = (lines, close) => {
      ctx.beginPath();
      for (const line of lines) {
        line.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
        if (line.length === 1) ctx.lineTo(line[0][0] + 0.01, line[0][1]);
        if (close) ctx.closePath();
      }
    };
    return {
      clip(x, y, width, height, draw) {
        ctx.save();
        ctx.beginPath();
        ctx.rect(x, y, width, height);
        ctx.clip();
        draw();
        ctx.restore();
      },
      fill(lines, colour, alpha = 1) {
        ctx.globalAlpha = alpha;
        ctx.fillStyle = colour;
        path(lines, true);
        ctx.fill();
        ctx.globalAlpha = 1;
      },
      stroke(lines, colour, { width = 1, dash = [], alpha = 1, close = false } = {}) {
        ctx.globalAlpha = alpha;
        ctx.strokeStyle = colour;
        ctx.lineWidth = width;
        ctx.lineJoin = ctx.lineCap = "round";
        ctx.setLineDash(dash);
        path(lines, close);
        ctx.stroke();
        ctx.setLineDash([]);
        ctx.globalAlpha = 1;
      },
      text(words, x, y, colour, { size = 10, align = "left", bold = false, halo = "" } = {}) {
        ctx.font = `${bold ? "600 " : ""}${size}px ${family}`;
        ctx.textAlign = align;
        ctx.textBaseline = "alphabetic";
        if (halo) {
          ctx.lineJoin = "round";
          ctx.lineWidth = 2.5;
          ctx.strokeStyle = halo;
          ctx.strokeText(words, x, y);
        }
        ctx.fillStyle = colour;
        ctx.fillText(words, x, y);
      },
    };
  };

  const safe = (text) => String(text).replace(/[<>&"'\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, (sign) =>
    ({ "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;", "'": "&#39;" })[sign] || "\ufffd");

  const svg = (width, height, family = FONT) => {
    const out = [], round = (n) => Math.round(n * 100) / 100;
    let clips = 0;
    const data = (lines, close) => lines.map((line) =>
      line.map(([x, y], i) => `${i ? "L" : "M"}${round(x)} ${round(y)}`).join("") + (line.length === 1 ? "h0" : "") + (close ? "z" : "")).join("");
    return {
      clip(x, y, wide, high, draw) {
        clips += 1;
        out.push(`<clipPath id="c${clips}"><rect x="${x}" y="${y}" width="${wide}" height="${high}"/></clipPath><g clip-path="url(#c${clips})">`);
        draw();
        out.push("</g>");
      },
      fill(lines, colour, alpha = 1) {
        if (lines.length) out.push(`<path d="${data(lines, true)}" fill="${safe(colour)}" fill-opacity="${alpha}"/>`);
      },
      stroke(lines, colour, { width: wide = 1, dash = [], alpha = 1, close = false } = {}) {
        const dashed = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
        if (lines.length) out.push(`<path d="${data(lines, close)}" fill="none" stroke="${safe(colour)}" stroke-width="${wide}" stroke-opacity="${alpha}" stroke-linecap="round" stroke-linejoin="round"${dashed}/>`);
      },
      text(words, x, y, colour, { size = 10, align = "left", bold = false, halo = "" } = {}) {
        const anchor = { left: "start", right: "end", center: "middle" }[align];
        const around = halo ? ` stroke="${safe(halo)}" stroke-width="2.5" paint-order="stroke"` : "";
        out.push(`<text x="${round(x)}" y="${round(y)}" fill="${safe(colour)}" font-size="${size}" text-anchor="${anchor}"${bold ? ' font-weight="600"' : ""}${around}>${safe(words)}</text>`);
      },
      get document() {
        return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${safe(family)}">${out.join("")}</svg>`;
      },
    };
  };

  charts.pen = { canvas, svg };
})();
