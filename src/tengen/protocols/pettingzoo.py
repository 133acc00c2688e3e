"""Games as PettingZoo environments, and Tengen's players as agents in PettingZoo's.

    environment = env("connect4", render_mode="ansi")      # or pettingzoo.make("aec", "tengen/connect4")
    environment.reset(seed=1)
    with Agent(environment, "zero:sims=100") as agent:
        for name in environment.agent_iter():
            environment.step(agent.action())

An environment steps one agent at a time (AEC). player_0 moves first; who moves next is up to the game. An
observation is a dict:

    observation   float32[H, W, C], from 0 to 1: the game's planes, as this agent sees them at its own turn
    action_mask   int8[A], 1 for a legal action; zeros for an agent that is not to move

The last rewards are 1 for the winner and -1 for the loser, 0 in a draw; all others are 0. An illegal action
ends the game with a reward of -1 for its agent, as in PettingZoo's own board games.
"""

from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tengen import games, players
from tengen.errors import MissingExtraError, UserError
from tengen.games.drawing import picture
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.protocols.observing import planes_seen_by

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.utils import EzPickle
    from pettingzoo import AECEnv, register
    from pettingzoo.utils import wrappers
except ModuleNotFoundError:
    raise MissingExtraError("tengen.protocols.pettingzoo", "pettingzoo") from None

AGENTS = ("player_0", "player_1")
ILLEGAL_REWARD = -1
FRAMES_PER_SECOND = 2  # for recorded videos

# PettingZoo's own environments: the Tengen game of each. Their cells and columns have the same numbers.
SHARED = {"connect_four_v3": "connect4", "tictactoe_v3": "tictactoe"}


def env(game: str | Game, render_mode: str | None = None) -> Any:
    """A game as an environment, with PettingZoo's usual checks around it.

    render_mode: "ansi" gives text, "human" prints it after every step, "rgb_array" gives pixels."""
    checked = wrappers.TerminateIllegalWrapper(GameEnv(game, render_mode), illegal_reward=ILLEGAL_REWARD)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(checked))


class GameEnv(AECEnv, EzPickle):  # type: ignore[misc]  # PettingZoo has no types
    """A game as an environment, without the checks of `env`. `position` is the current position."""

    def __init__(self, game: str | Game, render_mode: str | None = None) -> None:
        super().__init__()
        self.position = Position.start(game)
        self.game = self.position.game
        EzPickle.__init__(self, self.game.name, render_mode)
        modes = ["ansi", "human", *(["rgb_array"] if find_spec("PIL") else [])]
        if render_mode == "rgb_array" and render_mode not in modes:
            raise MissingExtraError("render_mode='rgb_array'", "pictures")
        if render_mode is not None and render_mode not in modes:
            raise UserError(f"render_mode is {', '.join(modes)} or None, got '{render_mode}'")
        self.render_mode = render_mode
        self.metadata = {
            "name": f"tengen_{self.game.name}",
            "render_modes": modes,
            "render_fps": FRAMES_PER_SECOND,
            "is_parallelizable": False,
        }
        self.possible_agents = list(AGENTS)
        self.action_spaces = {agent: spaces.Discrete(self.game.num_actions) for agent in AGENTS}
        self.observation_spaces = {agent: self._observation_space() for agent in AGENTS}

    def _observation_space(self) -> spaces.Dict:
        shape = (self.game.rows, self.game.cols, self.game.num_planes)
        return spaces.Dict(
            {
                "observation": spaces.Box(0, 1, shape, np.float32),
                "action_mask": spaces.Box(0, 1, (self.game.num_actions,), np.int8),
            }
        )

    def observation_space(self, agent: str) -> spaces.Dict:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a new game. Nothing is random in these games: the seed changes nothing."""
        self.position = Position.start(self.game)
        self.agents = list(AGENTS)
        self.agent_selection = AGENTS[self.position.to_move - 1]
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self._skip_agent_selection = None

    def step(self, action: int | None) -> None:
        """Plays an action for the agent to move; None for an agent whose game is over."""
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        if action is None:
            raise UserError(f"{self.agent_selection} is to move: expected an action, got None")
        self.position = self.position.play(int(action))
        self._cumulative_rewards[self.agent_selection] = 0.0
        if self.position.is_over:
            self.rewards = {agent: self._result(i + 1) for i, agent in enumerate(AGENTS)}
            self.terminations = dict.fromkeys(AGENTS, True)
        self.agent_selection = AGENTS[self.position.to_move - 1]
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _result(self, player: int) -> float:
        """The reward of player 1 or 2 for the whole game."""
        winner = self.position.winner
        return 0.0 if winner is None else 1.0 if winner == player else -1.0

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        planes = planes_seen_by(self.game, self.position.state, AGENTS.index(agent) + 1)
        mask = np.zeros(self.game.num_actions, np.int8)
        if agent == self.agent_selection:
            mask[self.position.legal_mask] = 1
        return {"observation": np.ascontiguousarray(planes.transpose(1, 2, 0)), "action_mask": mask}

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """The board as the render mode says: text, uint8[height, width, 3], or printed."""
        match self.render_mode:
            case "ansi":
                return self.position.text()
            case "human":
                print(self.position.text(), end="\n\n", flush=True)
            case "rgb_array":
                from tengen.games.painting import paint

                drawn = paint(picture(self.game, self.position.state), scale=1.0)
                return np.array(drawn.convert("RGB"))
            case _:
                gymnasium.logger.warn("nothing to render: make the environment with a render_mode")
        return None

    def close(self) -> None:
        """Nothing is open."""


class Agent:
    """A Tengen player in an environment: one made by `env`, or PettingZoo's connect_four_v3 or tictactoe_v3.

    It moves for whichever agent is to move. Two players need an Agent each."""

    def __init__(self, environment: Any, spec: str, seed: int = 0) -> None:
        """spec: a player, such as `zero`, `perfect` or `uct:sims=200`."""
        self._environment = environment
        self.player = players.find(spec, game_of(environment))
        self.player.prepare()
        self.new_game(seed)

    def new_game(self, seed: int) -> None:
        """Forgets the last game. From now on the random choices depend only on the seed."""
        self.player.new_game(seed)

    def action(self) -> int | None:
        """The action for the agent to move; None, which is what `step` expects then, if its game is over."""
        environment = self._environment
        agent = environment.agent_selection
        if not environment.agents or environment.terminations[agent] or environment.truncations[agent]:
            return None
        return self.player.choose(position_of(environment)).action

    def close(self) -> None:
        self.player.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def game_of(environment: Any) -> Game:
    """The Tengen game that an environment plays; UserError if there is none."""
    inner = environment.unwrapped
    if isinstance(inner, GameEnv):
        return inner.game
    name = str(inner)
    if name not in SHARED:
        raise UserError(f"no Tengen game for the environment {name}: there are {', '.join(SHARED)}")
    return games.find(SHARED[name])


def position_of(environment: Any) -> Position:
    """The position of an environment that has been reset. The moves that led there are known only of ours."""
    inner = environment.unwrapped
    if isinstance(inner, GameEnv):
        return inner.position
    agent = environment.agent_selection
    me = environment.possible_agents.index(agent) + 1
    board = environment.observe(agent)["observation"].astype(int)  # [H, W, 2]: mine, theirs
    return Position.from_cells(
        game_of(environment), (board[..., 0] * me + board[..., 1] * (3 - me)).ravel(), me
    )


for _name in games.names():
    register("aec", f"tengen/{_name}", f"{__name__}:env", kwargs={"game": _name})
