"""A game as an animated GIF: one frame for each position, the last one longer."""

import io
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from PIL import Image

from tengen.games.drawing import picture
from tengen.games.painting import paint
from tengen.games.position import Position

WIDTH, LARGEST_SCALE = 640, 2.0  # pixels; a small board is not blown up to a poster
MOVE_MS, LAST_MS = 700, 3000
SWATCH = 24  # pixels


def gif(positions: Sequence[Position]) -> bytes:
    """The positions of a game, in order, as the content of a file."""
    pictures = [picture(position.game, position.state) for position in positions]
    scale = min(LARGEST_SCALE, WIDTH / float(pictures[0].attrib["width"]))
    frames = [paint(one, scale).convert("RGB") for one in pictures]
    palette = _palette(pictures, frames[-1])
    frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    file = io.BytesIO()
    durations = [MOVE_MS] * (len(frames) - 1) + [LAST_MS]
    frames[0].save(
        file, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0, disposal=1
    )
    return file.getvalue()


def _palette(pictures: Sequence[ET.Element], last: Image.Image) -> Image.Image:
    """An image with the 256 colours of all frames, so that none flickers.

    They are those of the last frame, and of a swatch for every colour that is drawn with: the few pixels of
    the mark on the last stone would get none of their own."""
    used = {element.get(ink) for one in pictures for element in one.iter() for ink in ("fill", "stroke")}
    colors = sorted(color for color in used if color is not None and color.startswith("#"))
    sample = Image.new("RGB", (max(last.width, SWATCH * len(colors)), last.height + SWATCH))
    sample.paste(last)
    for i, color in enumerate(colors):
        sample.paste(color, (i * SWATCH, last.height, (i + 1) * SWATCH, last.height + SWATCH))
    return sample.quantize(256, dither=Image.Dither.NONE)
