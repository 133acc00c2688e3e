"""The page in a real browser: whole games, by mouse, by keyboard, by touch; analysis, review, links, languages."""

import re
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from PIL import Image, ImageSequence
from playwright.sync_api import Locator, Page, expect

from tengen.games.position import Position
from tests.web.browser.conftest import OpenPage

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}


def link(game: str, moves: str = "", first: str = "person", second: str = "person") -> str:
    return f"#game={game}&first={first}&second={second}&moves={moves.replace(' ', ',')}"


def cell(page: Page, name: str) -> Locator:
    return page.locator(f'tengen-board [data-cell="{name}"]')


def status(page: Page) -> Locator:
    return page.locator(".status")


def stones(page: Page) -> int:
    return page.locator("tengen-board .stones .stone").count()


def click_moves(page: Page, moves: str) -> None:
    """Clicks cells one after another, each when the page shows that the one before was played."""
    for number, move in enumerate(moves.split(), start=stones(page) + 1):
        cell(page, move).click()
        expect(page.locator("tengen-board .stones .stone")).to_have_count(number)


def analyse(page: Page) -> None:
    """Switches the analysis on, once there is a game."""
    expect(page.locator("tengen-board .stones .stone").first).to_be_visible()
    page.get_by_role("switch", name="Analyse").check()


def start_game(page: Page, game: str, opponent: str, level: int | None = None) -> None:
    """Fills in the dialog."""
    page.get_by_label("Game", exact=True).select_option(game)
    page.locator("label", has_text=re.compile(f"^{opponent}$")).click()
    if level is not None:
        page.get_by_label("Level", exact=True).fill(str(level))
    page.get_by_role("button", name="Start").click()


# Whole games.


def test_two_people_play_gomoku_to_the_end(open_page: OpenPage) -> None:
    page = open_page()
    start_game(page, "gomoku9", "A friend on this screen")
    click_moves(page, "e5 a1 e6 a2 e7 a3 e4 a4 e8")
    expect(status(page)).to_contain_text("Black wins")
    expect(page.locator(".winning")).to_have_count(1)
    cell(page, "h8").click()
    expect(page.locator(".notice")).to_contain_text("the game is over")
    assert stones(page) == 9


@pytest.mark.parametrize("game", ["tictactoe", "connect4"])
def test_a_game_against_the_computer_to_the_end(open_page: OpenPage, game: str) -> None:
    page = open_page()
    start_game(page, game, "The computer", level=2)
    for _ in range(21):
        expect(status(page)).to_have_text(re.compile("(Cross|Red) to move|wins|draw"))
        if not re.search("to move", status(page).inner_text()):
            break
        before = stones(page)
        page.locator("tengen-board .cell.legal").first.click()
        expect(page.locator("tengen-board .stones .stone")).not_to_have_count(before)
    expect(status(page)).to_have_text(re.compile("wins|draw"))
    assert stones(page) >= 5


def test_a_game_by_keyboard_alone(open_page: OpenPage) -> None:
    page = open_page(link("tictactoe"))
    cell(page, "b2").focus()  # the cell in the tab order
    keys = [["Enter"], ["ArrowUp", "Enter"], ["ArrowDown", "ArrowLeft", "Enter"], ["ArrowUp", "Enter"]]
    keys += [["ArrowDown", "ArrowRight", "ArrowRight", "Enter"]]  # b2 b3 a2 a3 c2
    for number, pressed in enumerate(keys, start=1):
        for key in pressed:
            page.keyboard.press(key)
        expect(page.locator("tengen-board .stones .stone")).to_have_count(number)
    expect(status(page)).to_contain_text("Cross wins")
    page.get_by_role("button", name="Undo").focus()
    page.keyboard.press("ArrowLeft")  # outside the board, arrow keys step through the game
    expect(page.locator("tengen-board .stones .stone")).to_have_count(4)
    page.keyboard.press("Home")
    expect(page.locator("tengen-board .stones .stone")).to_have_count(0)


