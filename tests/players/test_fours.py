"""Wins by fours around a search: the best move is not one that loses to the opponent's fours."""

import numpy as np
import pytest

from tengen import games, players
from tengen.evaluators.uniform import UniformEvaluator
from tengen.games.position import Position
from tengen.players.fours import Fours, Refutable
from tengen.players.limit import Limit
from tengen.players.player import Choice
from tengen.search.gumbel import Gumbel
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.selection import Selection
from tengen.search.snapshot import Snapshot
from tengen.search.tree import LOSS, UNKNOWN
from tengen.tactics.threats import find_win
from tengen.tactics.vct import find_vct

# O has c4 d4 e4, closed by X at b4, and two stones in the diagonal through f4: b8 c7, then d6 e5 f4 are empty.
THREAT = "b4 c4 a9 d4 i1 e4 i9 d6 a1 c7 i5 b8"

# X to move. After most moves O wins by threes and fours, not by fours alone; after f6 it does not.
THREES = "e4 e6 g3 f4 e5 c5 b7 g6"


class Stubborn(Refutable):
    """Wants to play some moves in order; goes on to the next when one is refuted."""

    def __init__(self, position: Position, wishes: str) -> None:
        self.wishes = [position.game.moves.action(move) for move in wishes.split()]
        self.refuted: list[tuple[int, int]] = []

    def run(self, seconds: float) -> bool:
        return True

    def refute(self, action: int, distance: int) -> None:
        self.refuted.append((action, distance))
        self.wishes.remove(action)

    def choice(self) -> Choice:
        return Choice(self.wishes[0], 0.0)

    def snapshot(self) -> Snapshot:
        raise NotImplementedError


def test_a_move_after_which_the_opponent_wins_by_fours_is_refuted() -> None:
    position = Position.from_moves("gomoku9", THREAT)
    name, action = position.game.moves.name, position.game.moves.action
    stubborn = Stubborn(position, "h2 h3 f4 h4")
    thinking = Fours(position.game).around(position, stubborn, Limit())
    while not thinking.run(0.0):
        pass
    assert name(thinking.choice().action) == "f4"
    assert [name(one) for one, _ in stubborn.refuted] == ["h2", "h3"]
    for one, distance in stubborn.refuted:
        win = find_win(position.play(one), position.game)
        assert win.status == "found" and distance == len(win.line) + 1
    assert find_win(position.play(action("f4")), position.game).status == "none"


@pytest.mark.parametrize("limit", [Limit(), Limit(simulations=1000), Limit(seconds=10)])
def test_a_move_after_which_the_opponent_wins_by_threes_is_refuted(limit: Limit) -> None:
    position = Position.from_moves("gomoku9", THREES)
    name = position.game.moves.name
    stubborn = Stubborn(position, "b9 a8 f6 h8")
    thinking = Fours(position.game, threes=True).around(position, stubborn, limit)
    while not thinking.run(0.0):
        pass
    assert name(thinking.choice().action) == "f6"
    assert [name(one) for one, _ in stubborn.refuted] == ["b9", "a8"]
    for one, distance in stubborn.refuted:
        after = position.play(one)
        assert find_win(after, position.game).status == "none" and distance % 2 == 0
        assert find_vct(after, position.game).status == "found"


def test_a_win_by_threes_is_played_to_its_end() -> None:
    """The opponent plays where the network likes it; the win comes within the plies that were promised."""
    position = Position.from_moves("gomoku9", f"{THREES} b9")
    spec = "zero:zoo/gomoku9:sims=1000,fours=0,vct=yes"
    with players.find(spec, position.game) as player, players.find("zero:sims=40", position.game) as other:
        first = player.choose(position)
        assert first.note.startswith("wins by threats") and first.distance is not None
        winner, left = position.to_move, first.distance
        while not position.is_over:
            assert left > 0
            position = position.play(
                (player if position.to_move == winner else other).choose(position).action
            )
            left -= 1
        assert position.winner == winner


def test_checks_for_threes_are_reproducible_and_bounded() -> None:
    position = Position.from_moves("gomoku9", THREES)
    spec = "zero:zoo/gomoku9:sims=150,fours=0,vct=yes"
    choices = []
    for _ in range(2):
        with players.find(spec, position.game) as player:
            choices.append(player.choose(position))
    assert choices[0] == choices[1]
    assert find_vct(position.play(choices[0].action), position.game, max_nodes=500).status != "found"


@pytest.mark.parametrize("settings", [Puct(), Gumbel()])
def test_a_search_goes_on_without_a_refuted_move(settings: Selection) -> None:
    game = games.find("tictactoe")
    search = Search(game, UniformEvaluator(), settings, max_simulations=60, discount=0.9)
    search.begin(game.new_state()[None])
    search.run(30)
    first = int(search.result().actions[0])
    search.refute(first, distance=6)
    result = search.result()
    assert result.actions[0] != first and result.root_proven[0] == UNKNOWN
    assert result.proven[0, first] == LOSS and result.distance[0, first] == 6
    assert result.q[0, first] == pytest.approx(-(0.9**6))
    visits = int(result.visits[0, first])
    search.run(20)
    if isinstance(settings, Puct):
        assert search.result().visits[0, first] == visits


def test_when_all_moves_are_refuted_the_slowest_loss_is_played() -> None:
    game = games.find("tictactoe")
    search = Search(game, UniformEvaluator(), Puct(), max_simulations=20)
    search.begin(game.new_state()[None])
    for count in range(9):  # none of them has been visited
        assert search.result().root_proven[0] == UNKNOWN
        search.refute((count * 4 + 2) % 9, distance=[4, 8, 6][count % 3])
    result = search.result()
    assert result.root_proven[0] == LOSS and result.root_distance[0] == 8
    assert result.distance[0, result.actions[0]] == 8 and np.all(result.proven[0] == LOSS)


def test_networks_check_their_moves_in_games_with_fours_by_default() -> None:
    with (
        players.find("zero:zoo/gomoku9:sims=32,fours=0", games.find("gomoku9")) as usual,
        players.find("zero:zoo/gomoku9:sims=32,fours=0,vcf=no", games.find("gomoku9")) as without,
        players.find("zero:zoo/connect4:sims=32", games.find("connect4")) as other,
    ):
        position = Position.from_moves("gomoku9", THREAT)
        assert find_win(position.play(usual.choose(position).action), position.game).status == "none"
        assert type(usual.begin(position, usual.limit)) is not type(without.begin(position, without.limit))
        assert other.choose(Position.start(other.game)).action in range(7)
