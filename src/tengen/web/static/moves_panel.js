/** The moves of a game as a list, with variations in brackets; each can be visited. */

import {html} from "./elements.js";
import {t} from "./language.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Node} Node */

const MARKS = /** @type {Record<string, string>} */ ({inaccuracy: "?!", mistake: "?", "missed win": "??", best: "!", good: ""});

export class MovesPanel {
  /**
   * @param {(node: number) => void} visit
   * @param {(node: number, text: string) => void} comment
   */
  constructor(visit, comment) {
    this.visit = visit;
    this.current = 0; // the node whose comment is shown
    this.comment = html("textarea", {id: "comment", rows: 2, onchange: () => comment(this.current, this.comment.value)});
    this.list = html("div", {class: "moves", role: "group", "aria-label": t("game.moves")});
    this.element = html("section", {class: "panel"}, html("h2", {}, t("game.moves")), this.list,
      html("div", {class: "field"}, html("label", {for: "comment", class: "hint"}, t("game.comment")), this.comment));
    /** @type {Map<number|null, Node[]>} */
    this.children = new Map();
  }

  /** @param {State} state */
  show(state) {
    this.children = new Map();
    for (const node of state.nodes) {
      this.children.set(node.parent, [...(this.children.get(node.parent) ?? []), node]);
    }
    const said = state.nodes.find(({id}) => id === state.current)?.comment ?? "";
    if (this.current !== state.current || document.activeElement !== this.comment) this.comment.value = said;
    this.current = state.current;
    const root = state.nodes[0];
    const items = [this.button(root, t("game.start_position"), state)];
    this.add(items, root.id, 1, state);
    this.list.replaceChildren(...items);
    const current = /** @type {HTMLElement|null} */ (this.list.querySelector("[aria-current]"));
    if (current) this.list.scrollTop = current.offsetTop - this.list.offsetTop - this.list.clientHeight / 2; // scrolls nothing else
  }

  /** Writes the main line after a node, and its variations. @param {HTMLElement[]} items @param {number} from @param {number} ply @param {State} state */
  add(items, from, ply, state) {
    let following = this.children.get(from) ?? [];
    while (following.length) {
      const [main, ...others] = following;
      items.push(this.button(main, `${ply}. ${main.move}`, state));
      for (const other of others) {
        const inside = [this.button(other, `${ply}. ${other.move}`, state)];
        this.add(inside, other.id, ply + 1, state);
        items.push(html("span", {class: "variation"}, ...inside));
      }
      following = this.children.get(main.id) ?? [];
      ply += 1;
    }
  }

  /** @param {Node} node @param {string} text @param {State} state */
  button(node, text, state) {
    const mark = MARKS[node.judgement ?? ""] ?? "";
    const judged = node.judgement ? `, ${t(`judgement.${node.judgement}`)}` : "";
    return html("button", {
      class: `move ${(node.judgement ?? "").replace(" ", "-")} ${node.id === state.tip ? "tip" : ""}`.trim(),
      "aria-current": node.id === state.current ? "step" : null,
      "aria-label": judged ? `${text}${judged}` : null,
      onclick: () => this.visit(node.id),
    }, mark ? `${text}${mark}` : text);
  }
}
