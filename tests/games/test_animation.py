"""Games as animated GIFs."""

import io
from itertools import accumulate

from PIL import Image, ImageColor, ImageSequence

from tengen.games import animation, drawing
from tengen.games.position import Position


def positions(game: str, moves: str) -> list[Position]:
    return list(accumulate(moves.split(), Position.play, initial=Position.start(game)))


def test_every_position_is_a_frame_and_the_last_stays_longest() -> None:
    image = Image.open(io.BytesIO(animation.gif(positions("gomoku9", "e5 d4 f6"))))
    durations = [frame.info["duration"] for frame in ImageSequence.Iterator(image)]
    assert durations == [animation.MOVE_MS] * 3 + [animation.LAST_MS]
    assert image.info["loop"] == 0  # for ever


def test_a_frame_differs_from_the_one_before_only_around_the_move() -> None:
    """Othello: f5 turns e5; both discs change, and the mark of the last move is new."""
    game = positions("othello", "f5")
    before, after = (
        frame.convert("RGB") for frame in ImageSequence.Iterator(Image.open(io.BytesIO(animation.gif(game))))
    )
    changed = {
        (col, row)
        for row in range(8)
        for col in range(8)
        if before.crop(box(before, row, col)).tobytes() != after.crop(box(after, row, col)).tobytes()
    }
    assert changed == {(4, 4), (5, 4)}


def box(frame: Image.Image, row: int, col: int) -> tuple[int, int, int, int]:
    """A cell of Othello in a frame."""
    scale = frame.width / (8 * drawing.CELL + 2 * drawing.MARGIN)
    left, top = drawing.MARGIN + col * drawing.CELL, drawing.MARGIN + row * drawing.CELL
    edges = (left + 2, top + 2, left + drawing.CELL - 2, top + drawing.CELL - 2)
    x0, y0, x1, y1 = (round(edge * scale) for edge in edges)
    return x0, y0, x1, y1


def test_the_few_pixels_of_the_last_mark_keep_their_colour() -> None:
    frame = Image.open(io.BytesIO(animation.gif(positions("gomoku9", "e5 d4"))))
    frame.seek(1)
    middle = frame.convert("RGB").getpixel((frame.width // 2, frame.height // 2))  # e5, just played
    red = ImageColor.getrgb(drawing.WOOD.last)
    assert isinstance(middle, tuple) and max(abs(a - b) for a, b in zip(middle, red, strict=True)) <= 8
