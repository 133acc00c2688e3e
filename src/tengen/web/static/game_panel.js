/** Who plays, the clocks, how the game stands, and what a person can do. */

import {html} from "./elements.js";
import {t} from "./language.js";
import {colors, lookOf, seatName, statusOf} from "./words.js";

/** @typedef {import("./types.js").State} State */

const TICK = 200; // milliseconds between two looks at a running clock

export class GamePanel {
  /** @param {(type: string, fields?: Record<string, unknown>) => void} act */
  constructor(act) {
    this.act = act;
    this.players = [1, 2].map((side) => {
      const name = html("span", {class: "name"}), clock = html("span", {class: "clock numbers"});
      const row = html("li", {class: `player side-${side}`}, html("span", {class: "stone", "aria-hidden": "true"}), name, clock);
      return {row, name, clock};
    });
    this.status = html("p", {class: "status", role: "status"});
    this.notice = html("p", {class: "notice", role: "alert", hidden: true});
    this.pass = html("button", {hidden: true, onclick: () => act("play", {move: "pass"})}, t("game.pass"));
    this.buttons = Object.fromEntries(["undo", "redo", "hint", "swap", "resign"].map((type) =>
      [type, html("button", {onclick: () => act(type)}, t(`game.${type}`))]));
    this.looking = html("div", {class: "looking", hidden: true}, html("p", {}, t("game.looking")), html("div", {class: "buttons"},
      html("button", {onclick: () => act("resume")}, t("game.resume")),
      html("button", {onclick: () => act("continue")}, t("game.continue"))));
    this.typed = html("input", {id: "typed", autocomplete: "off", autocapitalize: "off", spellcheck: "false", size: 6});
    this.form = html("form", {class: "typed", onsubmit: (/** @type {Event} */ event) => this.submit(event)},
      html("label", {for: "typed"}, t("game.type_move")), this.typed, html("button", {}, t("game.play_typed")));
    this.element = html("section", {class: "panel game"},
      html("h2", {class: "unseen"}, t("game.players")),
      html("ul", {class: "players"}, ...this.players.map(({row}) => row)),
      this.status, this.notice, this.looking,
      html("div", {class: "buttons", role: "group", "aria-label": t("game.actions")}, this.pass, ...Object.values(this.buttons)),
      this.form);
    /** @type {State|null} */
    this.state = null;
    this.seenAt = 0;
    setInterval(() => this.showClocks(), TICK);
  }

  /** @param {State} state */
  show(state) {
    this.state = state;
    this.seenAt = performance.now();
    const names = colors(state);
    this.element.dataset.look = lookOf(state);
    this.players.forEach(({row, name}, i) => {
      const side = /** @type {1|2} */ (i + 1);
      name.textContent = `${names[i]} · ${seatName(state, side)}`;
      row.classList.toggle("to-move", !state.ending && state.to_move === side);
      row.classList.toggle("thinking", state.is_thinking && state.to_move === side);
      row.classList.toggle("winner", state.ending?.winner === side);
    });
    const last = state.moves.length ? `${t("game.played", {player: names[2 - state.to_move] ?? names[0], move: state.last_move ?? ""})}. ` : "";
    const status = statusOf(state);
    const said = html("span", {class: "unseen"}, last);
    this.status.replaceChildren(said, status);
    this.looking.hidden = !state.is_looking;
    this.buttons.undo.disabled = !state.can_undo;
    this.buttons.redo.disabled = !state.can_redo;
    this.buttons.resign.disabled = state.ending !== null || state.is_looking;
    this.buttons.hint.disabled = state.legal_moves.length === 0;
    this.buttons.swap.disabled = state.seats.every((seat) => seat.is_person);
    this.pass.hidden = !state.legal_moves.includes("pass");
    this.typed.disabled = state.legal_moves.length === 0;
    this.showClocks();
  }

  /** Says something to the person, until the next move. @param {string} text */
  say(text) {
    this.notice.textContent = text;
    this.notice.hidden = !text;
  }

  showClocks() {
    const clocks = this.state?.clocks;
    const gone = (performance.now() - this.seenAt) / 1000;
    this.players.forEach(({clock}, i) => {
      const mine = clocks ? [clocks.first, clocks.second][i] : null;
      const left = mine ? Math.max(0, mine.left - (clocks?.running === i + 1 ? gone : 0)) : 0;
      const text = mine ? `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}` : "";
      if (clock.textContent !== text) clock.textContent = text;
      clock.classList.toggle("short", mine !== null && left < 10);
    });
  }

  /** @param {Event} event */
  submit(event) {
    event.preventDefault();
    const move = this.typed.value.trim();
    if (move) this.act("play", {move});
    this.typed.value = "";
  }
}
