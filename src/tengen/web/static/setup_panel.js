/** Any position, set up by hand: choose what a click puts on the board, then who is to move. */

import {html} from "./elements.js";
import {t} from "./language.js";
import {colors} from "./words.js";

/** @typedef {import("./types.js").State} State */

export class SetupPanel {
  /**
   * @param {() => void} changed
   * @param {(setup: {cells: number[], to_move: number}|null) => void} finished null: cancelled
   */
  constructor(changed, finished) {
    this.changed = changed;
    this.finished = finished;
    /** @type {number[]|null} */
    this.cells = null; // null: nothing is being set up
    this.form = html("form", {onsubmit: (/** @type {Event} */ event) => this.submit(event)});
    this.element = html("section", {class: "panel setup", hidden: true}, html("h2", {}, t("setup.title")), this.form);
  }

  get isOn() {
    return this.cells !== null;
  }

  /** The player whose turn it will be. @returns {1|2} */
  get toMove() {
    return Number(new FormData(this.form).get("to_move")) === 2 ? 2 : 1;
  }

  /** Begins with the position that is shown. @param {State} state */
  begin(state) {
    this.cells = state.cells.map((cell) => (cell === 3 ? 0 : cell));
    const [first, second] = colors(state);
    const radios = (/** @type {string} */ name, /** @type {string} */ legend, /** @type {[number, string][]} */ options, /** @type {number} */ chosen) =>
      html("fieldset", {class: "choices"}, html("legend", {}, legend), ...options.map(([value, label]) =>
        html("label", {}, html("input", {type: "radio", name, value, checked: value === chosen}), html("span", {}, label))));
    this.form.replaceChildren(
      radios("tool", t("setup.tool"), [[1, first], [2, second], [0, t("setup.erase")]], 1),
      radios("to_move", t("setup.to_move"), [[1, first], [2, second]], state.to_move),
      html("div", {class: "buttons"},
        html("button", {type: "button", onclick: () => this.clear()}, t("setup.clear")),
        html("button", {type: "button", onclick: () => this.end(null)}, t("setup.cancel")),
        html("button", {class: "primary"}, t("setup.done"))));
    this.element.hidden = false;
    this.changed();
  }

  /** Puts a stone on a cell, or takes it away. @param {number} cell */
  put(cell) {
    if (!this.cells) return;
    const tool = Number(new FormData(this.form).get("tool"));
    this.cells[cell] = this.cells[cell] === tool ? 0 : tool;
    this.changed();
  }

  clear() {
    this.cells?.fill(0);
    this.changed();
  }

  /** @param {Event} event */
  submit(event) {
    event.preventDefault();
    if (this.cells) this.end({cells: this.cells, to_move: this.toMove});
  }

  /** @param {{cells: number[], to_move: number}|null} setup */
  end(setup) {
    this.cells = null;
    this.element.hidden = true;
    this.finished(setup);
  }
}
