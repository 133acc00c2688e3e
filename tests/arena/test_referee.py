"""The match engine: games that go on at once, players who fail in the middle of them, and clocks."""

import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tengen import games, players
from tengen.arena.contestants import to_send
from tengen.arena.match import Match, play_match, play_quick_matches
from tengen.arena.played import GameGroup, GameTask, PlayedGame
from tengen.arena.referee import PlayGames
from tengen.errors import UserError
from tengen.evaluators.zoo import ZOO
from tengen.games.position import Position
from tengen.players.decision import Decider
from tengen.players.limit import Limit
from tengen.players.player import Choice, PlayerFailedError
from tengen.workers.tasks import RunTasks


class Batching(Decider):
    summary = "plays the first legal move, in batches; remembers how large they were"

    batches: list[int] = []  # noqa: RUF012
    seeds: list[int] = []  # noqa: RUF012

    def new_game(self, seed: int) -> None:
        self.seeds.append(seed)

    def decide(self, position: Position, limit: Limit) -> Choice:
        return self.choose_many([position])[0]

    def choose_many(self, positions: Sequence[Position], limit: Limit | None = None) -> list[Choice]:
        self.batches.append(len(positions))
        return [Choice(position.legal_actions[0]) for position in positions]


class Clumsy(Batching):
    summary = "plays a1 again where the first stone is there"

    def choose_many(self, positions: Sequence[Position], limit: Limit | None = None) -> list[Choice]:
        return [Choice(p.actions[0] if p.moves[0] == "a1" else p.legal_actions[0]) for p in positions]


class Fragile(Decider):
    summary = "fails where the first stone is on a1"

    def decide(self, position: Position, limit: Limit) -> Choice:
        if position.moves[0] == "a1":
            raise PlayerFailedError("a1 frightens me")
        return Choice(position.legal_actions[0])


class Slow(Decider):
    summary = "thinks for a while, whatever its clock says; remembers what it says"

    left: list[float] = []  # noqa: RUF012

    def __init__(self, game: object, depth: int = 1) -> None:
        super().__init__(game)  # type: ignore[arg-type]
        self._seconds = depth / 100

    def decide(self, position: Position, limit: Limit) -> Choice:
        assert limit.clock is not None
        self.left.append(limit.clock.left)
        time.sleep(self._seconds)
        return Choice(position.legal_actions[0])


@pytest.fixture(autouse=True)
def more_players(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (Batching, Clumsy, Fragile, Slow):
        monkeypatch.setitem(players.REGISTRY, kind.__name__.lower(), f"{__name__}:{kind.__name__}")
    Batching.batches.clear()
    Batching.seeds.clear()
    Slow.left.clear()


def timeless(played: Sequence[PlayedGame]) -> list[PlayedGame]:
    return [
        replace(game, thoughts=tuple(replace(one, seconds=0.0) for one in game.thoughts), peak_mib=0)
        for game in played
    ]


def played(a: str, b: str, num_games: int, in_groups_of: int, game: str = "gomoku6") -> list[PlayedGame]:
    tasks = list(Match(games.find(game), a, b, seed=3).tasks(num_games))
    found: list[PlayedGame] = []
    with PlayGames(game).open() as play:
        for first in range(0, num_games, in_groups_of):
            found += play(GameGroup(tuple(tasks[first : first + in_groups_of])))
    return found


def test_games_of_a_group_go_on_at_once_if_a_player_thinks_in_batches() -> None:
    at_once = played("batching", "uniform", 12, in_groups_of=12)
    assert Batching.batches[:2] == [6, 12] and len(Batching.seeds) == 1
    assert [game.index for game in at_once] == list(range(12))
    moves = sum(len(game.seconds[0]) + len(game.seconds[1]) for game in at_once)
    assert moves == sum(len(game.moves) - game.opening for game in at_once)
    Batching.batches.clear()
    alone = played("batching", "uniform", 12, in_groups_of=1)
    assert set(Batching.batches) == {1}
    assert [game.moves[: game.opening] for game in alone] == [game.moves[: game.opening] for game in at_once]


def test_other_players_play_one_game_after_another_whatever_their_group() -> None:
    """So each game depends on its own task, as in a match."""
    pair = ("uct:sims=20", "uniform", 6)
    assert timeless(played(*pair, in_groups_of=6)) == timeless(played(*pair, in_groups_of=1))


@pytest.mark.parametrize(
    ("spec", "reason"),
    [("clumsy", "clumsy: illegal move 'a1'"), ("fragile", "fragile: a1 frightens me")],
)
def test_who_fails_in_one_game_of_a_batch_goes_on_in_the_others(spec: str, reason: str) -> None:
    openings = [("a1",), ("b1",), ("a1",), ("c3",)]
    tasks = [GameTask(i, ("batching", spec), opening, (0, 0)) for i, opening in enumerate(openings)]
    with PlayGames("tictactoe").open() as play:
        found = play(GameGroup(tuple(tasks)))
    assert [game.reason.startswith(reason) for game in found] == [True, False, True, False]
    assert [game.result for game in found if game.reason] == ["1-0", "1-0"]


def test_quick_matches_are_the_same_in_two_processes(run_tasks: RunTasks, in_two: RunTasks) -> None:
    game = games.find("connect4")
    matches = [Match(game, "uct:sims=30", b, seed=1) for b in ("uniform", "uct:sims=10", "uct:sims=20")]
    one, two = (play_quick_matches(matches, 6, workers) for workers in (run_tasks, in_two))
    assert one == two and all(result.games == 6 for result in one)


def test_a_network_that_a_spec_names_by_its_path_travels(tmp_path: Path, in_two: RunTasks) -> None:
    """The folder is gone when the games begin."""
    game, folder = games.find("tictactoe"), tmp_path / "net"
    shutil.copytree(ZOO / "tictactoe", folder)
    spec = f"zero:{folder}:sims=8"
    tasks = Match(game, spec, "uniform", seed=2).tasks(4)
    work = PlayGames(game.name, sent=to_send([spec, "uniform", "zero:zoo/tictactoe"], game))
    assert [one.path for one in work.sent] == [str(folder)]
    shutil.rmtree(folder)
    found = dict(in_two(work, [GameGroup((task,)) for task in tasks]))
    assert {game.players[0] for (game,) in found.values()} == {spec, "uniform"}
    assert not any(game.reason for (game,) in found.values())
    with pytest.raises(UserError):  # and only this work knows it
        list(in_two(PlayGames(game.name), [GameGroup((task,)) for task in Match(game, spec, spec).tasks(2)]))


def test_a_clock_runs_down_gains_its_increment_and_is_lost(run_tasks: RunTasks) -> None:
    slow = Match(games.find("tictactoe"), "slow:depth=1", "slow:depth=2", time=(0.5, 0.005))
    assert play_match(slow, 2, run_tasks).forfeits == ()
    assert Slow.left[0] == 0.5 and 0.4 < min(Slow.left) < 0.5
    result = play_match(replace(slow, b="slow:depth=12", time=(0.1, 0.0)), 2, run_tasks)
    assert result.forfeits == ("slow:depth=12: lost on time",) * 2 and result.total.wins == 2
    assert slow.settings()["time"] == [0.5, 0.005] and "time" not in replace(slow, time=None).settings()
