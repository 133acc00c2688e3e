"""Self-play: a shard of games, played in one batch by one worker. Its samples depend on the shard alone.

1. Each game begins with a few random moves (first_positions.py).
2. Every round searches all games of the batch together. Some rounds use a fast search, with few simulations;
   the others a full search. Only full searches are learned from (playout cap randomisation, Wu 2019).
3. When a game ends, the next one takes its slot. In games with fours (`settings.fours`) it also ends once the
   player to move has a win by fours: the network is never asked about such positions, so it need not learn
   them.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tengen.errors import UserError
from tengen.evaluators.evaluator import Evaluator
from tengen.games.batch import lift
from tengen.games.game import TO_MOVE, Game, State
from tengen.games.position import Position
from tengen.games.random_games import MAX_PLIES
from tengen.search.gumbel import Gumbel
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.result import Result, sample_actions, temperatures
from tengen.search.tree import UNKNOWN, WIN
from tengen.tactics.fours import has_fours
from tengen.training import targets
from tengen.training.config import SelfPlayConfig
from tengen.training.first_positions import first_positions
from tengen.training.record import Samples, join

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class ShardStats:
    """The statistics of a shard; the names are the keys in its file."""

    games: int
    moves: int  # without the random ones at the start
    simulations: int
    first_wins: int
    draws: int
    entropy: float  # bits, of the policies learned from; mean
    sample: tuple[int, ...]  # the actions of one of its games, from the start position
    positions: int  # to learn from
    hit_rate: float = 0.0  # of the cache, if there was one; set by shards.py


@dataclass
class _Game:
    """A game in progress: its records until it ends. One entry per ply, without the random ones."""

    opening: list[int]  # the random actions it began with
    actions: list[int] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    policies: list[Floats] = field(default_factory=list)
    root_values: list[float] = field(default_factory=list)
    is_full: list[bool] = field(default_factory=list)  # True for full searches, which are learned from
    is_proven: list[bool] = field(default_factory=list)

    def finish(self, last: State, value: float, settings: SelfPlayConfig, distance: int) -> Samples:
        """The samples of the game, which ended with `value` for the player to move at the `last` state, or
        would have `distance` plies later."""
        full = np.flatnonzero(self.is_full)
        states = np.stack(self.states)
        values = targets.values(
            np.array(self.root_values, np.float32),
            np.array(self.is_full),
            np.array(self.is_proven),
            states[:, TO_MOVE],
            value,
            int(last[TO_MOVE]),
            settings.discount,
            settings.td_lambda,
        )
        return Samples(
            states=states[full],
            policies=np.stack(self.policies)[full],
            values=values[full],
            outcomes=targets.outcomes(value, int(last[TO_MOVE]), states[full, TO_MOVE]),
            plies_left=(len(states) - full + distance).astype(np.float32),
            is_proven=np.array(self.is_proven)[full],
        )


def play_shard(
    game: Game,
    evaluator: Evaluator,
    settings: SelfPlayConfig,
    simulations: int,
    num_games: int,
    seed: list[int],
) -> tuple[Samples, ShardStats]:
    """The samples and statistics of a shard of games. `seed`: numbers that identify the shard."""
    random, rules = np.random.default_rng(seed), lift(game)
    slots, ends_early = min(settings.at_once, num_games), settings.fours > 0 and has_fours(game)
    searches = {
        is_full: Search(
            game, evaluator, selection(settings, is_full), slots, budget, discount=settings.discount
        )
        for is_full, budget in ((True, simulations), (False, settings.fast_simulations))
    }
    states = np.zeros((slots, game.state_size), np.int16)
    openings = iter(first_positions(game, evaluator, settings, num_games, random))
    current = [_begin(next(openings), states[slot]) for slot in range(slots)]
    is_on = np.ones(slots, np.bool_)  # slots with a game in progress
    finished: list[Samples] = []
    sample: tuple[int, ...] = ()
    started, moves, done, first_wins, draws = slots, 0, 0, 0, 0
    while is_on.any():
        # 1. a move in every game
        is_full = moves == 0 or bool(
            random.random() < settings.full_share
        )  # the first round is full: no shard without samples
        search = searches[is_full]
        search.begin(states, random)
        search.run(simulations if is_full else settings.fast_simulations)
        result = search.result()
        actions = _actions(result, current, settings, random)
        policies = targets.policies(result)
        root_values = targets.root_values(result, policies)
        is_decided = is_on & ends_early & (result.root_proven == WIN) & [bool(one.actions) for one in current]
        is_decided &= result.visits.sum(axis=1) == 1  # proven before the search
        on = np.flatnonzero(is_on & ~is_decided)
        if max((len(current[slot].actions) for slot in on), default=0) >= MAX_PLIES:
            raise UserError(
                f"a game of self-play is not over after {MAX_PLIES} moves: does {game.name} always end? "
                "Count the plies in the state, and declare a draw after a maximum number"
            )
        done += int(result.visits[on].sum())
        moves += len(on)
        for slot in on:
            one = current[slot]
            one.actions.append(int(actions[slot]))
            one.states.append(states[slot].copy())
            one.policies.append(policies[slot])
            one.root_values.append(float(root_values[slot]))
            one.is_full.append(is_full)
            one.is_proven.append(bool(result.root_proven[slot] != UNKNOWN))
        # Do not play in a game that is over: rules trust their callers.
        next_states = np.empty((len(on), game.state_size), np.int16)
        rules.play(states[on], actions[on], next_states)
        states[on] = next_states
        # 2. start new games in the slots of those that ended
        is_over, values = rules.outcomes(next_states)
        endings = [(slot, float(value), 0) for slot, value in zip(on[is_over], values[is_over], strict=True)]
        endings += [
            (slot, float(result.values[slot]), int(result.root_distance[slot]))
            for slot in np.flatnonzero(is_decided)
        ]
        for slot, value, distance in endings:
            one, player = current[slot], int(states[slot, TO_MOVE])
            winner = 0 if value == 0 else player if value > 0 else 3 - player
            first_wins += winner == 1
            draws += winner == 0
            sample = sample or (*one.opening, *one.actions)
            if any(one.is_full):
                finished.append(one.finish(states[slot], value, settings, distance))
            if started < num_games:
                current[slot] = _begin(next(openings), states[slot])
                started += 1
            else:
                is_on[slot] = False
    samples = join(finished)
    entropy = float(-(samples.policies * np.log2(np.maximum(samples.policies, 1e-9))).sum(axis=1).mean())
    return samples, ShardStats(num_games, moves, done, first_wins, draws, entropy, sample, len(samples))


def selection(settings: SelfPlayConfig, has_noise: bool) -> Puct | Gumbel:
    """The search to use. Only full searches add noise, so that the other moves of a game stay strong."""
    if settings.search == "gumbel":
        noise = settings.noise if has_noise else 0.0
        return Gumbel(settings.considered, noise, settings.c_visit, settings.c_scale)
    fraction = settings.dirichlet_fraction if has_noise else 0.0
    return Puct(settings.c_puct, settings.dirichlet_alpha, fraction)


def _actions(
    result: Result, current: list[_Game], settings: SelfPlayConfig, random: np.random.Generator
) -> npt.NDArray[np.int32]:
    """The actions to play. Gumbel's choice is already random; PUCT draws by visits during the first plies."""
    if settings.search == "gumbel":
        return result.actions
    plies = np.array([len(one.actions) for one in current], np.int32)
    return sample_actions(result, temperatures(plies, settings.temperature_plies), random)


def _begin(opening: Position, state: State) -> _Game:
    """A new game; `state` becomes its first position."""
    state[:] = opening.state
    return _Game(list(opening.actions))
