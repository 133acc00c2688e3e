/** A bar beside the board that says who stands better. */

import {html} from "./elements.js";
import {t} from "./language.js";
import {colors, lookOf, signed} from "./words.js";

/** @typedef {import("./types.js").State} State */

export class EvaluationBar {
  constructor() {
    this.first = html("div", {class: "first"});
    this.text = html("span", {class: "numbers"});
    this.element = html("div", {class: "evaluation", role: "img", hidden: true}, this.first, this.text);
  }

  /** @param {number|null} value for the first player @param {State} state */
  show(value, state) {
    this.element.hidden = value === null;
    if (value === null) return;
    this.element.dataset.look = lookOf(state);
    this.element.style.setProperty("--first", `${(50 + 50 * value).toFixed(1)}%`);
    this.text.textContent = signed(Math.abs(value) < 0.005 ? 0 : Math.abs(value));
    const better = colors(state)[value >= 0 ? 0 : 1];
    const label = Math.abs(value) < 0.005 ? t("analysis.even") : t("analysis.bar", {value: signed(Math.abs(value)), player: better});
    this.element.setAttribute("aria-label", label);
    this.element.title = label;
  }
}
