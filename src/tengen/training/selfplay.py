"""Self-play: a shard of games, played in one batch by one worker. Its records depend on the shard alone.

1. each game begins with a few random moves, so that the network learns to play any position
2. every round searches all games at once: some rounds with few simulations, to get on; the others with
   many, and only these are learned from (playout-cap randomisation, Wu 2019)
3. a game that ends makes room for the next one
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tengen.evaluators.evaluator import Evaluator
from tengen.games.batch import lift
from tengen.games.game import TO_MOVE, Game, State
from tengen.search.gumbel import Gumbel
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.result import Result, sample_actions, temperatures
from tengen.training.config import SelfPlay
from tengen.training.record import Positions, join

Floats = npt.NDArray[np.float32]

AT_ONCE = 128  # games in a batch: more make the network hardly faster, and the end of a shard slower


@dataclass(frozen=True)
class ShardStats:
    """What happened in a shard."""

    games: int
    moves: int  # random ones at the start not counted
    simulations: int
    first_wins: int
    draws: int


@dataclass
class _Game:
    """A game in progress: what is kept of it until it ends."""

    ply: int = 0  # moves made by searching
    plies: list[int] = field(default_factory=list)  # at which the positions below were met
    states: list[State] = field(default_factory=list)
    policies: list[Floats] = field(default_factory=list)
    root_values: list[float] = field(default_factory=list)

    def keep(self, state: State, policy: Floats, root_value: float) -> None:
        self.plies.append(self.ply)
        self.states.append(state.copy())
        self.policies.append(policy)
        self.root_values.append(root_value)

    def finish(self, winner: int, discount: float) -> Positions:
        """The records, when it is known who won: 1, 2, or 0 for a draw."""
        left = (self.ply - np.array(self.plies)).astype(np.float32)
        to_move = np.array([state[TO_MOVE] for state in self.states])
        signs = 0.0 if winner == 0 else np.where(to_move == winner, 1.0, -1.0)
        return Positions(
            states=np.stack(self.states),
            policies=np.stack(self.policies),
            results=(signs * discount**left).astype(np.float32),
            root_values=np.array(self.root_values, np.float32),
            plies_left=left,
            weights=np.ones(len(left), np.float32),
        )


def play_shard(
    game: Game, evaluator: Evaluator, settings: SelfPlay, simulations: int, num_games: int, seed: list[int]
) -> tuple[Positions, ShardStats]:
    """Plays games to their end. `seed`: the numbers that name the shard."""
    random, rules = np.random.default_rng(seed), lift(game)
    slots = min(AT_ONCE, num_games)
    searches = {
        budget: Search(game, evaluator, _search(settings), slots, budget, discount=settings.discount)
        for budget in (simulations, settings.fast_simulations)
    }
    states = np.stack([_opening(game, settings, random) for _ in range(slots)])
    next_states = np.empty_like(states)
    current = [_Game() for _ in range(slots)]
    is_on = np.ones(slots, np.bool_)  # slots whose game goes on
    finished: list[Positions] = []
    started, moves, done, first_wins, draws = slots, 0, 0, 0, 0
    while is_on.any():
        # 1. a move in every game
        is_full = random.random() < settings.full_share
        budget = simulations if is_full else settings.fast_simulations
        search = searches[budget]
        search.begin(states, random)
        search.run(budget)
        result = search.result()
        actions = _actions(result, current, settings, random)
        done += int(result.visits[is_on].sum())
        moves += int(is_on.sum())
        for slot in np.flatnonzero(is_on):
            if is_full:
                current[slot].keep(states[slot], result.policy[slot], float(result.values[slot]))
            current[slot].ply += 1
        rules.play(states, np.where(is_on, actions, 0), next_states)
        states[is_on] = next_states[is_on]
        # 2. games that ended make room
        is_over, values = rules.outcomes(states)
        for slot in np.flatnonzero(is_on & is_over):
            player = int(states[slot, TO_MOVE])
            winner = 0 if values[slot] == 0 else player if values[slot] > 0 else 3 - player
            first_wins += winner == 1
            draws += winner == 0
            if current[slot].plies:
                finished.append(current[slot].finish(winner, settings.discount))
            current[slot] = _Game()
            if started < num_games:
                states[slot] = _opening(game, settings, random)
                started += 1
            else:
                is_on[slot] = False
    return join(finished), ShardStats(num_games, moves, done, first_wins, draws)


def _search(settings: SelfPlay) -> Puct | Gumbel:
    if settings.search == "gumbel":
        return Gumbel(settings.considered, c_visit=settings.c_visit, c_scale=settings.c_scale)
    return Puct(settings.c_puct, settings.dirichlet_alpha, settings.dirichlet_fraction)


def _actions(
    result: Result, current: list[_Game], settings: SelfPlay, random: np.random.Generator
) -> npt.NDArray[np.int32]:
    """Gumbel's choice is random enough by itself; PUCT draws by visits for the first plies."""
    if settings.search == "gumbel":
        return result.actions
    plies = np.array([one.ply for one in current], np.int32)
    return sample_actions(result, temperatures(plies, settings.temperature_plies), random)


def _opening(game: Game, settings: SelfPlay, random: np.random.Generator) -> State:
    """The first position, or one after random moves that did not end the game."""
    while True:
        state = game.new_state()
        for _ in range(int(random.integers(settings.random_opening_plies + 1))):
            state = game.after(state, int(random.choice(np.flatnonzero(game.legal_mask(state)))))
            if game.outcome(state)[0]:
                break
        if not game.outcome(state)[0]:
            return state
