"""The pictures of drawing.py as pixels, with Pillow: just the parts of SVG that a board is drawn with.

    image = paint(picture(game, state), scale=1.5)

Every shape becomes a small transparent image, drawn at four times its size and reduced, so that its edges are
smooth; equal shapes (all black stones) are drawn once. What lies below the stones is kept from one picture
to the next.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal
from xml.etree import ElementTree as ET

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

from tengen.games.drawing import Point

SMOOTHING = 4  # extra resolution while a shape is drawn
INHERITED = {"fill", "stroke", "stroke-width", "font-size"}
Kind = Literal["polygon", "lines", "circle", "text"]
Color = tuple[int, int, int]


@dataclass(frozen=True)
class Gradient:
    """From light to dark: down to the right (linear), or outwards from a bright spot (radial)."""

    kind: Literal["linear", "radial"]
    light: Color
    dark: Color


@dataclass(frozen=True)
class Shape:
    """Something to paint, in pixels of the image, relative to a whole pixel: (left, top)."""

    kind: Kind
    points: tuple[Point, ...]  # of all parts; a circle's centre; a text's middle on its baseline
    ends: tuple[int, ...] = ()  # lines: where each part ends in `points`
    radius: float = 0.0  # of a circle or of a rectangle's corners
    fill: Color | Gradient | None = None
    opacity: float = 1.0
    stroke: Color | None = None
    width: float = 0.0  # of the stroke
    text: str = ""
    size: float = 0.0  # of the text


Placed = tuple[int, int, Shape]  # left, top, and what is painted there


def paint(picture: ET.Element, scale: float) -> Image.Image:
    """The picture as pixels, `scale` times as large."""
    size = (round(float(picture.attrib["width"]) * scale), round(float(picture.attrib["height"]) * scale))
    gradients = dict(_gradients(picture))
    below, above = list[Placed](), list[Placed]()
    for element in picture:
        has_begun = bool(above) or "class" in element.attrib  # the first stone or mark
        (above if has_begun else below).extend(_shapes(element, {}, gradients, scale))
    image = _painted(size, tuple(below)).copy()
    _compose(image, above)
    return image


@lru_cache(maxsize=2)
def _painted(size: tuple[int, int], shapes: tuple[Placed, ...]) -> Image.Image:
    image = Image.new("RGBA", size, "#ffffff")
    _compose(image, shapes)
    return image


def _compose(image: Image.Image, shapes: Iterable[Placed]) -> None:
    for left, top, shape in shapes:
        patch, (x, y) = _patch(shape)
        corner = (left + x, top + y)
        cut = (max(0, -corner[0]), max(0, -corner[1]))  # a part beyond the image's edge
        image.alpha_composite(patch, (corner[0] + cut[0], corner[1] + cut[1]), cut)


# From SVG to shapes.


def _gradients(picture: ET.Element) -> Iterator[tuple[str, Gradient]]:
    for gradient in picture.findall("defs/*"):
        light, dark = (_color(stop.attrib["stop-color"]) for stop in gradient)
        kind: Literal["linear", "radial"] = "linear" if gradient.tag == "linearGradient" else "radial"
        yield gradient.attrib["id"], Gradient(kind, light, dark)


def _shapes(
    element: ET.Element, inherited: dict[str, str], gradients: dict[str, Gradient], scale: float
) -> Iterator[Placed]:
    """The shapes of an element, with the whole pixel that each is relative to."""
    style = inherited | {key: value for key, value in element.attrib.items() if key in INHERITED}
    if element.tag == "g":
        for child in element:
            yield from _shapes(child, style, gradients, scale)
        return
    if element.tag in ("title", "defs"):
        return
    kind, points, ends = _geometry(element, scale)
    left, top = (math.floor(min(axis)) for axis in zip(*points, strict=True))
    yield (
        left,
        top,
        Shape(
            kind,
            tuple((round(x - left, 3), round(y - top, 3)) for x, y in points),
            ends,
            radius=float(element.get("r", element.get("rx", 0))) * scale,
            fill=_filling(style.get("fill", "#000000"), gradients),
            opacity=float(element.get("fill-opacity", 1)),
            stroke=_color(style["stroke"]) if "stroke" in style else None,
            width=float(style.get("stroke-width", 1)) * scale,
            text=element.text or "" if kind == "text" else "",
            size=float(style.get("font-size", 0)) * scale,
        ),
    )


def _geometry(element: ET.Element, scale: float) -> tuple[Kind, list[Point], tuple[int, ...]]:
    """What an element is, its points, and where each of its lines ends in them."""

    def number(name: str) -> float:
        return float(element.get(name, 0)) * scale

    match element.tag:
        case "rect":
            left, top = number("x"), number("y")
            right, bottom = left + number("width"), top + number("height")
            return "polygon", [(left, top), (right, top), (right, bottom), (left, bottom)], ()
        case "circle":
            return "circle", [(number("cx"), number("cy"))], ()
        case "text":
            return "text", [(number("x"), number("y"))], ()
        case "path":
            return "lines", *_path(element.attrib["d"], scale)
        case "polygon" | "polyline":
            pairs = (pair.split(",") for pair in element.attrib["points"].split())
            points = [(float(x) * scale, float(y) * scale) for x, y in pairs]
            return ("lines", points, (len(points),)) if element.tag == "polyline" else ("polygon", points, ())
        case other:
            raise ValueError(f"boards are not drawn with <{other}>")


def _path(commands: str, scale: float) -> tuple[list[Point], tuple[int, ...]]:
    """The points of straight lines, and where each line ends: M x y, m dx dy, l dx dy, H x, V y."""
    points, ends = list[Point](), list[int]()
    x = y = 0.0
    for command, numbers in re.findall(r"([MmlHV])([^MmlHV]*)", commands):
        values = [float(number) for number in numbers.split()]
        if command in "Mm" and points:
            ends.append(len(points))
        match command:
            case "M":
                x, y = values
            case "H":
                x = values[0]
            case "V":
                y = values[0]
            case _:
                x, y = x + values[0], y + values[1]
        points.append((x * scale, y * scale))
    return points, (*ends, len(points))


def _filling(fill: str, gradients: dict[str, Gradient]) -> Color | Gradient | None:
    """`none`, a colour, or `url(#name)` of a gradient."""
    if fill == "none":
        return None
    return gradients[fill[len("url(#") : -1]] if fill.startswith("url(#") else _color(fill)


def _color(text: str) -> Color:
    red, green, blue, *_ = ImageColor.getrgb(text)
    return red, green, blue


# From shapes to pixels.


@lru_cache(maxsize=512)
def _patch(shape: Shape) -> tuple[Image.Image, tuple[int, int]]:
    """A shape on a transparent ground, and where the patch lies relative to the shape's own pixel."""
    reach = math.ceil(shape.width + (shape.radius if shape.kind == "circle" else 0) + 2 * shape.size) + 1
    right, bottom = (math.ceil(max(axis)) for axis in zip(*shape.points, strict=True))
    size = (right + 2 * reach, bottom + 2 * reach)
    mask = Image.new("L", (size[0] * SMOOTHING, size[1] * SMOOTHING))
    patch = Image.new("RGBA", size)
    if shape.fill is not None and shape.kind != "lines":
        _draw(shape, ImageDraw.Draw(mask), reach, is_stroke=False)
        ground = _ground(shape, size, reach)
        ground.putalpha(mask.reduce(SMOOTHING).point(lambda level: level * shape.opacity))
        patch.alpha_composite(ground)
    if shape.stroke is not None:
        mask.paste(0, (0, 0, *mask.size))
        _draw(shape, ImageDraw.Draw(mask), reach, is_stroke=True)
        ink = Image.new("RGBA", size, shape.stroke)
        ink.putalpha(mask.reduce(SMOOTHING))
        patch.alpha_composite(ink)
    return patch, (-reach, -reach)


