"""Tengen for scripts and notebooks: the functions that `import tengen` offers.

Each takes a game by its name or spec, as a Game, or as the path of a Python file that defines one.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from tengen import games, players
from tengen.errors import MissingExtraError, UserError
from tengen.evaluators.network import Network, open_network
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.players.analysis import Analysis
from tengen.players.limit import Limit
from tengen.players.player import Player

if TYPE_CHECKING:
    from tengen.arena.match import MatchResult
    from tengen.players.session import GameSession
    from tengen.training.generation import Generation
    from tengen.workers.place import Place

AnyGame = str | Path | Game


def find_game(game: AnyGame) -> Game:
    """The game of a name, a spec or a Python file.

    >>> find_game("mnk:rows=7,cols=9,k=5").summary
    '5 in a row on 7×9, freestyle'
    """
    if isinstance(game, Game):
        return game
    if isinstance(game, Path) or game.endswith(".py"):
        names = games.load_file(game)
        if len(names) > 1:
            raise UserError(
                f"{game} defines {', '.join(names)}: load it with tengen.games.load_file, name one"
            )
        return games.find(names[0])
    return games.find(game)


def load(path: str | Path) -> Network:
    """A trained network: a bundled one, that of a run, or that of a folder. All who load it share it.

    >>> network = load("zoo/connect4")
    >>> network.card.game
    'connect4'
    """
    return open_network(path)


def player(spec: str, game: AnyGame) -> Player:
    """The player that a spec names, compiled and loaded, so that its first move is as fast as the others.

    >>> with player("uct:sims=500", "tictactoe") as uct:
    ...     uct.choose(Position.from_moves("tictactoe", "a1 b1 a2 b2")).distance
    1
    """
    found = players.find(spec, find_game(game))
    found.prepare()
    return found


def analyse(position: Position, limit: Limit | None = None, player: Player | str | None = None) -> Analysis:
    """A search to watch, to stop, or to ask for its best move.

    Without a player: the nearest bundled network, else uct. Without a limit: the player's own; Limit() is no
    limit.

    >>> analyse(Position.from_moves("connect4", "445566"), Limit(simulations=200)).best.action in (2, 6)
    True
    """
    if not isinstance(player, Player):
        player = players.find(player or players.analyst(position.game), position.game)
        player.prepare(limit)
    return player.analyse(position, limit)


def play(game: AnyGame, opponent: str | None = None, side: str = "first") -> "GameSession":
    """A game that you play in the terminal or in a notebook, until you type quit: its moves, its result."""
    from tengen.players.session import PERSON, GameSession
    from tengen.players.terminal_game import TerminalGame

    if side not in ("first", "second"):
        raise UserError(f"your side is first or second, got '{side}'")
    rules = find_game(game)
    name = opponent or players.opponent(rules)
    with player(name, rules) as theirs:
        is_first = side == "first"
        seats = (None, theirs) if is_first else (theirs, None)
        session = GameSession(rules, seats, (PERSON, name) if is_first else (name, PERSON))
        TerminalGame(session).run()
    return session


def play_match(
    game: AnyGame,
    a: str,
    b: str,
    num_games: int = 100,
    *,
    time: tuple[float, float] | None = None,
    seed: int = 0,
    workers: int | None = None,
    cluster: str | None = None,
    address: str | None = None,
) -> "MatchResult":
    """How player A does against B: score and Elo with 95 % intervals, each opening with both colours.

    time: clocks of (seconds per game, seconds added per move). workers: processes; without, one per core.
    cluster: "ray" works on a Ray cluster, whose head has this address.

    >>> result = play_match("tictactoe", "uct:sims=200", "uniform", num_games=10, workers=1)
    >>> result.score > 0.5
    True
    """
    from tengen.arena.match import Match
    from tengen.arena.match import play_match as play_it
    from tengen.workers.place import Place

    with Place(workers, cluster, address).run_tasks() as run_tasks:
        return play_it(Match(find_game(game), a, b, seed, time=time), num_games, run_tasks)


def train(
    game: AnyGame,
    *,
    minutes: float | None = None,
    generations: int | None = None,
    name: str | None = None,
    preset: str | None = None,
    settings: dict[str, object] | None = None,
    seed: int = 0,
    workers: int | None = None,
    cluster: str | None = None,
    address: str | None = None,
) -> "Training":
    """A run that trains a network from random weights, in the folder runs/NAME. It does nothing until you
    iterate over its generations, or call its run().

    settings: those of `tengen config`. workers: processes; without, one per core.
    cluster: "ray" works on a Ray cluster, whose head has this address.

    >>> small = {"selfplay.games": 8, "selfplay.simulations": 4, "measure.every": 0}
    >>> [generation.number for generation in train("tictactoe", generations=2, settings=small, workers=1)]
    [1, 2]
    """
    from tengen.workers.place import Place

    place = Place(workers, cluster, address)
    return Training(find_game(game), minutes, generations, name, preset, settings or {}, seed, place)


class Training:
    """A training run.

    for generation in training: ...     # typed: losses, strength, speed of each, as soon as it is complete
    training.run()                      # the same with a printed line for each
    training.spec                       # "zero:runs/NAME", the player that it makes
    training.plot("curve.svg")          # its strength over time
    """

    def __init__(
        self,
        game: Game,
        minutes: float | None,
        generations: int | None,
        name: str | None,
        preset: str | None,
        settings: dict[str, object],
        seed: int,
        place: "Place",
    ) -> None:
        from importlib.util import find_spec

        if find_spec("torch") is None:
            raise MissingExtraError("tengen.train", "train")

        from tengen.training import config_files as configs
        from tengen.training.start import create_run, limits

        chosen = [f"{key}={value}" for key, value in settings.items()]
        config = configs.load(game.name, [*chosen, *limits(minutes, generations)], seed, preset)
        self._run, self._place = create_run(name, config), place

    @property
    def folder(self) -> Path:
        return self._run.folder

    @property
    def spec(self) -> str:
        """The player that it makes."""
        return f"zero:{self.folder}"

    def __iter__(self) -> "Iterator[Generation]":
        return self._generations(shows=False)

    def run(self) -> "Training":
        """Trains to the end, and prints a line for each generation. Interrupted, it goes on when called
        again."""
        for _ in self._generations(shows=True):
            pass
        return self

    def _generations(self, shows: bool) -> "Iterator[Generation]":
        from tengen.cli.live import Lines
        from tengen.training.coach import train
        from tengen.training.lock import locked
        from tengen.training.tensorboard import TensorBoard
        from tengen.training.watch import Watcher, Watchers

        with ExitStack() as stack:
            stack.enter_context(locked(self.folder))
            hands = stack.enter_context(self._place.for_training())
            watchers: list[Watcher] = [stack.enter_context(TensorBoard(self._run))]
            if shows:
                watchers.append(Lines(self._run, hands.describe))
            yield from train(
                self._run, hands.run_tasks, Watchers(*watchers), hands.run_beside, hands.run_gradients
            )

    def plot(self, path: Path | str) -> None:
        """Draws its strength over the minutes of training: an .svg picture, or the whole report as .html."""
        from tengen import files
        from tengen.training.report import report, strength_svg

        file = Path(path)
        files.write_text(file, strength_svg(self._run) if file.suffix == ".svg" else report(self._run))

    def _repr_svg_(self) -> str | None:
        from tengen.training.report import strength_svg

        return strength_svg(self._run) if any(line["strength"] for line in self._run.metrics()) else None
