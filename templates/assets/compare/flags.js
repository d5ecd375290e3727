/* What stands above the curves: onsets of incidents as buttons that tell which they are and lead to them. */
(() => {
  "use strict";

  const { compare, charts, t } = window.sitegen, { WORDS } = window.sitegen.finds;
  const { make } = charts;
  const APART = 24; /* px between buttons, and their size: what is closer is one */
  const LINGER = 200; /* ms until a tip goes when the pointer left */
  const RANK = { critical: 0, error: 1, warning: 2 };

  const word = ({ mark }) => WORDS[mark.severity] || mark.severity;
  const named = (one) => t("run {number}: {title}, {severity}", { number: one.line.number, title: one.mark.title, severity: word(one) });

  class Flags {
    /* `overlay` is the chart; its node gets a toolbar with a button per place where incidents begin. */
    constructor(overlay) {
      this.overlay = overlay;
      this.node = make("div", { className: "sg-flags", role: "toolbar", "aria-label": t("Onsets of incidents") });
      this.tip = make("div", { className: "sg-tip sg-flagtip", hidden: true });
      this.node.addEventListener("keydown", (event) => this.keys(event));
      this.node.addEventListener("focusout", (event) => { if (!this.node.contains(event.relatedTarget)) this.hide(); });
      this.node.addEventListener("mouseleave", () => { this.going = setTimeout(() => { if (!this.node.contains(document.activeElement)) this.hide(); }, LINGER); });
      this.node.addEventListener("mouseenter", () => clearTimeout(this.going));
      overlay.node.append(this.node);
    }

    /* Incidents that the chart marks, from left to right, those closer than a button is wide together with the worst
       first. */
    spots(plot) {
      const { board, shown } = this.overlay, found = [];
      for (const line of shown) {
        for (const mark of compare.onsets(line, board)) {
          const x = plot.x(mark.x);
          if (x >= plot.left && x <= plot.left + plot.width) found.push({ line, mark, x });
        }
      }
      const spots = [];
      for (const one of found.sort((a, b) => a.x - b.x || a.line.place - b.line.place)) {
        const last = spots[spots.length - 1];
        if (last && one.x - last[0].x < APART) last.push(one);
        else spots.push([one]);
      }
      return spots.map((spot) => spot.sort((a, b) => RANK[a.mark.severity] - RANK[b.mark.severity] || a.x - b.x));
    }

    place() {
      const { overlay } = this, plot = overlay.geometry(), spots = overlay.board.state.marks ? this.spots(plot) : [];
      const sign = JSON.stringify(spots.map((spot) => spot.map(({ line, mark, x }) => [Math.round(x), line.run.id, mark.href])));
      if (sign === this.sign) return;
      this.sign = sign;
      this.hide();
      this.node.hidden = !spots.length;
      this.node.replaceChildren(...spots.map((spot, i) => this.button(spot, plot, i === 0)));
    }

    button(spot, plot, first) {
      const all = spot.map(({ x }) => x), from = Math.min(...all), to = Math.max(...all);
      const label = spot.length === 1 ? named(spot[0]) : t("{n} incidents: {first} …", { n: spot.length, first: named(spot[0]) });
      const node = make("button", { type: "button", className: "sg-flag", tabIndex: first ? 0 : -1, "aria-label": label, "aria-expanded": "false" });
      node.style.left = `${from - APART / 2}px`;
      node.style.top = `${plot.top - APART + 4}px`;
      node.style.width = `${APART + to - from}px`;
      for (const name of ["mouseenter", "focus", "click"]) node.addEventListener(name, () => this.show(node, spot, (from + to) / 2, plot));
      return node;
    }

    /* Which incidents: run, rule with its title, severity and step; each leads to its card. */
    show(node, spot, x, plot) {
      if (this.open === node) return;
      this.hide();
      this.open = node;
      node.setAttribute("aria-expanded", "true");
      const rows = spot.map((one) => {
        const number = make("b", { className: "sg-runno", textContent: `${one.line.number} ` });
        number.style.color = one.line.colour;
        return make("li", {}, number, make("a", { href: one.mark.href, textContent: one.mark.title }), " ", make("span", { className: "sg-nowrap", textContent: word(one) }));
      });
      this.tip.replaceChildren(make("ul", {}, ...rows));
      node.after(this.tip); /* its links come next for who goes on by Tab */
      this.tip.hidden = false;
      const wide = this.tip.offsetWidth, room = plot.left + plot.width;
      this.tip.style.left = `${Math.max(0, Math.min(x - wide / 2, room - wide))}px`;
      this.tip.style.top = `${plot.top + 6}px`;
    }

    hide() {
      if (this.open) this.open.setAttribute("aria-expanded", "false");
      this.open = null;
      this.tip.hidden = true;
    }

    keys(event) {
      event.stopPropagation(); /* the chart below has keys of its own */
      const buttons = [...this.node.querySelectorAll(".sg-flag")], at = buttons.indexOf(document.activeElement);
      if (event.key === "Escape" && this.open) {
        const { open } = this;
        if (this.tip.contains(document.activeElement)) open.focus();
        this.hide();
        return;
      }
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
      if (at < 0 || to === undefined || !buttons[to]) return;
      event.preventDefault();
      buttons[at].tabIndex = -1;
      buttons[to].tabIndex = 0;
      buttons[to].focus();
    }
  }

  /* Onsets of the incidents of a line's run that ask for something, by where they are on the x axis. */
  compare.onsets = (line, board) => {
    const where = board.places.get(line.run.id);
    return line.run.data.header.marks.filter(([, severity]) => severity !== "info").map(([step, severity, , title, href]) => (
      { x: where.x(step), step, severity, title, href: `${line.run.href}${href}` }
    ));
  };
  compare.Flags = Flags;
})();
