"""A network as a picture, from top to bottom: planes, convolutions, blocks with skip connections, heads.

Blocks that repeat are drawn once, in a frame with their number. The colour shows the kind of a layer, from a
palette for colour-blind people; its name says it too.
"""

from dataclasses import dataclass, field
from itertools import takewhile

from tengen.nets.describe import Description, Layer
from tengen.nets.drawing import Box, Drawing, Line, Point, Shape, Text

WIDTH, HEIGHT, GAP = 236.0, 42.0, 24.0  # of a layer's box, and the arrow between two, in pixels
MARGIN, TOP = 30.0, 98.0
SIDE = 34.0  # space next to the boxes of a block, for the arrow of the skip connection
PAD = 14.0  # inside a frame
PLUS = 9.0  # radius of a plus sign's circle
COLUMNS = 28.0  # between heads

GREY, FAINT = "#57606a", "#afb8c1"
PAPER = "#f6f8fa"
COLOURS = {  # fill and border, after Okabe and Ito
    "conv": ("#dcecf8", "#0072b2"),
    "linear": ("#fdeccb", "#c98500"),
    "pool": ("#d5f0e6", "#009e73"),
    "product": ("#f6e1ed", "#b5598c"),
    "end": ("#eef0f2", "#6e7781"),
}


def draw(description: Description, title: str, settings: str) -> Drawing:
    """The picture of a network."""
    trunk = [layer for layer in description.layers if layer.part == "trunk"]
    chains = _chains(description)
    width = max(2, len(chains)) * (WIDTH + COLUMNS) - COLUMNS + 2 * MARGIN
    sketch = _Sketch(x=width / 2, bottom=TOP)
    sizes = f"{description.parameters:,} parameters, {description.multiply_adds:,} multiply-adds"
    sketch.front += [
        Text(MARGIN, 34, title, 18, "start", is_bold=True),
        Text(MARGIN, 54, sizes, 11.5, "start", GREY),
        Text(MARGIN, 71, settings, 11.5, "start", GREY),
    ]
    sketch.box("end", f"{len(description.planes)} planes", _shape(description.input_shape), arrow=False)

    # 1. the trunk, from its first layer to its last
    position = 0
    while position < len(trunk):
        unit, times = _repeated(trunk[position:])
        if times > 1:
            sketch.frame(unit, times)
        else:
            sketch.layer(trunk[position])
        position += len(unit) * times

    # 2. the heads, side by side, and below them the outputs
    fork = sketch.bottom
    centres = {}  # of every box in a head, by the layer's index
    ends: list[Point] = []
    for column, chain in enumerate(chains):
        x = MARGIN + WIDTH / 2 + column * (WIDTH + COLUMNS)
        branch = _Sketch(x, fork + 2 * GAP + (HEIGHT + GAP if chain.is_side_branch else 0))
        for place, number in enumerate(chain.numbers):
            one = description.layers[number]
            branch.box(one.kind, one.name, _shape(one.shape), arrow=place > 0)
            centres[number] = (x, branch.bottom - HEIGHT / 2)
        ends.append((x, branch.bottom))
        sketch.take(branch)
    for chain in chains:
        x, y = centres[chain.numbers[0]]
        if chain.is_side_branch:
            from_x, from_y = centres[chain.source]
            edge = from_x - WIDTH / 2 if x < from_x else from_x + WIDTH / 2
            sketch.lines.append(Line(((edge, from_y), (x, from_y), (x, y - HEIGHT / 2))))
        else:
            middle = fork + GAP
            sketch.lines.append(
                Line(((sketch.x, fork), (sketch.x, middle), (x, middle), (x, y - HEIGHT / 2)))
            )
    y = max(bottom for _, bottom in ends) + GAP + 4
    value = "win, draw, loss" if description.says_chances else "from -1 to 1"
    plies = ", and plies left" if description.says_plies else ""
    for part, says in (("policy", f"{description.num_actions} logits"), ("value", value + plies)):
        mine = [end for chain, end in zip(chains, ends, strict=True) if chain.part == part]
        left, right = mine[0][0] - WIDTH / 2, mine[-1][0] + WIDTH / 2
        fill, stroke = COLOURS["end"]
        sketch.front.append(Box(left, y, right - left, HEIGHT, fill, stroke, HEIGHT / 2))
        sketch.label((left + right) / 2, y, part, says)
        sketch.lines += [Line(((x, bottom), (x, y))) for x, bottom in mine]
    shapes = (*sketch.behind, *sketch.lines, *sketch.front)
    return Drawing(title, width, y + HEIGHT + MARGIN, shapes)


@dataclass
class _Chain:
    """Layers of a head, one after another: a column of the picture."""

    part: str
    source: int  # the layer whose output is the input of the first one
    is_side_branch: bool  # that layer is in a head
    numbers: list[int]


def _chains(description: Description) -> list[_Chain]:
    """The columns from left to right: first the policy's, then the value's."""
    chains: list[_Chain] = []
    for number, layer in enumerate(description.layers):
        if layer.part == "trunk":
            continue
        for chain in chains:
            if chain.numbers[-1] == layer.source and chain.part == layer.part:
                chain.numbers.append(number)
                break
        else:
            in_head = layer.source >= 0 and description.layers[layer.source].part != "trunk"
            chains.append(_Chain(layer.part, layer.source, in_head, [number]))
    return sorted(chains, key=lambda chain: (chain.part, chain.is_side_branch))