def test_typed_moves(open_page: OpenPage) -> None:
    page = open_page(link("gomoku15"))
    typed = page.get_by_label("Type a move")
    typed.fill("h8")
    typed.press("Enter")
    expect(page.locator("tengen-board .stones .stone")).to_have_count(1)
    typed.fill("z99")
    typed.press("Enter")
    expect(page.locator(".notice")).to_contain_text("illegal move 'z99'")


def test_a_phone_asks_for_a_second_tap_on_a_small_board(open_page: OpenPage) -> None:
    page = open_page(link("gomoku15", "h8 h9"), **PHONE)
    expect(page.locator("tengen-board .stones .stone")).to_have_count(2)
    cell(page, "i9").tap()
    expect(page.locator("tengen-board .tapped")).to_have_count(1)
    expect(page.locator(".notice")).to_contain_text("i9")
    assert stones(page) == 2
    cell(page, "g7").tap()  # another one
    assert stones(page) == 2
    cell(page, "g7").tap()
    expect(page.locator("tengen-board .stones .stone")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
        "nothing is wider than the screen"
    )


def test_a_phone_plays_a_large_cell_at_once(open_page: OpenPage) -> None:
    page = open_page(link("tictactoe"), **PHONE)
    for number, move in enumerate(["a1", "b1", "a2", "b2", "a3"], start=1):
        cell(page, move).tap()
        expect(page.locator("tengen-board .stones .stone")).to_have_count(number)
    expect(status(page)).to_contain_text("wins")


# What is refused, and taken back.


def test_an_occupied_cell_and_a_forbidden_point_are_explained(open_page: OpenPage) -> None:
    page = open_page(link("renju15", "h8 a1 h9 a15 i7 o1 j7 o15"))
    expect(page.locator("tengen-board .forbidden")).to_have_count(1)
    cell(page, "h7").click()
    expect(page.locator(".notice")).to_contain_text("double-three")
    cell(page, "h8").click()
    expect(page.locator(".notice")).to_contain_text("there is a stone already")
    expect(page.locator("tengen-board .stones .stone")).to_have_count(8)


def test_undo_redo_and_a_variation(open_page: OpenPage) -> None:
    page = open_page(link("gomoku9", "e5 e6 d5"))
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("tengen-board .stones .stone")).to_have_count(2)
    page.get_by_role("button", name="Redo").click()
    expect(page.locator("tengen-board .stones .stone")).to_have_count(3)
    page.get_by_role("button", name="1. e5", exact=True).click()
    expect(page.get_by_text("You are looking at another position")).to_be_visible()
    cell(page, "f6").click()
    expect(page.get_by_role("button", name="2. f6", exact=True)).to_be_visible()
    page.get_by_role("button", name="Back to the game").click()
    expect(page.locator("tengen-board .stones .stone")).to_have_count(3)


# Thinking.


def test_analysis_appears_follows_the_game_and_stops(open_page: OpenPage) -> None:
    page = open_page(link("gomoku9", "e5 d4"))
    analyse(page)
    rows = page.locator("table.best tbody tr")
    expect(rows.first).to_be_visible()
    first = page.locator(".analysis .numbers").last.inner_text()
    expect(page.locator(".analysis .numbers").last).not_to_have_text(first)  # it goes on
    expect(page.locator(".evaluation")).to_be_visible()
    assert page.locator("tengen-board .heat rect").count() > 0
    cell(page, "e6").click()
    expect(page.locator("tengen-board .stones .stone")).to_have_count(3)
    expect(rows.first).to_be_visible()  # it stays on
    page.get_by_role("switch", name="Analyse").uncheck()
    expect(rows).to_have_count(0)
    expect(page.locator("tengen-board .heat rect")).to_have_count(0)


def test_connect4_shows_the_exact_score_of_every_column(open_page: OpenPage) -> None:
    page = open_page(link("connect4", "4 4 4 4 4 4 3 3 2 5 2 3 5 5 5"))
    analyse(page)
    expect(page.locator("tengen-board .marks .label")).to_have_count(6)  # the fourth column is full


