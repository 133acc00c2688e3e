/** Games in and out: load a file, save one, a picture of the board, a link to share. */

import {html} from "./elements.js";
import {t} from "./language.js";

const SCALE = 2; // of a PNG, so that it is sharp on every screen

export class FilesPanel {
  /**
   * @param {(name: string, text: string) => void} load
   * @param {(form: string) => Promise<string|undefined>} exported the text of a file; undefined if refused
   * @param {() => Promise<string|undefined>} animated a GIF in base64
   * @param {() => SVGElement} picture
   * @param {() => string} name of the game, for the names of files
   * @param {(text: string) => void} say
   * @param {() => void} setUp
   */
  constructor(load, exported, animated, picture, name, say, setUp) {
    this.picture = picture;
    this.name = name;
    this.setUp = html("button", {onclick: setUp}, t("setup.title"));
    const chooser = html("input", {type: "file", id: "load", class: "unseen", accept: ".sgf,.psq,.txt", onchange: async () => {
      const [file] = chooser.files ?? [];
      if (file) load(file.name, await file.text());
      chooser.value = "";
    }});
    const save = (/** @type {string} */ form) => html("button", {onclick: async () => {
      const text = await exported(form);
      if (text !== undefined) download(`${name()}.${form}`, new Blob([text], {type: "text/plain"}));
    }}, t("file.save", {form: form.toUpperCase()}));
    this.element = html("details", {class: "panel files"}, html("summary", {}, html("h2", {}, t("file.title"))),
      html("div", {class: "buttons"},
        html("label", {for: "load", class: "button"}, t("file.load")), chooser,
        this.setUp,
        save("sgf"), save("psq"), save("txt"),
        html("button", {onclick: () => this.saveSvg()}, t("file.picture", {form: "SVG"})),
        html("button", {onclick: () => this.savePng()}, t("file.picture", {form: "PNG"})),
        html("button", {onclick: async () => {
          const gif = await animated();
          if (gif === undefined) return;
          const bytes = Uint8Array.from(atob(gif), (letter) => letter.charCodeAt(0));
          download(`${name()}.gif`, new Blob([bytes], {type: "image/gif"}));
        }}, t("file.animation", {form: "GIF"})),
        html("button", {onclick: async () => {
          try {
            await navigator.clipboard.writeText(location.href);
            say(t("file.copied"));
          } catch {
            say(t("error.clipboard", {link: location.href}));
          }
        }}, t("file.share"))));
  }

  /** The board as an SVG file by itself: with the styles that the page gives it. */
  svgText() {
    const source = this.picture();
    const copy = /** @type {SVGElement} */ (source.cloneNode(true));
    const from = [source, ...source.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
    from.forEach((element, i) => {
      const style = getComputedStyle(element);
      for (const property of ["fill", "stroke", "stroke-width", "stroke-linecap", "opacity", "font-size", "font-family", "font-weight", "text-anchor"]) {
        to[i].setAttribute(property, style.getPropertyValue(property));
      }
      to[i].removeAttribute("class");
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const [, , width, height] = (copy.getAttribute("viewBox") ?? "0 0 100 100").split(" ");
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    return new XMLSerializer().serializeToString(copy);
  }

  saveSvg() {
    download(`${this.name()}.svg`, new Blob([this.svgText()], {type: "image/svg+xml"}));
  }

  async savePng() {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(this.svgText())}`;
    await image.decode();
    const canvas = html("canvas", {width: SCALE * image.width, height: SCALE * image.height});
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob && download(`${this.name()}.png`, blob));
  }
}

/** @param {string} name @param {Blob} blob */
function download(name, blob) {
  const link = html("a", {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