def _repeated(layers: list[Layer]) -> tuple[list[Layer], int]:
    """The longest group of blocks that repeats from here on, and how often; or one layer."""
    kinds = [layer.name.split()[0] for layer in takewhile(lambda layer: layer.kind == "block", layers)]
    length, times = 1, 1
    for size in range(1, len(kinds) // 2 + 1):
        count = 1
        while kinds[count * size : (count + 1) * size] == kinds[:size]:
            count += 1
        if count > 1 and count * size > length * times:
            length, times = size, count
    return layers[:length], times


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


@dataclass
class _Sketch:
    """A column of boxes, centred at x; `bottom` is the lower end of the last one."""

    x: float
    bottom: float
    behind: list[Shape] = field(default_factory=list)  # frames
    lines: list[Shape] = field(default_factory=list)
    front: list[Shape] = field(default_factory=list)

    def layer(self, layer: Layer) -> None:
        if layer.inside:
            self.block(layer)
        else:
            self.box(layer.kind, layer.name, _shape(layer.shape))

    def box(self, kind: str, name: str, shape: str, arrow: bool = True) -> None:
        if arrow:
            self.lines.append(Line(((self.x, self.bottom), (self.x, self.bottom + GAP))))
            self.bottom += GAP
        fill, stroke = COLOURS[kind]
        radius = HEIGHT / 2 if kind == "end" else 6.0
        self.front.append(Box(self.x - WIDTH / 2, self.bottom, WIDTH, HEIGHT, fill, stroke, radius))
        self.label(self.x, self.bottom, name, shape)
        self.bottom += HEIGHT

    def label(self, x: float, top: float, name: str, shape: str) -> None:
        self.front.append(Text(x, top + 18, name, 12.5))
        self.front.append(Text(x, top + 33, shape, 11, fill=GREY))

    def block(self, block: Layer) -> None:
        """Draws a frame around the block's layers, and the skip connection to a plus sign."""
        top = self.bottom + GAP
        left, right = self.x - WIDTH / 2 - SIDE, self.x + WIDTH / 2 + SIDE
        name = block.name.rpartition(" ")[0]
        self.front.append(Text(left + 10, top + 17, name, 11, "start", GREY))
        self.lines.append(Line(((self.x, self.bottom), (self.x, top + PAD)), has_head=False))
        self.bottom = begin = top + PAD
        summary: float | None = None  # height where global pooling leaves the middle line
        for one in block.inside:
            if one.kind == "pool":
                self.lines.append(Line(((self.x, self.bottom), (self.x, self.bottom + 6)), has_head=False))
                self.bottom = summary = self.bottom + 6
            elif one.kind == "conv" and summary is not None:
                self.sum(summary, -1)
                summary = None
            self.layer(one)
        self.sum(begin, 1)
        self.bottom += PAD - 4
        frame = Box(left, top, right - left, self.bottom - top, PAPER, FAINT, 10)
        self.behind.append(frame)
        self.lines.append(Line(((self.x, self.bottom - PAD), (self.x, self.bottom)), has_head=False))

    def sum(self, begin: float, side: int) -> None:
        """Draws a plus sign and ReLU, and a skip connection from `begin`, left (-1) or right (1)."""
        y = self.bottom + GAP - 4 + PLUS
        self.lines.append(Line(((self.x, self.bottom), (self.x, y - PLUS))))
        x = self.x + side * (WIDTH / 2 + SIDE / 2)
        self.lines.append(Line(((self.x, begin), (x, begin), (x, y), (self.x + side * PLUS, y))))
        self.front += [
            Box(self.x - PLUS, y - PLUS, 2 * PLUS, 2 * PLUS, "#ffffff", Line.stroke, PLUS),
            Line(((self.x - 4, y), (self.x + 4, y)), has_head=False),
            Line(((self.x, y - 4), (self.x, y + 4)), has_head=False),
            Text(self.x - side * 16, y + 4, "ReLU", 11, "end" if side > 0 else "start", GREY),
        ]
        self.bottom = y + PLUS

    def frame(self, blocks: list[Layer], times: int) -> None:
        """Draws blocks that repeat, in a frame with their number."""
        top, place = self.bottom + GAP, len(self.behind)
        self.lines.append(Line(((self.x, self.bottom), (self.x, top)), has_head=False))
        self.bottom = top - GAP + PAD
        self.lines.append(Line(((self.x, top), (self.x, self.bottom + GAP)), has_head=False))
        for block in blocks:
            self.block(block)
        self.lines.append(Line(((self.x, self.bottom), (self.x, self.bottom + PAD)), has_head=False))
        self.bottom += PAD
        half = WIDTH / 2 + SIDE + PAD
        frame = Box(self.x - half, top, 2 * half, self.bottom - top, "#ffffff", FAINT, 14)
        self.behind.insert(place, frame)
        self.front.append(
            Text(self.x + half + 10, (top + self.bottom) / 2 + 6, f"× {times}", 17, "start", is_bold=True)
        )

    def take(self, other: "_Sketch") -> None:
        """Adds the shapes of another sketch."""
        self.behind += other.behind
        self.lines += other.lines
        self.front += other.front
