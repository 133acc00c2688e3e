/** What the engine thinks: a switch, the best moves with their lines, and what to show of it on the board. */

import {html} from "./elements.js";
import {number, t} from "./language.js";
import {verdict} from "./words.js";

/** @typedef {import("./types.js").Snapshot} Snapshot */
/** @typedef {import("./types.js").MoveInfo} MoveInfo */
/** @typedef {import("./board.js").Mark} Mark */
/** @typedef {import("./geometry.js").Geometry} Geometry */
/** @typedef {"visits"|"prior"|"value"|"nothing"} Shown */

const TOP = 6; // moves in the table
const LABELLED = 3; // of them, with their value on the board

export class AnalysisPanel {
  /**
   * @param {(isOn: boolean) => Promise<void>} switchOn
   * @param {(line: string[]) => void} preview shows a line on the board; an empty one ends it
   * @param {() => void} changed what is shown on the board was changed
   */
  constructor(switchOn, preview, changed) {
    this.preview = preview;
    this.isAsking = false;
    this.toggle = html("input", {type: "checkbox", id: "analyse", role: "switch", onchange: async () => {
      this.isAsking = true; // until it is answered, older states say what was before
      await switchOn(this.toggle.checked);
      this.isAsking = false;
    }});
    this.shown = html("select", {id: "shown", onchange: changed},
      ...["visits", "prior", "value", "nothing"].map((name) => html("option", {value: name}, t(`analysis.${name}`))));
    this.rate = html("p", {class: "hint numbers"});
    this.rows = html("tbody");
    this.table = html("table", {class: "best", hidden: true},
      html("caption", {class: "unseen"}, t("analysis.lines")),
      html("thead", {}, html("tr", {}, html("th", {scope: "col"}, t("analysis.move")), html("th", {scope: "col"}, t("analysis.value")),
        html("th", {scope: "col"}, t("analysis.line")))),
      this.rows);
    this.element = html("section", {class: "panel analysis"},
      html("div", {class: "title"}, html("h2", {}, t("analysis.title")),
        html("label", {class: "switch", for: "analyse"}, this.toggle, html("span", {}, t("analysis.on")))),
      html("div", {class: "field inline"}, html("label", {for: "shown"}, t("analysis.show")), this.shown),
      this.table, this.rate);
    /** @type {Snapshot|null} */
    this.snapshot = null;
    this.isPreviewing = false;
  }

  /** @param {boolean} isOn */
  show(isOn) {
    if (this.isAsking) return;
    this.toggle.checked = isOn;
    if (!isOn) this.update(null);
  }

  /** @param {Snapshot|null} snapshot */
  update(snapshot) {
    this.snapshot = snapshot;
    this.table.hidden = snapshot === null;
    this.rate.textContent = "";
    if (snapshot === null) {
      this.isPreviewing = false;
      return this.rows.replaceChildren();
    }
    const rate = snapshot.seconds ? Math.round((snapshot.simulations || snapshot.nodes) / snapshot.seconds) : 0;
    this.rate.textContent = t("analysis.rate", {
      simulations: number(snapshot.simulations || snapshot.nodes), rate: number(rate), depth: snapshot.depth,
    });
    if (!this.isPreviewing) this.rows.replaceChildren(...snapshot.moves.slice(0, TOP).map((info) => this.row(info)));
  }

  /** @param {MoveInfo} info */
  row(info) {
    const show = () => {
      this.isPreviewing = true; // the table stays as it is meanwhile
      this.preview(info.line);
    };
    const hide = () => {
      this.isPreviewing = false;
      this.preview([]);
    };
    return html("tr", {class: info.proven ?? ""},
      html("th", {scope: "row"}, info.move),
      html("td", {class: "numbers"}, verdict(info)),
      html("td", {class: "line"}, html("button", {
        class: "plain", "aria-label": t("analysis.show_line", {move: info.move}),
        onpointerenter: show, onpointerleave: hide, onfocus: show, onblur: hide, onclick: show,
      }, info.line.slice(0, 8).join(" "))));
  }

  /** What to draw on the board. @param {Geometry} geometry @param {number[]} cells @returns {Mark[]} */
  marks(geometry, cells) {
    const shown = /** @type {Shown} */ (this.shown.value), snapshot = this.snapshot;
    if (snapshot === null || shown === "nothing") return [];
    const exact = geometry.kind === "columns" ? snapshot.exact : undefined;
    const weight = (/** @type {MoveInfo} */ info) =>
      shown === "visits" ? info.visits : shown === "prior" ? info.prior ?? 0 : info.value === null || !info.visits ? 0 : (info.value + 1) / 2;
    const most = Math.max(...snapshot.moves.map(weight), 1e-9);
    return snapshot.moves.flatMap((info, i) => {
      const cell = geometry.cellOf(info.move, cells);
      if (cell === null) return [];
      const score = exact?.[Number(info.move) - 1];
      const label = score !== undefined && score !== null ? number(score, {signDisplay: "exceptZero"}) : i < LABELLED ? short(info) : "";
      return [{cell, heat: weight(info) / most, label, isBest: i === 0, proven: info.proven}];
    });
  }
}

/** A value in a few characters, for the board: from -100 to 100, or W5 and L4 for a proven end. @param {MoveInfo} info */
function short(info) {
  if (info.proven === "win") return `W${info.distance}`;
  if (info.proven === "loss") return `L${info.distance}`;
  if (info.proven === "draw") return "=";
  return info.value === null ? "" : number(Math.round(100 * info.value), {signDisplay: "exceptZero"});
}
