"""Gates: who takes the champion's place, and who does not."""

from pathlib import Path

import pytest

from tengen import games, players
from tengen.arena.duel import Duel, play_duel
from tengen.errors import UserError
from tengen.games.position import Position
from tengen.players.player import Choice, Player
from tengen.training import gate
from tengen.training.config import Gate
from tengen.training.gate import Standing, decide

GAME = games.find("tictactoe")
CHAMPION = Gate(kind="champion", games=10, win_rate=0.55)
RISING = Gate(kind="rising", games=20, rollouts=300)


class First(Player):
    """Plays the first legal move."""

    summary = "the first move"

    def choose(self, position: Position) -> Choice:
        return Choice(position.legal_actions[0])


def decided(
    settings: Gate, before: Standing, match: Duel, monkeypatch: pytest.MonkeyPatch, generation: int = 7
) -> Standing:
    """The verdict on a match with this result."""
    monkeypatch.setattr(gate, "play_duel", lambda *_, **__: match)
    standing, seen = decide(settings, GAME, before, generation, First(GAME), First(GAME), seed=0)
    assert seen == match
    return standing


def test_always_asks_nobody() -> None:
    assert decide(Gate(), GAME, Standing(3), 4, First(GAME), First(GAME), 0) == (Standing(4), None)


def test_the_champion_stays_until_it_is_beaten_by_the_win_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    assert decided(CHAMPION, Standing(3), Duel(5, 0, 5), monkeypatch).champion == 3
    assert decided(CHAMPION, Standing(3), Duel(6, 0, 4), monkeypatch).champion == 7


def test_a_match_of_draws_promotes_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where half the points are enough."""
    easy = Gate(kind="champion", games=10, win_rate=0.5)
    assert decided(easy, Standing(3), Duel(0, 10, 0), monkeypatch).champion == 3
    assert decided(easy, Standing(3), Duel(1, 9, 0), monkeypatch).champion == 7


def test_rising_wants_a_new_record_and_then_more_of_its_opponent(monkeypatch: pytest.MonkeyPatch) -> None:
    standing = decided(RISING, Standing(), Duel(12, 0, 8), monkeypatch, 1)
    assert standing == Standing(champion=1, rollouts=300, record=0.6)
    standing = decided(RISING, standing, Duel(12, 0, 8), monkeypatch, 2)
    assert standing == Standing(champion=1, rollouts=300, record=0.6)
    standing = decided(RISING, standing, Duel(18, 0, 2), monkeypatch, 3)
    assert standing == Standing(champion=3, rollouts=600, record=0.0)


def test_rising_keeps_every_new_record_also_that_of_a_loser(monkeypatch: pytest.MonkeyPatch) -> None:
    """A weak network's scores: 0, 0.2, 0.4, 0.5 by draws alone, 0.2."""
    standing, champions = Standing(), []
    for generation, match in enumerate(
        [Duel(0, 0, 20), Duel(4, 0, 16), Duel(0, 16, 4), Duel(0, 20, 0), Duel(4, 0, 16)], start=1
    ):
        standing = decided(RISING, standing, match, monkeypatch, generation)
        champions.append(standing.champion)
    assert champions == [0, 2, 3, 4, 4] and (standing.rollouts, standing.record) == (300, 0.5)


def test_rising_keeps_the_champion_until_the_stronger_opponent_is_a_record_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grown = decided(RISING, Standing(2, 300, 0.95), Duel(18, 0, 2), monkeypatch, 3)
    assert grown == Standing(champion=2, rollouts=600, record=0.0)
    lost = decided(RISING, grown, Duel(0, 0, 20), monkeypatch, 4)
    assert lost == grown
    assert decided(RISING, lost, Duel(6, 0, 14), monkeypatch, 5) == Standing(5, 600, 0.3)


def test_rising_plays_uct(monkeypatch: pytest.MonkeyPatch) -> None:
    """Really: UCT with 300 playouts beats a player of first moves, and 100 more do not rise."""
    before = Standing(2, 300, 0.5)
    standing, match = decide(RISING, GAME, before, 3, First(GAME), First(GAME), seed=1)
    assert match is not None and match.losses > match.wins and match.games == 20
    assert standing == before


def test_a_duel_gives_each_side_the_first_move_as_often() -> None:
    """Players who do the same score the same."""
    match = play_duel(GAME, First(GAME), First(GAME), 30, seed=3)
    assert match.games == 30 and match.wins == match.losses


def test_the_better_player_wins_a_duel() -> None:
    game = games.find("connect4")
    with players.find("uct:sims=200", game) as strong, players.find("uniform", game) as weak:
        assert play_duel(game, strong, weak, 20, seed=1).score > 0.9
        assert play_duel(game, weak, strong, 20, seed=1).score < 0.1


def test_a_standing_is_kept_in_a_file(tmp_path: Path) -> None:
    Standing(4, 900, 0.75).save(tmp_path)
    assert Standing.load(tmp_path) == Standing(4, 900, 0.75)
    (tmp_path / gate.FILE).write_text('{"champion": 4')
    with pytest.raises(UserError, match=r"gate\.json is damaged"):
        Standing.load(tmp_path)
