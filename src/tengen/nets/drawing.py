"""A drawing of boxes, lines and texts, written as SVG (without a library) or PNG (with Pillow)."""

import io
import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Literal

from tengen.errors import UserError

Point = tuple[float, float]

INK = "#24292f"
CORNER = 9.0  # the radius of a line's corners, in pixels
HEAD = (8.0, 3.6)  # an arrow's head: its length, half its width
SCALE, SMOOTHING = 2, 3  # PNG: pixels per unit of the drawing, and extra resolution while drawing
PLAIN = str.maketrans({"×": "x"})  # missing in Pillow's own font, which is used because it is always there


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    fill: str
    stroke: str
    radius: float = 6.0


@dataclass(frozen=True)
class Line:
    """Straight pieces with round corners."""

    points: tuple[Point, ...]
    has_head: bool = True
    stroke: str = INK
    width: float = 1.4


@dataclass(frozen=True)
class Text:
    x: float
    y: float  # of the baseline
    text: str
    size: float
    anchor: Literal["start", "middle", "end"] = "middle"
    fill: str = INK
    is_bold: bool = False


Shape = Box | Line | Text


@dataclass(frozen=True)
class Drawing:
    """Shapes, from back to front."""

    title: str
    width: float
    height: float
    shapes: tuple[Shape, ...]


def to_svg(drawing: Drawing) -> str:
    size = f"{drawing.width:.0f} {drawing.height:.0f}"
    width, height = size.split()
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{width}" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif">',
        f"<title>{escape(drawing.title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *(_svg(shape) for shape in drawing.shapes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _svg(shape: Shape) -> str:
    if isinstance(shape, Box):
        return (
            f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" '
            f'height="{shape.height:.1f}" rx="{shape.radius:g}" '
            f'fill="{shape.fill}" stroke="{shape.stroke}" stroke-width="1.2"/>'
        )
    if isinstance(shape, Text):
        bold = ' font-weight="bold"' if shape.is_bold else ""
        return (
            f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size:g}" '
            f'text-anchor="{shape.anchor}" fill="{shape.fill}"{bold}>{escape(shape.text)}</text>'
        )
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in _rounded(shape))
    line = f'<path d="{path}" stroke="{shape.stroke}" stroke-width="{shape.width:g}" fill="none"/>'
    if not shape.has_head:
        return line
    head = " ".join(f"{x:.1f},{y:.1f}" for x, y in _head(shape))
    return f'{line}<polygon points="{head}" fill="{shape.stroke}"/>'


def to_png(drawing: Drawing) -> bytes:
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise UserError("a PNG needs Pillow: pip install pillow; or use --svg, which needs nothing") from None
    zoom = SCALE * SMOOTHING
    image = Image.new("RGB", (round(drawing.width) * zoom, round(drawing.height) * zoom), "#ffffff")
    canvas = ImageDraw.Draw(image)

    def zoomed(points: Iterable[Point]) -> list[Point]:
        return [(x * zoom, y * zoom) for x, y in points]

    for shape in drawing.shapes:
        if isinstance(shape, Box):
            corners = zoomed([(shape.x, shape.y), (shape.x + shape.width, shape.y + shape.height)])
            canvas.rounded_rectangle(
                corners, shape.radius * zoom, shape.fill, shape.stroke, round(1.2 * zoom)
            )
        elif isinstance(shape, Text):
            font = ImageFont.load_default(shape.size * zoom)
            anchor = {"start": "ls", "middle": "ms", "end": "rs"}[shape.anchor]
            place = zoomed([(shape.x, shape.y)])[0]
            text, thicker = shape.text.translate(PLAIN), zoom // 3 if shape.is_bold else 0
            canvas.text(place, text, shape.fill, font, anchor, stroke_width=thicker)
        else:
            canvas.line(zoomed(_rounded(shape)), shape.stroke, round(shape.width * zoom), joint="curve")
            if shape.has_head:
                canvas.polygon(zoomed(_head(shape)), shape.stroke)
    size = (image.width // SMOOTHING, image.height // SMOOTHING)
    file = io.BytesIO()
    image.resize(size, Image.Resampling.BOX).save(file, "PNG", optimize=True)
    return file.getvalue()


def _rounded(line: Line) -> list[Point]:
    """The points of a line with rounded corners, without the part under its arrowhead."""
    points = list(line.points)
    if line.has_head:
        points[-1] = _towards(points[-1], points[-2], HEAD[0] * 0.8)
    path = [points[0]]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(CORNER, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        begin, end = _towards(corner, before, radius), _towards(corner, after, radius)
        for step in range(9):  # a quadratic Bézier curve
            t = step / 8
            weights = ((1 - t) ** 2, 2 * t * (1 - t), t**2)
            path.append(_mix(weights, (begin, corner, end)))
    return [*path, points[-1]]


def _head(line: Line) -> list[Point]:
    tip, before = line.points[-1], line.points[-2]
    (x, y), length = _towards(tip, before, HEAD[0]), math.dist(tip, before)
    across = ((tip[1] - before[1]) / length * HEAD[1], (before[0] - tip[0]) / length * HEAD[1])
    return [tip, (x + across[0], y + across[1]), (x - across[0], y - across[1])]


def _towards(start: Point, end: Point, length: float) -> Point:
    """The point at this distance from start, in the direction of end."""
    t = length / max(math.dist(start, end), 1e-9)
    return _mix((1 - t, t), (start, end))


def _mix(weights: tuple[float, ...], points: tuple[Point, ...]) -> Point:
    pairs = list(zip(weights, points, strict=True))
    return sum(w * x for w, (x, _) in pairs), sum(w * y for w, (_, y) in pairs)