def test_a_line_is_shown_on_the_board(open_page: OpenPage) -> None:
    page = open_page(link("gomoku9", "e5 d4"))
    analyse(page)
    page.locator("table.best tbody td.line button").first.focus()
    expect(page.locator("tengen-board .ghost").first).to_be_visible()


# Learning from mistakes.

BLUNDER = "e5 d2 e6 e2 e7 f2 i9"  # both have three in a row; black, who would win, looks away and is lost


def test_review_finds_a_planted_blunder_and_retry_takes_only_better_moves(open_page: OpenPage) -> None:
    page = open_page(link("gomoku9", BLUNDER))
    page.get_by_role("button", name="Review this game").click()
    moment = page.locator(".moments li", has_text="i9")
    expect(moment).to_be_visible(timeout=120_000)
    expect(page.locator(".graph .values")).to_have_count(1)
    moment.get_by_role("button", name="Find a better move").click()
    expect(page.locator(".retry")).to_contain_text("instead of i9")
    expect(page.locator(".evaluation")).to_be_hidden()
    expect(page.locator("tengen-board .stones .stone")).to_have_count(6)
    cell(page, "a5").click()
    expect(page.locator(".retry")).to_contain_text("a5 is not better")
    cell(page, "e8").click()
    expect(page.locator(".retry")).to_contain_text("Yes, e8 is better")
    page.get_by_role("button", name="Done").click()
    expect(page.locator("tengen-board .stones .stone")).to_have_count(7)


# Addresses, pages, languages.


def test_a_link_shows_the_same_position_elsewhere(open_page: OpenPage) -> None:
    page = open_page(link("gomoku9", "e5 e6"))
    cell(page, "d5").click()
    expect(page.locator("tengen-board .stones .stone")).to_have_count(3)
    fragment = page.evaluate("location.hash")
    assert fragment.endswith("moves=e5%2Ce6%2Cd5")
    other = open_page(fragment)
    expect(other.locator("tengen-board .stones .stone")).to_have_count(3)
    click_moves(other, "e4")
    assert stones(page) == 3, "two pages are two games"


def test_a_link_to_no_game_says_so(open_page: OpenPage) -> None:
    page = open_page(link("gomoku99"))
    expect(page.locator(".notice")).to_contain_text("gomoku99")
    expect(page.locator(".notice")).to_be_visible()
    expect(status(page)).to_be_hidden()


def test_a_page_that_is_reloaded_goes_on(open_page: OpenPage) -> None:
    page = open_page(link("gomoku9", "e5", second="level1"))
    expect(page.locator("tengen-board .stones .stone")).to_have_count(2)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("tengen-board .stones .stone")).to_have_count(0)
    click_first = cell(page, "d4")
    click_first.click()
    expect(page.locator("tengen-board .stones .stone")).to_have_count(2)
    moves = page.locator(".moves").inner_text()
    page.reload()
    expect(page.locator(".moves")).to_have_text(re.compile(r"d4"))
    assert page.locator(".moves").inner_text() == moves
    expect(page.locator(".players")).to_contain_text("Level 1")


@pytest.mark.parametrize(
    ("locale", "button"),
    [
        ("zh-CN", "新对局"),
        ("zh-TW", "新對局"),
        ("ru-RU", "Новая партия"),
        ("vi-VN", "Ván mới"),
        ("de-DE", "New game"),
    ],
)
def test_the_page_speaks_the_browsers_language(open_page: OpenPage, locale: str, button: str) -> None:
    page = open_page(link("tictactoe"), locale=locale)
    expect(page.locator("header").get_by_role("button")).to_have_text(button)


def test_another_language_is_chosen_and_kept(open_page: OpenPage) -> None:
    page = open_page(link("gomoku9", "e5"))
    page.get_by_label("Language").select_option("ru")
    expect(page.locator("header").get_by_role("button")).to_have_text("Новая партия")
    expect(page.locator("tengen-board .stones .stone")).to_have_count(1)
    page.reload()
    expect(status(page)).to_contain_text("Белые")


