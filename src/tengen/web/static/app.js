/** The page: puts its parts together, asks the engine, and shows what it says. */

import {fromHash, toHash} from "./address.js";
import {AnalysisPanel} from "./analysis_panel.js";
import {Board} from "./board.js";
import {html} from "./elements.js";
import {EngineError, WebSocketEngine} from "./engine.js";
import {EvaluationBar} from "./evaluation_bar.js";
import {FilesPanel} from "./files_panel.js";
import {GamePanel} from "./game_panel.js";
import {Geometry} from "./geometry.js";
import {LANGUAGES, choose, language, load, preferred, t} from "./language.js";
import {MovesPanel} from "./moves_panel.js";
import {askForGame} from "./new_game.js";
import {ReviewPanel, mainLine} from "./review_panel.js";
import {SetupPanel} from "./setup_panel.js";
import {THEMES, chooseTheme, showTheme, theme} from "./theme.js";
import {signed} from "./words.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Game} Game */
/** @typedef {import("./types.js").Judged} Judged */
/** @typedef {import("./types.js").Snapshot} Snapshot */

const SESSION = "tengen.session"; // of this tab; another tab has another one
const SEEN = "tengen.address"; // the address that this tab showed last

class App {
  /** @param {Game[]} games */
  constructor(games) {
    this.games = games;
    const token = new URLSearchParams(location.search).get("token");
    const query = token ? `?token=${encodeURIComponent(token)}` : "";
    this.engine = new WebSocketEngine(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws${query}`);
    /** @type {State|null} */
    this.state = null;
    /** @type {string[]} */
    this.line = []; // shown on the board, but not played
    /** @type {string|null} */
    this.pointed = null; // a move that is pointed at
    /** @type {Game|null} */
    this.game = null;
    this.board = new Board();
    this.board.addEventListener("move", (event) => {
      const {move, cell} = /** @type {CustomEvent} */ (event).detail;
      if (this.setup.isOn) this.setup.put(cell);
      else this.clicked(move);
    });
    this.board.addEventListener("considered", (event) =>
      this.panel.say(t("board.confirm", {move: /** @type {CustomEvent} */ (event).detail})));
    this.bar = new EvaluationBar();
    this.panel = new GamePanel((type, fields) => this.act(type, fields));
    this.moves = new MovesPanel((node) => this.act("go", {node}), (node, text) => this.act("comment", {node, text}));
    this.analysis = new AnalysisPanel(
      (isOn) => this.act("analyse", {is_on: isOn}),
      (line) => {
        this.line = line;
        this.draw();
      },
      () => this.draw(),
    );
    this.review = new ReviewPanel({
      start: () => {
        this.review.begin();
        this.act("review");
      },
      stop: () => this.act("stop_review"),
      visit: (node) => this.act("go", {node}),
      retry: (judged) => this.retry(judged),
      endRetry: () => this.act("resume"),
      point: (move) => {
        this.pointed = move;
        this.draw();
      },
    });
    this.files = new FilesPanel(
      (name, text) => this.act("load", {name, text}),
      async (form) => (await this.ask("export", {form}))?.text,
      async () => (await this.ask("animate"))?.gif,
      () => /** @type {SVGElement} */ (this.board.querySelector("svg")),
      () => this.state?.game ?? "game",
      (text) => this.panel.say(text),
      () => this.state && this.setup.begin(this.state),
    );
    this.setup = new SetupPanel(() => this.draw(), (setup) => this.useSetup(setup));
    this.loading = html("p", {class: "loading", role: "status", hidden: true}, t("game.loading"));
    this.main = html("main", {class: "empty"}, html("div", {class: "stage"}, this.bar.element, this.board, this.loading),
      html("div", {class: "side"}, this.setup.element, this.panel.element, this.moves.element, this.analysis.element, this.review.element, this.files.element));
    document.title = t("title");
    document.body.replaceChildren(this.header(), this.main);
    this.engine.on("state", ({state}) => this.show(state));
    this.engine.on("snapshot", ({node, snapshot}) => this.think(node, snapshot));
    this.engine.on("judged", (judged) => this.review.add(judged));
    this.engine.on("reviewed", ({worst}) => this.review.end(worst));
    this.engine.on("notice", ({message}) => this.panel.say(message));
    this.engine.on("closed", () => this.panel.say(t("error.disconnected")));
    this.engine.on("opened", () => this.begin());
  }

  header() {
    const languages = html("select", {"aria-label": t("settings.language"), onchange: async () => {
      await choose(/** @type {keyof typeof LANGUAGES} */ (languages.value));
      location.reload(); // the game goes on
    }}, ...Object.entries(LANGUAGES).map(([tag, name]) => html("option", {value: tag, lang: tag, selected: tag === language()}, name)));
    const themes = html("select", {"aria-label": t("settings.theme"), onchange: () =>
      chooseTheme(/** @type {import("./theme.js").Theme} */ (themes.value))},
      ...THEMES.map((name) => html("option", {value: name, selected: name === theme()}, t(`theme.${name}`))));
    return html("header", {},
      html("h1", {class: "brand"}, html("span", {class: "logo", "aria-hidden": "true"}), html("span", {}, t("title"))),
      html("nav", {"aria-label": t("nav.label")}, html("a", {href: "/", "aria-current": "page"}, t("nav.play"))),
      html("button", {class: "primary new", onclick: () => this.newGame()}, t("game.new")), languages, themes);
  }

  /** Says hello to the engine: goes on with the game of this tab, or with the one in the address, or asks for one. */
  async begin() {
    const shared = fromHash(location.hash);
    const isOurs = sessionStorage.getItem(SEEN) === location.hash;
    const session = isOurs || !shared ? sessionStorage.getItem(SESSION) : null;
    const found = await this.ask("hello", {session, sgf: null});
    if (!found) return;
    sessionStorage.setItem(SESSION, found.session);
    this.panel.say("");
    if (found.state) this.show(found.state);
    else if (shared) await this.act("new", {...shared, clock: null, setup: null});
    else this.newGame();
  }

  async newGame() {
    const chosen = await askForGame(this.games, this.state?.suggested_level ?? null);
    if (!chosen) return;
    this.review.forget();
    await this.act("new", {...chosen, moves: [], setup: null});
    this.board.focusCell();
  }

  /** The engine's answer; null if it refuses, which is said. @param {string} type @param {Record<string, unknown>} [fields] */
  async ask(type, fields = {}) {
    try {
      return await this.engine.ask(type, fields);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.panel.say(error.message === "disconnected" ? t("error.disconnected") : error.message);
      return null;
    }
  }

  /** Asks the engine for something that changes the game. @param {string} type @param {Record<string, unknown>} [fields] */
  async act(type, fields = {}) {
    this.line = [];
    this.pointed = null;
    if (type === "new") this.loading.hidden = false; // its rules may have to be compiled
    const answer = await this.ask(type, fields);
    this.loading.hidden = true;
    if (!answer) {
      if (type === "review") this.review.forget();
      return;
    }
    this.panel.say(type === "hint" ? t("game.hint_text", {move: answer.move, value: signed(answer.value ?? 0)}) : answer.note ?? "");
    if (type === "hint") {
      this.pointed = answer.move;
      this.draw();
    }
  }

  /** A person clicked on a cell. @param {string} move */
  async clicked(move) {
    if (!this.review.tried) return this.act("play", {move});
    const answer = await this.ask("try", {node: this.state?.current, move});
    if (!answer) return;
    this.review.answer(move, answer.is_accepted);
    this.pointed = answer.is_accepted ? move : null;
    this.draw();
  }

  /** Shows the position before a mistake, with nothing that gives the answer away. @param {Judged} judged */
  retry(judged) {
    const node = this.state?.nodes.find(({id}) => id === judged.node);
    if (this.state?.analysing) this.act("analyse", {is_on: false});
    if (node && node.parent !== null) this.act("go", {node: node.parent});
  }

  /** Goes on from a position that was set up, with the same players. @param {{cells: number[], to_move: number}|null} setup */
  useSetup(setup) {
    const state = this.state;
    if (!setup || !state) return this.draw();
    const [first, second] = state.seats.map(({kind, level}) => (kind === "level" ? {kind, level} : {kind: kind ?? "person"}));
    this.review.forget();
    this.act("new", {game: state.game, first, second, moves: [], setup, clock: null});
  }

  /** @param {State} state */
  show(state) {
    const before = this.state;
    this.state = state;
    if (this.game?.name !== state.game) {
      this.game = this.games.find((game) => game.name === state.game) ?? null;
      if (!this.game) return this.panel.say(state.game);
      this.board.game = this.game;
      this.files.setUp.hidden = !this.game.can_set_up;
    }
    if (before?.current !== state.current) this.analysis.update(null);
    this.main.classList.remove("empty");
    this.panel.show(state);
    this.moves.show(state);
    this.review.show(state);
    this.analysis.show(state.analysing);
    this.draw();
    const address = toHash(state.game, state.seats, state.moves);
    history.replaceState(null, "", address);
    sessionStorage.setItem(SEEN, address);
  }

  /** @param {number} node @param {Snapshot} snapshot */
  think(node, snapshot) {
    if (node !== this.state?.current || this.review.isRetrying) return;
    this.analysis.update(snapshot);
    this.draw();
  }

  /** Draws the board: stones, what the analysis says, and a line that is shown. */
  draw() {
    const state = this.state, game = this.game;
    if (!state || !game) return;
    const geometry = new Geometry(game);
    if (this.setup.cells) {
      const legal = new Set(this.setup.cells.map((_, cell) => geometry.move(cell)));
      const plain = {last: null, winning: [], forbidden: {}, ghosts: []};
      this.board.position = {cells: [...this.setup.cells], legal, toMove: this.setup.toMove, ...plain};
      this.board.marks = [];
      return;
    }
    const ghosts = [];
    const cells = [...state.cells];
    for (const move of this.pointed ? [this.pointed] : this.line) {
      const cell = geometry.cellOf(move, cells);
      if (cell === null || cells[cell] === 1 || cells[cell] === 2) break;
      ghosts.push(cell);
      cells[cell] = 1;
    }
    const mayPlay = this.review.isRetrying || state.is_looking || state.seats[state.to_move - 1].is_person;
    this.board.position = {
      cells: state.cells,
      legal: new Set(mayPlay && (!state.ending || state.is_looking) ? state.legal_moves : []),
      last: state.last_move === null ? null : geometry.cellOf(state.last_move, state.cells, true),
      winning: state.winning,
      forbidden: state.forbidden,
      toMove: state.to_move,
      ghosts,
    };
    this.board.marks = ghosts.length || this.review.isRetrying ? [] : this.analysis.marks(geometry, state.cells);
    const stored = state.nodes.find(({id}) => id === state.current)?.value ?? null;
    const snapshot = this.analysis.snapshot;
    const value = snapshot ? (snapshot.to_move === 1 ? snapshot.value : -snapshot.value) : stored;
    this.bar.show(this.review.isRetrying ? null : value, state);
  }

  /** Arrow keys step through the game. @param {KeyboardEvent} event */
  key(event) {
    const state = this.state, target = /** @type {HTMLElement} */ (event.target);
    if (!state || event.ctrlKey || event.altKey || event.metaKey || target.closest("input, select, textarea, dialog, [role=grid]")) return;
    const here = state.nodes.find(({id}) => id === state.current);
    const next = state.nodes.find(({parent}) => parent === state.current);
    const line = mainLine(state.nodes);
    const goal = /** @type {Record<string, number|null|undefined>} */ ({
      ArrowLeft: here?.parent, ArrowRight: next?.id, Home: line[0].id, End: line[line.length - 1].id,
    })[event.key];
    if (goal === null || goal === undefined) return;
    event.preventDefault();
    this.act("go", {node: goal});
  }
}

async function start() {
  showTheme();
  const [games] = await Promise.all([fetch("/api/games").then((answer) => answer.json()), load(preferred())]);
  const app = new App(games.games);
  document.addEventListener("keydown", (event) => app.key(event));
  app.engine.connect();
}

start();
