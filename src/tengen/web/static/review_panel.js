/**
 * After a game: a curve of the evaluation, the three worst moments, and another try at each of them.
 * While a person tries again, nothing here gives the answer away.
 */

import {html, svg} from "./elements.js";
import {t} from "./language.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Node} Node */
/** @typedef {import("./types.js").Judged} Judged */

const WIDTH = 320, HEIGHT = 96;

/**
 * @typedef {object} Actions
 * @property {() => void} start
 * @property {() => void} stop
 * @property {(node: number) => void} visit
 * @property {(judged: Judged) => void} retry
 * @property {() => void} endRetry
 * @property {(move: string) => void} point shows where a move lies
 */

export class ReviewPanel {
  /** @param {Actions} actions */
  constructor(actions) {
    this.actions = actions;
    /** @type {Map<number, Judged>} */
    this.judged = new Map();
    /** @type {number[]} */
    this.worst = [];
    this.isRunning = false;
    this.isDone = false;
    /** @type {Judged|null} */
    this.tried = null; // the move that is tried again
    /** @type {State|null} */
    this.state = null;
    this.button = html("button", {class: "primary", onclick: () => (this.isRunning ? actions.stop() : actions.start())});
    this.progress = html("p", {class: "hint", role: "status"});
    this.graph = svg("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "graph", role: "img", "aria-label": t("review.graph")});
    this.graph.addEventListener("click", (event) => this.click(/** @type {MouseEvent} */ (event)));
    this.slider = html("input", {type: "range", min: 0, "aria-label": t("review.slider"), oninput: () => this.slide()});
    this.moments = html("div", {class: "moments"});
    this.retry = html("div", {class: "retry", hidden: true});
    this.curve = html("div", {class: "curve", hidden: true}, this.graph, this.slider);
    this.element = html("section", {class: "panel review"}, html("h2", {}, t("review.title")),
      this.button, this.progress, this.curve, this.moments, this.retry);
  }

  get isRetrying() {
    return this.tried !== null;
  }

  begin() {
    this.judged.clear();
    this.worst = [];
    this.isRunning = true;
    this.isDone = false;
    this.refresh();
  }

  /** @param {Judged} judged */
  add(judged) {
    this.judged.set(judged.node, judged);
    this.refresh();
  }

  /** @param {number[]} worst nodes */
  end(worst) {
    this.worst = worst;
    this.isRunning = false;
    this.isDone = true;
    this.refresh();
  }

  /** @param {State} state */
  show(state) {
    if (this.state && (this.state.game !== state.game || state.nodes.length < this.judged.size)) this.forget();
    this.state = state;
    this.refresh();
  }

  forget() {
    this.judged.clear();
    this.worst = [];
    this.isRunning = this.isDone = false;
    this.leaveRetry();
  }

  refresh() {
    const state = this.state;
    if (!state) return;
    const line = mainLine(state.nodes);
    const total = line.length - 1;
    this.button.textContent = t(this.isRunning ? "review.stop" : "review.start");
    this.button.hidden = this.isDone || this.isRetrying;
    this.button.disabled = total === 0;
    this.progress.textContent = this.isRunning ? t("review.running", {done: this.judged.size, total}) : "";
    const hasCurve = line.some((node) => node.value !== undefined) && !this.isRetrying;
    this.curve.hidden = !hasCurve;
    if (hasCurve) this.draw(line, state);
    this.moments.hidden = !this.isDone || this.isRetrying;
    if (this.isDone) this.list(line);
  }

  /** @param {Node[]} line @param {State} state */
  draw(line, state) {
    const x = (/** @type {number} */ i) => (line.length < 2 ? 0 : (i * WIDTH) / (line.length - 1));
    const y = (/** @type {number} */ value) => HEIGHT / 2 - (value * (HEIGHT - 8)) / 2;
    const points = line.flatMap((node, i) => (node.value === undefined ? [] : [`${x(i).toFixed(1)} ${y(node.value).toFixed(1)}`]));
    const current = line.findIndex((node) => node.id === state.current);
    this.graph.replaceChildren(
      svg("path", {class: "area", d: `M0 ${HEIGHT / 2}L${points.join("L")}V${HEIGHT / 2}Z`}),
      svg("path", {class: "zero", d: `M0 ${HEIGHT / 2}H${WIDTH}`}),
      svg("path", {class: "values", d: `M${points.join("L")}`}),
      ...this.worst.map((id) => {
        const i = line.findIndex((node) => node.id === id), node = line[i];
        return svg("circle", {class: "worst", cx: x(i), cy: y(node?.value ?? 0), r: 4.5});
      }),
      ...(current < 0 ? [] : [svg("path", {class: "here", d: `M${x(current)} 0V${HEIGHT}`})]),
    );
    this.slider.max = String(line.length - 1);
    if (current >= 0) this.slider.value = String(current);
  }

  /** @param {Node[]} line */
  list(line) {
    if (!this.worst.length) return this.moments.replaceChildren(html("p", {}, t("review.nothing")));
    this.moments.replaceChildren(html("h3", {}, t("review.worst")), html("ul", {}, ...this.worst.flatMap((id) => {
      const judged = this.judged.get(id), ply = line.findIndex((node) => node.id === id);
      if (!judged) return [];
      const text = t("review.moment", {number: ply, move: judged.move, judgement: t(`judgement.${judged.judgement}`)});
      return [html("li", {}, html("button", {class: "plain", onclick: () => this.actions.visit(id)}, text),
        html("button", {class: "try", onclick: () => this.enterRetry(judged)}, t("review.retry")))];
    })));
  }

  /** @param {Judged} judged */
  enterRetry(judged) {
    this.tried = judged;
    this.actions.retry(judged);
    const say = html("p", {role: "status"}, t("review.retry_title", {move: judged.move}));
    const show = () => {
      say.textContent = t("review.better", {move: judged.better ?? judged.move});
      this.actions.point(judged.better ?? judged.move);
    };
    this.retry.replaceChildren(say, html("div", {class: "buttons"},
      html("button", {onclick: show}, t("review.retry_solution")),
      html("button", {onclick: () => this.leaveRetry()}, t("review.retry_end"))));
    this.retry.hidden = false;
    this.refresh();
  }

  /** What the engine says to a try. @param {string} move @param {boolean} isAccepted */
  answer(move, isAccepted) {
    const say = this.retry.querySelector("p");
    if (say) say.textContent = t(isAccepted ? "review.retry_right" : "review.retry_wrong", {move});
    this.retry.classList.toggle("right", isAccepted);
  }

  leaveRetry() {
    if (!this.tried) return;
    this.tried = null;
    this.retry.hidden = true;
    this.retry.classList.remove("right");
    this.actions.endRetry();
    this.refresh();
  }

  slide() {
    const line = this.state ? mainLine(this.state.nodes) : [];
    const node = line[Number(this.slider.value)];
    if (node) this.actions.visit(node.id);
  }

  /** @param {MouseEvent} event */
  click(event) {
    const box = this.graph.getBoundingClientRect();
    this.slider.value = String(Math.round(((event.clientX - box.left) / box.width) * Number(this.slider.max)));
    this.slide();
  }
}

/** The nodes of the main line, from the root. @param {Node[]} nodes */
export function mainLine(nodes) {
  /** @type {Map<number|null, Node>} */
  const first = new Map();
  for (const node of nodes) if (!first.has(node.parent)) first.set(node.parent, node);
  const line = [];
  for (let node = first.get(null); node; node = first.get(node.id)) line.push(node);
  return line;
}
