"""The selective search of alpha-beta: what it must see, and that what it claims is proven."""

import pytest

from tengen import players
from tengen.games import find
from tengen.games.position import Position
from tengen.players.alphabeta import AlphaBeta
from tengen.players.limit import Limit
from tengen.tactics.threats import find_win, new_work
from tests.players.test_generations import drawn, random_position, swapped
from tests.tactics.test_fours import sharp_positions

FOUR_THREE_THREAT = """
    .........
    ..XOOO...
    ......O..
    .....XO..
    .....X...
    .X.......
    .........
    ........."""  # O threatens a four and a three that cross


@pytest.mark.parametrize("game", ["gomoku15", "standard15", "caro15", "renju15"])
@pytest.mark.parametrize("me", [1, 2])
def test_it_stops_a_win_by_fours(game: str, me: int) -> None:
    position = drawn(game, FOUR_THREE_THREAT if me == 1 else swapped(FOUR_THREE_THREAT), me)
    after = position.play(AlphaBeta(position.game, depth=6).choose(position).action)
    assert find_win(after, after.game).status == "none"


@pytest.mark.parametrize("game", ["gomoku15", "standard15", "caro15", "renju15"])
def test_what_it_claims_is_confirmed(game: str) -> None:
    """By the exact search for fours, or by a plain search that is deep enough."""
    rules = find(game)
    work, plain, selective = new_work(rules), AlphaBeta(rules, plain=True, vcf=True), AlphaBeta(rules)
    claims = 0

    def wins(position: Position, distance: int) -> bool:
        if find_win(position, rules, work=work).status == "found":
            return True
        return plain.choose(position, Limit(depth=max(1, distance - 2))).value == 1.0

    for position in sharp_positions(rules, 40, seed=7):
        choice = selective.choose(position, Limit(depth=4))
        if choice.distance is None or choice.distance > 7:
            continue
        claims += 1
        if choice.value == 1.0:
            assert wins(position, choice.distance), position.text()
            continue
        assert choice.value == -1.0
        for action in position.legal_actions[::7]:
            after = position.play(action)
            assert after.winner is None and wins(after, choice.distance - 1), position.text()
    assert claims > 3


def test_it_wins_against_the_loss_it_claims() -> None:
    """A claimed win is won in the plies it said, against a plain search that knows of nothing better."""
    game = find("gomoku15")
    attacker, defender = AlphaBeta(game, depth=6), AlphaBeta(game, depth=4, plain=True)
    won = 0
    for position in sharp_positions(game, 40, seed=8):
        choice = attacker.choose(position)
        if choice.distance is None or choice.value != 1.0:
            continue
        me, left = position.to_move, choice.distance
        while not position.is_over and left > 0:
            mover = attacker if position.to_move == me else defender
            position = position.play(mover.choose(position).action)
            left -= 1
        assert position.winner == me
        won += 1
    assert won > 3


def test_it_sees_further_than_the_plain_search() -> None:
    """Fewer nodes for the same depth."""
    position = random_position("gomoku15", 3, 14)
    nodes = []
    for plain in (False, True):
        player = AlphaBeta(position.game, depth=5, plain=plain)
        player.choose(position)
        nodes.append(player.nodes)
    assert 2 * nodes[0] < nodes[1]


@pytest.mark.parametrize("limit", [Limit(nodes=20_000), Limit(depth=5)])
def test_it_finds_the_same_again(limit: Limit) -> None:
    position = random_position("gomoku15", 4, 12)
    player = AlphaBeta(position.game)
    found = []
    for _ in range(2):
        player.new_game(1)
        found.append((player.choose(position, limit), player.nodes))
    assert found[0] == found[1]


def test_a_loss_without_a_threat_has_no_distance() -> None:
    """A loss of all near moves is not proven: the distant ones were not tried."""
    game = find("gomoku15")
    player = AlphaBeta(game, depth=5)
    for position in sharp_positions(game, 40, seed=9):
        choice = player.choose(position)
        if choice.value == -1.0 and player.search.is_quiet[0]:
            assert choice.distance is None


def test_plain_is_a_setting() -> None:
    game = find("gomoku15")
    plain, selective = players.find("alphabeta:depth=3,plain=yes", game), players.find("alphabeta", game)
    assert isinstance(plain, AlphaBeta) and not plain.search.is_selective[0]
    assert isinstance(selective, AlphaBeta) and selective.search.is_selective[0]
    assert not AlphaBeta(find("tictactoe")).search.is_selective[0]
