"""Games as OpenSpiel games, and Tengen's players as OpenSpiel bots.

    import pyspiel
    from tengen.protocols import openspiel                 # registers every game of `tengen games`

    game = pyspiel.load_game("python_tengen_gomoku9")
    game = openspiel.load("mnk:rows=7,cols=9,k=5")         # any other game, also from a file
    bot = openspiel.Bot(pyspiel.load_game("connect_four"), "zero:sims=100")
    action = bot.step(state)

Player 0 moves first. Actions have Tengen's numbers. A state is serialised as the actions that led to it. The
observation tensor holds the planes of a network, as the observing player sees them at its own turn.

OpenSpiel has some of our games too. There all actions have the same numbers, in every game:

    tic_tac_toe, python_tic_tac_toe    tictactoe
    connect_four                       connect4, connect:rows=…,cols=…,k=…
    mnk, gomoku                        mnk:rows=…,cols=…,k=… (in OpenSpiel's mnk, m are the columns)
    othello                            othello8
    hex                                hex7, hex9, hex11, hex:size=…
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tengen import games, players
from tengen.errors import MissingExtraError, UserError
from tengen.games import connect4, drawing, hex, mnk, othello
from tengen.games.game import LAST_ACTION, Game
from tengen.games.position import Position
from tengen.games.random_games import MAX_PLIES
from tengen.protocols.observing import planes_seen_by

try:
    import pyspiel
    from open_spiel.python.observation import IIGObserverForPublicInfoGame
except ModuleNotFoundError:
    raise MissingExtraError("tengen.protocols.openspiel", "openspiel") from None

PREFIX = "python_tengen_"
REGISTERED: dict[str, Game] = {}  # by the name in OpenSpiel

Parameters = Mapping[str, Any]


def load(game: str | Game) -> Any:
    """A game as an OpenSpiel game, registered if it was not yet."""
    return pyspiel.load_game(register(game))


def register(game: str | Game) -> str:
    """Makes a game known to OpenSpiel; returns its name there.

    >>> register("mnk:rows=7,cols=9,k=5")
    'python_tengen_mnk_rows_7_cols_9_k_5'
    """
    rules = games.find(game) if isinstance(game, str) else game
    name = PREFIX + re.sub(r"\W+", "_", rules.name)
    known = REGISTERED.setdefault(name, rules)
    if (known.play, known.header) != (rules.play, rules.header):
        raise UserError(f"OpenSpiel knows another game as {name}: give yours another name")
    if name not in pyspiel.registered_names():

        def create(params: Parameters | None = None) -> "SpielGame":
            return SpielGame(name, params)

        # OpenSpiel drops it after Python has ended, and freeing it then crashes: a cycle keeps it alive.
        create.itself = create  # type: ignore[attr-defined]
        pyspiel.register_game(_type(name), create)
    return name


def _type(name: str) -> Any:
    kinds = pyspiel.GameType
    return kinds(
        short_name=name,
        long_name=f"Tengen: {REGISTERED[name].summary}",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.DETERMINISTIC,
        information=kinds.Information.PERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={},
    )


def longest_game(game: Game) -> int:
    """A bound on the plies of a game; of games from outside, what `tengen check` allows."""
    num_cells = game.rows * game.cols
    if mnk.is_mnk(game) or game.play in (connect4.play, hex.play):
        return num_cells
    return 2 * num_cells if game.play is othello.play else MAX_PLIES  # at most a pass for every move


class SpielGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no types
    """The rules, as OpenSpiel asks for them. Made by pyspiel.load_game."""

    def __init__(self, name: str, params: Parameters | None = None) -> None:
        rules = REGISTERED[name]
        info = pyspiel.GameInfo(
            num_distinct_actions=rules.num_actions,
            max_chance_outcomes=0,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=longest_game(rules),
        )
        super().__init__(_type(name), info, params or {})

    @property
    def rules(self) -> Game:
        """The Tengen game. Found by name, because a game that was unpickled has no attributes."""
        return REGISTERED[self.get_type().short_name]

    def new_initial_state(self, state: object = None) -> "SpielState":
        if state is not None:
            raise UserError(f"{self} starts from its first position only, got a state")
        return SpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Parameters | None = None) -> Any:
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return PlanesObserver(self.rules, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class _Kept:
    """A position that copies of a state share: OpenSpiel clones a state by a deep copy of its attributes."""

    def __init__(self, position: Position) -> None:
        self.position = position

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Kept":
        return self


class SpielState(pyspiel.State):  # type: ignore[misc]
    """A position, as OpenSpiel asks about it."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self._kept = _Kept(Position.start(game.rules))

    @property
    def position(self) -> Position:
        return self._kept.position

    def current_player(self) -> int:
        return int(pyspiel.PlayerId.TERMINAL) if self.is_terminal() else self.position.to_move - 1

    def is_terminal(self) -> bool:
        return self.position.is_over

    def returns(self) -> list[float]:
        winner = self.position.winner
        return [0.0, 0.0] if winner is None else [1.0, -1.0] if winner == 1 else [-1.0, 1.0]

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.legal_actions

    def _apply_action(self, action: int) -> None:
        self._kept = _Kept(self.position.play(action))

    def _action_to_string(self, player: int, action: int) -> str:
        return self.position.game.moves.name(action)

    def __str__(self) -> str:
        """The board and who is to move: the same text for every order of the moves."""
        state = self.position.state.copy()
        state[LAST_ACTION] = -1
        return drawing.text(self.position.game, state)


