"""Every player, and how specs find them."""

import inspect

import pytest

from tengen import games, players
from tengen.errors import UserError
from tengen.games.position import Position

PLAYS_ALL = ("uniform", "uct:sims=50")


@pytest.mark.parametrize("spec", PLAYS_ALL)
@pytest.mark.parametrize("name", ["tictactoe", "connect4", "othello6", "hex7"])
def test_a_game_against_itself_is_legal_and_depends_on_the_seed_alone(spec: str, name: str) -> None:
    def play(seed: int) -> list[int]:
        position = Position.start(name)
        with players.find(spec, position.game) as player:
            player.new_game(seed)
            while not position.is_over:
                position = position.play(player.choose(position).action)
        return position.actions

    assert play(3) == play(3)
    assert len({tuple(play(seed)) for seed in range(4)}) > 1


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("unifrom", "unknown player 'unifrom', did you mean uniform?"),
        ("zzz", "unknown player 'zzz': there are uniform, "),
        ("uct:simms=3", "player 'uct' has no setting 'simms', did you mean sims?"),
        ("uct:sims=many", "player 'uct': sims is a whole number, got 'many'"),
        ("uct:sims=0", "player 'uct': sims is 1 or more, got 0"),
        ("uct:seconds=nan", "player 'uct': seconds is a finite number, got 'nan'"),
        ("uct:seconds=inf", "player 'uct': seconds is a finite number, got 'inf'"),
        ("uct:seconds=-1", "player 'uct': seconds is 0 or more, got -1"),
        ("uct:seconds=1e9", "player 'uct': seconds is 1,000,000 or less, got 1e9"),
        ("uct:sims=999999999999", "player 'uct': sims is 100,000,000 or less, got 999999999999"),
        ("uct:rollouts=99999999", "player 'uct': rollouts is 10,000 or less, got 99999999"),
        ("zero:leaves=0", "player 'zero': leaves is 1 or more, got 0"),
        ("minimax:depth=99", "player 'minimax': depth is 40 or less, got 99"),
        ("uct:c=nan", "player 'uct': c is a finite number, got 'nan'"),
        ("uct:c=-1", "uct: c is a number from 0 up, got -1.0"),
        ("uniform:x=1", "player 'uniform' has no setting 'x': it takes none"),
        ("uniform:some/path", "player 'uniform' takes settings as key=value, got 'some/path'"),
    ],
)
def test_a_wrong_spec_says_what_is_wrong(spec: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        players.find(spec, games.find("tictactoe"))
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("name", players.REGISTRY)
def test_every_number_of_every_player_has_a_range(name: str) -> None:
    for key, parameter in inspect.signature(players._class(name)).parameters.items():
        if parameter.annotation in (int, float, int | None, float | None):
            assert key in players.RANGES


def test_uct_takes_the_win_and_says_so() -> None:
    position = Position.from_moves("connect4", "414141")  # the first player has three in column 4
    with players.find("uct:sims=200", position.game) as player:
        choice = player.choose(position)
    assert position.game.moves.name(choice.action) == "4"
    assert choice.value == 1.0 and choice.line == (choice.action,) and "simulations" in choice.note


def test_uct_is_guided_with_five_in_a_row_and_plain_with_four() -> None:
    """Guided, it knows that the first stone belongs in the middle; plain, it has to find out."""

    def first_moves(game: str, spec: str) -> set[str]:
        found = set()
        with players.find(spec, games.find(game)) as player:
            for seed in range(5):
                player.new_game(seed)
                found.add(player.game.moves.name(player.choose(Position.start(game)).action))
        return found

    assert first_moves("gomoku9", "uct:sims=30") == {"e5"}
    assert len(first_moves("gomoku6", "uct:sims=30")) > 1
    assert len(first_moves("gomoku6", "uct:sims=30,guided=yes")) == 1


def test_every_registered_player_has_a_summary() -> None:
    assert all(players.summary(name) for name in players.names())


def test_vcf_finds_a_win_by_fours_before_thinking() -> None:
    """Two closed threes cross in a point that makes two fours."""
    position = Position.from_moves("gomoku15", "h8 k8 i8 g12 j8 a1 g9 c1 g10 e1 g11 o1")
    with players.find("uct:sims=1,vcf=yes", position.game) as player:
        choice = player.choose(position)
    assert choice.value == 1.0 and choice.note.startswith("wins by fours")
    for action in choice.line:
        position = position.play(action)
    assert position.winner == 1
    with pytest.raises(UserError, match="connect4 has no fours"):
        players.find("uct:vcf=yes", games.find("connect4"))