def _draw(shape: Shape, canvas: ImageDraw.ImageDraw, reach: int, *, is_stroke: bool) -> None:
    """Draws the shape or its outline into a mask."""
    points = [((x + reach) * SMOOTHING, (y + reach) * SMOOTHING) for x, y in shape.points]
    width, radius = shape.width * SMOOTHING, shape.radius * SMOOTHING
    match shape.kind:
        case "text":
            canvas.text(points[0], shape.text, 255, ImageFont.load_default(shape.size * SMOOTHING), "ms")
        case "circle" if is_stroke:
            canvas.circle(points[0], radius + width / 2, outline=255, width=round(width))
        case "circle":
            canvas.circle(points[0], radius, 255)
        case "polygon" if is_stroke:
            _stroke(canvas, [*points, points[0]], width)
        case "polygon" if radius:
            canvas.rounded_rectangle([points[0], points[2]], radius, 255)
        case "polygon":
            canvas.polygon(points, 255)
        case "lines":
            for begin, end in pairwise((0, *shape.ends)):
                _stroke(canvas, points[begin:end], width)


def _stroke(canvas: ImageDraw.ImageDraw, points: list[Point], width: float) -> None:
    """A line of straight pieces that goes half its width beyond its ends. Thick ones have round corners."""
    half = width / 2
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 == x1 or y0 == y1:  # Pillow's own lines are a pixel off if their width is even
            left, top = round(min(x0, x1) - half), round(min(y0, y1) - half)
            right, bottom = round(max(x0, x1) + half), round(max(y0, y1) + half)
            canvas.rectangle([left, top, right - 1, bottom - 1], 255)
        else:
            canvas.line([(x0, y0), (x1, y1)], 255, max(1, round(width)))
    if width > SMOOTHING * 2:
        for point in points:
            canvas.circle(point, half - 0.5, 255)


def _ground(shape: Shape, size: tuple[int, int], reach: int) -> Image.Image:
    """What a shape is filled with: one colour, or a gradient over the shape's box as SVG defines it."""
    if not isinstance(shape.fill, Gradient):
        return Image.new("RGB", size, shape.fill)
    radius = shape.radius if shape.kind == "circle" else 0.0
    axes = list(zip(*shape.points, strict=True))
    left, top = (min(axis) + reach - radius for axis in axes)
    right, bottom = (max(axis) + reach + radius for axis in axes)
    x = (np.arange(size[0]) + 0.5 - left)[None, :] / max(right - left, 1e-9)
    y = (np.arange(size[1]) + 0.5 - top)[:, None] / max(bottom - top, 1e-9)
    t = (x + y) / 2 if shape.fill.kind == "linear" else np.hypot(x - 0.35, y - 0.3) / 0.7
    t = np.clip(t, 0, 1)[:, :, None]
    mixed = (1 - t) * np.array(shape.fill.light) + t * np.array(shape.fill.dark)
    return Image.fromarray(mixed.round().astype(np.uint8), "RGB")
