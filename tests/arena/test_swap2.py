"""Swap2 in matches: who puts stones, who takes which colour, and whose time it is."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tengen import games, players
from tengen.arena.match import Match, Tally, match_games, match_result
from tengen.arena.openings import Openings
from tengen.arena.played import GameGroup, GameTask, PlayedGame
from tengen.arena.referee import PlayGames
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.decision import Decider
from tengen.players.limit import Limit
from tengen.players.player import Choice
from tengen.workers.tasks import RunTasks
from tests.players.test_engine import Script

PROPOSAL = "def on_swap2(stones): say('0,0 1,1 2,2' if not stones else ANSWERS[len(stones)])\n"
# What an engine answers to three stones, to five stones.
WHITE_AT_ONCE = PROPOSAL + "ANSWERS = {3: '3,3', 5: 'SWAP'}"
BLACK = PROPOSAL + "ANSWERS = {3: 'SWAP', 5: 'SWAP'}"
TWO_MORE = PROPOSAL + "ANSWERS = {3: '3,3  4,4', 5: '5,5'}"


class Sure(Decider):
    summary = "gives every position the value in its setting, in hundredths"

    def __init__(self, game: Game, depth: int = 50) -> None:
        super().__init__(game)
        self._value = depth / 100 - 0.4

    def decide(self, position: Position, limit: Limit) -> Choice:
        return Choice(position.legal_actions[-1], self._value)


@pytest.fixture(autouse=True)
def more_players(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(players.REGISTRY, "sure", f"{__name__}:Sure")
    monkeypatch.setitem(players.RANGES, "depth", (1, 100))


@dataclass
class Engines:
    folder: Path

    def __call__(self, name: str, changes: str) -> tuple[Script, str]:
        (self.folder / name).mkdir()
        script = Script(self.folder / name, changes)
        return script, f"engine:seconds=5,cmd={script.command}"


@pytest.fixture
def engines(tmp_path: Path) -> Engines:
    return Engines(tmp_path)


def played(a: str, b: str, time: tuple[float, float] | None = None) -> PlayedGame:
    with PlayGames("gomoku15").open() as play:
        [game] = play(GameGroup((GameTask(0, (a, b), (), (1, 2), time, "swap2"),)))
    return game


LIKES_WHITE, LIKES_BLACK = "sure:depth=90", "sure:depth=10"


def test_the_other_stays_with_white(engines: Engines) -> None:
    _, proposer = engines("proposer", WHITE_AT_ONCE)
    game = played(proposer, LIKES_WHITE)
    assert game.moves[:4] == ("a15", "b14", "c13", "o1") and game.opening == 3
    assert game.players == (proposer, LIKES_WHITE) and not game.is_swapped and game.is_a_first
    assert game.thoughts[0].side == 1 and game.thoughts[0].value == pytest.approx(0.5)


def test_the_other_takes_black(engines: Engines) -> None:
    _, proposer = engines("proposer", WHITE_AT_ONCE)
    game = played(proposer, LIKES_BLACK)
    assert game.players == (LIKES_BLACK, proposer) and game.is_swapped and not game.is_a_first
    assert game.opening == 3 and game.moves[3] == "b15", "the engine is white now"
    assert game.thoughts[0].side == 1
    winner = game.players[0 if game.result == "1-0" else 1]
    assert game.points_of_a == (1.0 if winner == proposer else 0.0)


@pytest.mark.parametrize(("proposer", "is_swapped"), [(LIKES_WHITE, True), (LIKES_BLACK, False)])
def test_two_more_stones_and_the_proposer_chooses(engines: Engines, proposer: str, is_swapped: bool) -> None:
    script, other = engines("other", TWO_MORE.replace("3,3  4,4", "13,0 14,0"))
    game = played(proposer, other)
    assert game.opening == 5 and game.moves[3:5] == ("n15", "o15")
    assert game.is_swapped == is_swapped and game.players[is_swapped] == proposer
    assert script.heard.count("SWAP2BOARD") == 1 and "UNKNOWN" not in game.reason
    first_board = script.heard[script.heard.index("BOARD") :]
    assert first_board.index("DONE") == (7 if is_swapped else 6), "white moves next, whoever that is"


def test_an_engine_that_takes_black_and_one_that_takes_white(engines: Engines) -> None:
    _, black = engines("black", BLACK)
    _, white = engines("white", WHITE_AT_ONCE)
    assert played(white, black).players == (black, white)
    game = played(black, white)
    assert game.players == (black, white) and game.moves[:4] == ("a15", "b14", "c13", "d12")
    _, two = engines("two", TWO_MORE)
    game = played(two, two)
    assert (
        game.opening == 5 and game.moves[:6] == ("a15", "b14", "c13", "d12", "e11", "f10") and game.is_swapped
    )


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ("say('7,7 7,8')", "said '7,7 7,8' to SWAP2BOARD with 0 stones"),
        ("say('7,7 7,7 7,8')", "played '7,7', which is h8: there is a stone already"),
        ("say('SWAP')", "said 'SWAP' to SWAP2BOARD with 0 stones"),
        ("say('UNKNOWN')", "made no move within 5.5 s, it said 'UNKNOWN'"),
    ],
)
def test_a_wrong_answer_loses(engines: Engines, answers: str, reason: str) -> None:
    _, wrong = engines("wrong", f"def on_swap2(stones): {answers}")
    game = played(wrong, LIKES_WHITE)
    assert game.result == "0-1" and game.reason.endswith(reason) and game.opening == 0


def test_a_player_without_values_proposes_and_takes_white() -> None:
    game = played("uniform", "uniform")
    assert game.opening == 3 and not game.is_swapped and len(set(game.moves[:3])) == 3


def test_searching_players_propose_what_they_think_equal() -> None:
    game = played("alphabeta:depth=2", "alphabeta:depth=2")
    assert game.opening == 3 and not game.reason
    assert game.moves[:3] == played("alphabeta:depth=2", "alphabeta:depth=2").moves[:3]


def test_the_time_of_a_decision_is_taken_from_the_clock_of_who_decides(engines: Engines) -> None:
    """The engine takes black after 0.6 s: its clock keeps that when it changes colours."""
    _, slow = engines("slow", "def on_swap2(stones): time.sleep(0.6); say('SWAP')")
    game = played("greedy", slow, time=(1.0, 0.0))
    assert game.is_swapped and not game.reason
    _, slower = engines("slower", "def on_swap2(stones): time.sleep(1.2); say('SWAP')")
    game = played("greedy", slower, time=(1.0, 0.0))
    assert game.result == "1-0" and game.reason == f"{slower}: lost on time"


def test_a_match_by_swap2_counts_its_points_and_goes_on(tmp_path: Path, run_tasks: RunTasks) -> None:
    rules = games.find("gomoku9")
    match = Match(rules, "greedy", LIKES_BLACK, seed=3, openings=Openings(rules, 3, rule="swap2"))
    found = list(match_games(match, 4, run_tasks, out=tmp_path))
    assert all(game.is_swapped for game in found if game.index % 2 == 0), "who likes black takes it"
    result = match_result(match, found)
    assert result.total == Tally(4, 0, 0), "greedy wins whatever the colours"
    assert result.openings == "swap2, each player proposes in one game of a pair"
    assert len({game.moves[:3] for game in found}) > 1, "games differ by their seeds"
    again = list(match_games(match, 4, run_tasks, out=tmp_path))
    assert again == found and (tmp_path / "games.jsonl").read_text().count("\n") == 4
    assert json.loads((tmp_path / "match.json").read_text())["openings"] == "swap2"
