"""Gates: who takes the champion's place, and who does not."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tengen import games
from tengen.arena.contestants import NetworkPlayer
from tengen.arena.match import Match, Tally, play_quick_matches
from tengen.errors import UserError
from tengen.evaluators.card import Card
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.decision import Decider
from tengen.players.limit import Limit
from tengen.players.player import Choice, Player
from tengen.training import gate
from tengen.training.config import GateConfig
from tengen.training.gate import Standing, decide, play_gate
from tengen.workers.local import LocalWorkers

GAME = games.find("tictactoe")
CHAMPION = GateConfig(kind="champion", games=10, win_rate=0.55)
RISING = GateConfig(kind="rising", games=20, rollouts=300)


class First(Decider):
    """Plays the first legal move."""

    summary = "the first move"

    def decide(self, position: Position, limit: Limit) -> Choice:
        return Choice(position.legal_actions[0])


@dataclass(frozen=True)
class Made(NetworkPlayer):
    """A network's place is taken by the player of first moves."""

    def new_player(self, game: Game) -> Player:
        return First(game)


CARD = Card("tictactoe", {}, (0,), 0, 0.97, "fp32")
NEW, OLD = (Made(name, CARD, b"", 8) for name in ("new", "old"))


def decided(config: GateConfig, before: Standing, match: Tally, generation: int = 7) -> Standing:
    """The verdict on a match with this result."""
    return decide(config, before, generation, match)


def quick(game: Game, a: str, b: str, num_games: int, seed: int, *networks: NetworkPlayer) -> Tally:
    with LocalWorkers(1) as run_tasks:
        [result] = play_quick_matches([Match(game, a, b, seed)], num_games, run_tasks, networks)
    return result


def test_always_asks_nobody() -> None:
    assert decide(GateConfig(), Standing(3), 4, None) == Standing(4)


def test_the_champion_stays_until_it_is_beaten_by_the_win_rate() -> None:
    assert decided(CHAMPION, Standing(3), Tally(5, 0, 5)).champion == 3
    assert decided(CHAMPION, Standing(3), Tally(6, 0, 4)).champion == 7


def test_a_match_of_draws_promotes_nobody() -> None:
    """Not even where half the points are enough."""
    easy = GateConfig(kind="champion", games=10, win_rate=0.5)
    assert decided(easy, Standing(3), Tally(0, 10, 0)).champion == 3
    assert decided(easy, Standing(3), Tally(1, 9, 0)).champion == 7


def test_rising_wants_a_new_record_and_then_more_of_its_opponent() -> None:
    standing = decided(RISING, Standing(), Tally(12, 0, 8), 1)
    assert standing == Standing(champion=1, rollouts=300, record=0.6)
    standing = decided(RISING, standing, Tally(12, 0, 8), 2)
    assert standing == Standing(champion=1, rollouts=300, record=0.6)
    standing = decided(RISING, standing, Tally(18, 0, 2), 3)
    assert standing == Standing(champion=3, rollouts=600, record=0.0)


def test_rising_keeps_every_new_record_also_that_of_a_loser() -> None:
    """A weak network's scores: 0, 0.2, 0.4, 0.5 by draws alone, 0.2."""
    standing, champions = Standing(), []
    for generation, match in enumerate(
        [Tally(0, 0, 20), Tally(4, 0, 16), Tally(0, 16, 4), Tally(0, 20, 0), Tally(4, 0, 16)], start=1
    ):
        standing = decided(RISING, standing, match, generation)
        champions.append(standing.champion)
    assert champions == [0, 2, 3, 4, 4] and (standing.rollouts, standing.record) == (300, 0.5)


def test_rising_keeps_the_champion_until_the_stronger_opponent_is_a_record_too() -> None:
    grown = decided(RISING, Standing(2, 300, 0.95), Tally(18, 0, 2), 3)
    assert grown == Standing(champion=2, rollouts=600, record=0.0)
    lost = decided(RISING, grown, Tally(0, 0, 20), 4)
    assert lost == grown
    assert decided(RISING, lost, Tally(6, 0, 14), 5) == Standing(5, 600, 0.3)


def test_rising_plays_uct() -> None:
    """Really: UCT with 300 rollouts beats a player of first moves, and 100 more do not rise."""
    before = Standing(2, 300, 0.5)
    with LocalWorkers(1) as run_tasks:
        match = play_gate(RISING, GAME, before, (NEW, OLD), 1, run_tasks)
    assert match.losses > match.wins and match.games == 20
    assert decide(RISING, before, 3, match) == before


def test_a_gate_of_a_champion_is_played_by_the_two_networks() -> None:
    with LocalWorkers(1) as run_tasks:
        match = play_gate(CHAMPION, GAME, Standing(3), (NEW, OLD), 1, run_tasks)
    assert match == quick(GAME, "new", "old", 10, 1, NEW, OLD) and match.games == 10


def test_a_quick_match_gives_each_side_the_first_move_as_often() -> None:
    """Players who do the same score the same."""
    match = quick(GAME, "new", "old", 30, 3, NEW, OLD)
    assert match.games == 30 and match.wins == match.losses


def test_the_better_player_wins_a_quick_match() -> None:
    game = games.find("connect4")
    assert quick(game, "uct:sims=200", "uniform", 20, 1).score > 0.9
    assert quick(game, "uniform", "uct:sims=200", 20, 1).score < 0.1


def test_a_standing_is_kept_in_a_file(tmp_path: Path) -> None:
    (tmp_path / gate.FILE).write_text(Standing(4, 900, 0.75).to_text())
    assert Standing.load(tmp_path) == Standing(4, 900, 0.75)
    (tmp_path / gate.FILE).write_text('{"champion": 4')
    with pytest.raises(UserError, match=r"gate\.json is damaged"):
        Standing.load(tmp_path)
