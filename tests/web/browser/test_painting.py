"""The painter of animations beside a real browser: both must make the same pixels of one SVG picture."""

import io

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser

from tengen.games.drawing import picture
from tengen.games.painting import paint
from tengen.games.position import Position

SCALE = 2


@pytest.mark.parametrize(
    ("game", "moves"),
    [
        ("gomoku15", "h8 i9 a1 o15 b14"),
        ("renju15", "h8 a1 h9 a3 i10 a5 j10 a7"),  # black's threes forbid a point
        ("connect4", "4 4 4 3 1"),
        ("tictactoe", "b2 a1 c1"),
        ("othello", "f5 d6 c3"),
        ("hex7", "d4 a1 g7"),
    ],
)
def test_a_browser_paints_the_same_picture(browser: Browser, game: str, moves: str) -> None:
    position = Position.from_moves(game, moves)
    drawn = picture(position.game, position.state)
    for group in [drawn, *drawn.iter("g")]:  # each has its own font
        for text in group.findall("text"):
            group.remove(text)
    ours = np.asarray(paint(drawn, SCALE).convert("RGB")).astype(int)
    height, width, _ = ours.shape
    page = browser.new_page(
        viewport={"width": width // SCALE, "height": height // SCALE}, device_scale_factor=SCALE
    )
    style = "body{margin:0} text{display:none} svg{display:block}"
    page.set_content(f"<style>{style}</style>{position.svg()}")
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    page.close()
    difference = np.abs(ours - np.asarray(shot).astype(int)).max(axis=2)
    assert difference.mean() < 1.0  # of 255
    assert (difference > 64).mean() < 0.002  # pixels at edges may be smoothed in another way
