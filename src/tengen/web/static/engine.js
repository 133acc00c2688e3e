/**
 * Where the page gets everything it shows: an engine is asked, and tells what has changed.
 *
 *     const answer = await engine.ask("play", {move: "h8"});       // rejects with an EngineError
 *     engine.on("state", (message) => show(message.state));
 *
 * Messages without an id are events: state, snapshot, judged, reviewed, notice; and opened, closed.
 */

/** What an engine refuses, in one line for people. */
export class EngineError extends Error {}

/** The interface. An engine without a server would extend it too. */
export class Engine extends EventTarget {
  /**
   * @param {string} type
   * @param {Record<string, unknown>} [fields]
   * @returns {Promise<any>}
   */
  async ask(type, fields = {}) {
    throw new EngineError(`this engine does not know "${type}" (${Object.keys(fields).join(", ")})`);
  }

  /**
   * @param {string} type
   * @param {(message: any) => void} listener
   */
  on(type, listener) {
    this.addEventListener(type, (event) => listener(/** @type {CustomEvent} */ (event).detail));
  }

  /**
   * @param {string} type
   * @param {unknown} [message]
   */
  tell(type, message) {
    this.dispatchEvent(new CustomEvent(type, {detail: message}));
  }
}

const FIRST_PAUSE = 250, LONGEST_PAUSE = 5000; // milliseconds between two tries to connect

/** The engine of `tengen serve`, over a WebSocket. Connects again by itself. */
export class WebSocketEngine extends Engine {
  /** @param {string} url */
  constructor(url) {
    super();
    this.url = url;
    this.nextId = 1;
    this.pause = FIRST_PAUSE;
    /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
    this.waiting = new Map();
    /** @type {WebSocket|null} */
    this.socket = null;
  }

  connect() {
    const socket = new WebSocket(this.url);
    socket.addEventListener("open", () => {
      this.socket = socket;
      this.pause = FIRST_PAUSE;
      this.tell("opened");
    });
    socket.addEventListener("message", (event) => this.hear(JSON.parse(event.data)));
    socket.addEventListener("close", () => {
      const wasOpen = this.socket === socket;
      this.socket = null;
      for (const {reject} of this.waiting.values()) reject(new EngineError("disconnected"));
      this.waiting.clear();
      if (wasOpen) this.tell("closed");
      setTimeout(() => this.connect(), this.pause);
      this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
    });
  }

  /**
   * @param {string} type
   * @param {Record<string, unknown>} [fields]
   */
  async ask(type, fields = {}) {
    const socket = this.socket;
    if (!socket) throw new EngineError("disconnected");
    const id = this.nextId++;
    const answer = new Promise((resolve, reject) => this.waiting.set(id, {resolve, reject}));
    socket.send(JSON.stringify({id, type, ...fields}));
    return answer;
  }

  /** @param {any} message */
  hear(message) {
    const asked = this.waiting.get(message.id);
    if (!asked) return this.tell(message.type, message);
    this.waiting.delete(message.id);
    if (message.type === "error") asked.reject(new EngineError(message.message));
    else asked.resolve(message);
  }
}
