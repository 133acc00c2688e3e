"""Self-play: a shard of games, played in one batch by one worker. Its records depend on the shard alone.

    1. each game begins with a few random moves, so that the network learns to play any position
    2. every round searches all games at once: most rounds with few simulations, to get on; some with many,
       and only these are learned from (playout-cap randomisation, Wu 2019)
    3. a game that ends makes room for the next one
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tengen.evaluators.evaluator import Evaluator
from tengen.games.batch import lift
from tengen.games.game import TO_MOVE, Game, State
from tengen.search.gumbel import Gumbel
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.result import Result, sample_actions, temperatures
from tengen.search.tree import DRAW, LOSS, UNKNOWN, WIN
from tengen.training.config import SelfPlay
from tengen.training.record import Positions


@dataclass(frozen=True)
class ShardStats:
    """What happened in a shard."""

    games: int
    moves: int
    simulations: int
    first_wins: int
    draws: int
    opening_entropy: float  # bits, of the first moves of games without random ones


@dataclass
class _Game:
    """A game in progress: what is kept of it until it ends."""

    states: list[State]
    policies: list[npt.NDArray[np.float32]]
    root_values: list[float]
    plies: list[int]  # at which each was recorded
    ply: int = 0


def play_shard(
    game: Game, evaluator: Evaluator, settings: SelfPlay, num_games: int, seed: list[int]
) -> tuple[Positions, ShardStats]:
    """Plays games to their end. `seed`: numbers that name the shard."""
    random = np.random.default_rng(seed)
    slots = min(settings.games_at_once, num_games)
    searches = {
        simulations: Search(game, evaluator, _search(settings), slots, simulations, discount=settings.discount)
        for simulations in {settings.simulations, settings.fast_simulations}
    }
    batched = lift(game)
    states = np.stack([_opening(game, settings, random) for _ in range(slots)])
    current = [_Game([], [], [], []) for _ in range(slots)]
    finished: list[Positions] = []
    started, moves, simulations, first_wins, draws = slots, 0, 0, 0, 0
    is_on = np.ones(slots, np.bool_)
    next_states = np.empty_like(states)
    while is_on.any():
        is_full = random.random() < settings.full_share
        search = searches[settings.simulations if is_full else settings.fast_simulations]
        search.begin(states, random)
        search.run(settings.simulations if is_full else settings.fast_simulations)
        result = search.result()
        simulations += int(result.visits[is_on].sum())
        actions = _actions(result, current, settings, random)
        for slot in np.flatnonzero(is_on):
            one = current[slot]
            if is_full:
                one.states.append(states[slot].copy())
                one.policies.append(result.policy[slot])
                one.root_values.append(float(result.values[slot]))
                one.plies.append(one.ply)
            one.ply += 1
            moves += 1
        batched.play(states, np.where(is_on, actions, 0), next_states)
        states[is_on] = next_states[is_on]
        is_over, values = batched.outcomes(states)
        for slot in np.flatnonzero(is_on & is_over):
            winner = 0 if values[slot] == 0 else int(states[slot, TO_MOVE])
            if values[slot] < 0:
                winner = 3 - winner
            first_wins += winner == 1
            draws += winner == 0
            if current[slot].states:
                finished.append(_positions(current[slot], winner, settings.discount))
            current[slot] = _Game([], [], [], [])
            if started < num_games:
                states[slot] = _opening(game, settings, random)
                started += 1
            else:
                is_on[slot] = False
    from tengen.training.record import join

    return join(finished), ShardStats(num_games, moves, simulations, first_wins, draws, 0.0)


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


def _positions(one: _Game, winner: int, discount: float) -> Positions:
    """The records of a finished game."""
    left = one.ply - np.array(one.plies, np.float32)
    to_move = np.array([state[TO_MOVE] for state in one.states])
    signs = np.where(winner == 0, 0.0, np.where(to_move == winner, 1.0, -1.0))
    return Positions(
        states=np.stack(one.states),
        policies=np.stack(one.policies),
        results=(signs * discount**left).astype(np.float32),
        root_values=np.array(one.root_values, np.float32),
        plies_left=left,
        weights=np.ones(len(left), np.float32),
    )