# Files and positions set up by hand.


def test_a_game_is_loaded_and_saved(open_page: OpenPage) -> None:
    page = open_page(link("tictactoe"))
    page.get_by_text("Files").click()
    sgf = b"(;GM[4]SZ[15];B[hh];W[hi]C[a reply](;B[ii])(;B[gg]))"
    page.set_input_files("#load", {"name": "game.sgf", "mimeType": "text/plain", "buffer": sgf})
    expect(page.locator("tengen-board .stones .stone")).not_to_have_count(0)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as SGF").click()
    assert b"a reply" in saved.value.path().read_bytes()
    with page.expect_download() as picture:
        page.get_by_role("button", name="Save picture as PNG").click()
    assert picture.value.path().read_bytes().startswith(b"\x89PNG")
    with page.expect_download() as animation:
        page.get_by_role("button", name="Save animation as GIF").click()
    frames = list(ImageSequence.Iterator(Image.open(animation.value.path())))
    assert len(frames) == 4  # the start and three moves


def test_a_position_is_set_up_by_hand(open_page: OpenPage) -> None:
    page = open_page(link("gomoku9"))
    page.get_by_text("Files").click()
    page.get_by_role("button", name="Set up a position").click()
    for name in ("a1", "b1", "c1", "d1"):
        cell(page, name).click()
    expect(page.locator("tengen-board .stones .stone")).to_have_count(4)
    page.get_by_role("button", name="Use this position").click()
    expect(status(page)).to_contain_text("Black to move")
    cell(page, "e1").click()
    expect(status(page)).to_contain_text("Black wins")


def test_legal_moves_are_dots_where_not_every_empty_cell_is_one(open_page: OpenPage) -> None:
    page = open_page(link("othello8", "f5"))
    expect(page.locator("tengen-board .possible")).to_have_count(3)
    cell(page, "f4").click()
    expect(page.locator("tengen-board .stones .stone")).to_have_count(6)
    expect(page.locator("tengen-board .possible")).to_have_count(
        len(Position.from_moves("othello8", "f5 f4").legal_moves)
    )
    assert open_page(link("gomoku9", "e5")).locator("tengen-board .possible").count() == 0


# For everyone.


def show_view(open_page: OpenPage, view: str, scheme: str) -> Page:
    """A page that shows one of the views, completely."""
    settings = PHONE if view == "phone" else {}
    if view == "dialog":
        page = open_page("", color_scheme=scheme)
        expect(page.locator("dialog")).to_be_visible()
        return page
    page = open_page(link("gomoku9", BLUNDER), color_scheme=scheme, **settings)
    expect(page.locator("tengen-board .stones .stone").first).to_be_visible()
    if view == "analysis":
        analyse(page)
        expect(page.locator("table.best tbody tr").first).to_be_visible()
    if view == "review":
        page.get_by_role("button", name="Review this game").click()
        expect(page.locator(".moments li").first).to_be_visible(timeout=120_000)
    if view in ("files", "setup"):
        page.get_by_text("Files").click()
        expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    if view == "setup":
        page.get_by_role("button", name="Set up a position").click()
        expect(page.get_by_role("button", name="Use this position")).to_be_visible()
    if view == "contrast":
        page.get_by_label("Colours").select_option("contrast")
    return page


def violations(page: Page) -> list[Any]:
    """What axe finds wrong for people who cannot see well, cannot use a mouse, or hear the page."""
    found = page.evaluate("axe.run()")
    return [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in found["violations"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "view", ["dialog", "game", "analysis", "review", "files", "setup", "contrast", "phone"]
)
def test_axe_finds_nothing(open_page: OpenPage, view: str, scheme: str) -> None:
    page = show_view(open_page, view, scheme)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert violations(page) == []
    if view == "review":
        page.get_by_role("button", name="Find a better move").first.click()
        expect(page.locator(".retry")).to_contain_text("instead of")
        assert violations(page) == []