class PlanesObserver:
    """The planes of a position in `tensor`, with their shape in `dict`; as text, board and last move."""

    def __init__(self, game: Game, params: Parameters | None) -> None:
        if params:
            raise UserError(f"observers of Tengen's games take no parameters, got {dict(params)}")
        self.tensor = np.zeros(game.num_planes * game.rows * game.cols, np.float32)
        self.dict = {"observation": self.tensor.reshape(game.planes_shape)}

    def set_from(self, state: SpielState, player: int) -> None:
        position = state.position
        self.dict["observation"][:] = planes_seen_by(position.game, position.state, player + 1)

    def string_from(self, state: SpielState, player: int) -> str:
        return state.position.text()


# Players.


class Bot(pyspiel.Bot):  # type: ignore[misc]
    """A Tengen player as an OpenSpiel bot, for either side, in Tengen's games and in those that both have."""

    def __init__(self, game: Any, spec: str, seed: int = 0) -> None:
        """spec: a player, such as `zero`, `perfect` or `uct:sims=200`."""
        super().__init__()
        self._rules = rules_of(game)
        self._seed, self._games = seed, 0
        self.player = players.find(spec, self._rules)
        self.player.prepare()
        self.restart()

    def restart(self) -> None:
        """Forgets the last game. The random choices of each game depend on the seed and its number."""
        self.player.new_game(self._seed + self._games)
        self._games += 1

    def restart_at(self, state: Any) -> None:
        self.restart()

    def inform_action(self, state: Any, player_id: int, action: int) -> None:
        """Nothing to do: every state tells its moves."""

    def step(self, state: Any) -> int:
        """The action for the player to move; INVALID_ACTION if the game is over."""
        if state.is_terminal():
            return int(pyspiel.INVALID_ACTION)
        return self.player.choose(position_of(state, self._rules)).action


def rules_of(game: Any) -> Game:
    """The Tengen game with the rules of an OpenSpiel game; UserError if there is none."""
    kind = game.get_type()
    if kind.short_name in REGISTERED:
        return REGISTERED[kind.short_name]
    if kind.short_name not in SHARED:
        raise UserError(f"Tengen has no game like OpenSpiel's {game}: it has {', '.join(SHARED)}")
    # Some games do not tell the parameters that were left out.
    spec = SHARED[kind.short_name](dict(kind.parameter_specification) | game.get_parameters())
    if spec is None:
        raise UserError(f"Tengen has no rules like OpenSpiel's {game}, only {kind.short_name} without these")
    found = games.find(spec)
    named = map(games.find, games.names())
    same = (one for one in named if one.play is found.play and one.header == found.header)
    return next(same, found)  # gomoku15 rather than mnk:rows=15,cols=15,k=5: levels go by the name


def position_of(state: Any, rules: Game) -> Position:
    """The position of an OpenSpiel state, from the moves that led to it."""
    history = state.history()
    position = Position.from_moves(rules, history)
    is_same = position.to_move - 1 == state.current_player()
    if not is_same or position.legal_actions != state.legal_actions():
        expected = f"expected a state of {rules.name} that was played from the first position"
        raise UserError(f"{expected}, got one that its {len(history)} moves do not lead to")
    return position


def _connect(rows: int, cols: int, k: int) -> str:
    return f"connect:rows={rows},cols={cols},k={k}"


def _mnk(rows: int, cols: int, k: int) -> str:
    return f"mnk:rows={rows},cols={cols},k={k}"


def _gomoku(parameters: Parameters) -> str | None:
    if parameters["anti"] or parameters["wrap"] or parameters["dims"] != 2:
        return None
    return _mnk(parameters["size"], parameters["size"], parameters["connect"])


def _hex(parameters: Parameters) -> str | None:
    if parameters["swap"] or parameters["num_rows"] != parameters["num_cols"]:
        return None
    return f"hex:size={parameters['num_rows']}"


# OpenSpiel's games: the Tengen spec for their parameters; None if the rules are others.
SHARED: dict[str, Callable[[Parameters], str | None]] = {
    "tic_tac_toe": lambda parameters: "tictactoe",
    "python_tic_tac_toe": lambda parameters: "tictactoe",
    "connect_four": lambda given: _connect(given["rows"], given["columns"], given["x_in_row"]),
    "mnk": lambda given: _mnk(given["n"], given["m"], given["k"]),
    "gomoku": _gomoku,
    "othello": lambda parameters: "othello8",
    "hex": _hex,
}

for _name in games.names():
    register(_name)
