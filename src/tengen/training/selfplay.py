"""Self-play: a shard of games, played in one batch by one worker. Its samples depend on the shard alone.

1. each game begins with a few random moves, so that the network learns to play any position
2. every round searches all games at once: some rounds are fast searches, with few simulations; the others
   full searches, and only these are learned from (playout cap randomisation, Wu 2019)
3. a game that ends makes room for the next one
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tengen.errors import UserError
from tengen.evaluators.evaluator import Evaluator
from tengen.games.batch import lift
from tengen.games.game import TO_MOVE, Game, State
from tengen.games.random_games import MAX_PLIES
from tengen.search.gumbel import Gumbel
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.result import Result, sample_actions, temperatures
from tengen.search.tree import UNKNOWN
from tengen.training import targets
from tengen.training.config import SelfPlayConfig
from tengen.training.record import Samples, join

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class ShardStats:
    """What happened in a shard: the names are those in its file."""

    games: int
    moves: int  # random ones at the start not counted
    simulations: int
    first_wins: int
    draws: int
    entropy: float  # bits, of the policies learned from; mean
    sample: tuple[int, ...]  # the actions of one of its games, from the first position on
    positions: int  # to learn from
    hit_rate: float = 0.0  # of the cache, if there was one: who plays the shard knows


@dataclass
class _Game:
    """A game in progress: what is kept of it until it ends. One entry per ply, random ones left out."""

    opening: list[int]  # the random actions it began with
    actions: list[int] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    policies: list[Floats] = field(default_factory=list)
    root_values: list[float] = field(default_factory=list)
    is_full: list[bool] = field(default_factory=list)  # full searches: these are learned from
    is_proven: list[bool] = field(default_factory=list)

    def finish(self, last: State, value: float, settings: SelfPlayConfig) -> Samples:
        """Its samples, when it is known how it ended: `value` for the player to move at the `last` state."""
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
            plies_left=(len(states) - full).astype(np.float32),
        )


def play_shard(
    game: Game,
    evaluator: Evaluator,
    settings: SelfPlayConfig,
    simulations: int,
    num_games: int,
    seed: list[int],
) -> tuple[Samples, ShardStats]:
    """Plays games to their end. `seed`: the numbers that name the shard."""
    random, rules = np.random.default_rng(seed), lift(game)
    slots = min(settings.at_once, num_games)
    searches = {
        is_full: Search(
            game, evaluator, _search(settings, is_full), slots, budget, discount=settings.discount
        )
        for is_full, budget in ((True, simulations), (False, settings.fast_simulations))
    }
    states = np.zeros((slots, game.state_size), np.int16)
    current = [_begin(game, settings, random, states[slot]) for slot in range(slots)]
    is_on = np.ones(slots, np.bool_)  # slots whose game goes on
    finished: list[Samples] = []
    sample: tuple[int, ...] = ()
    started, moves, done, first_wins, draws = slots, 0, 0, 0, 0
    while is_on.any():
        # 1. a move in every game
        is_full = moves == 0 or bool(random.random() < settings.full_share)  # no shard is without samples
        search = searches[is_full]
        search.begin(states, random)
        search.run(simulations if is_full else settings.fast_simulations)
        result = search.result()
        actions = _actions(result, current, settings, random)
        policies = targets.policies(result)
        root_values = targets.root_values(result, policies)
        on = np.flatnonzero(is_on)
        if max(len(current[slot].actions) for slot in on) >= MAX_PLIES:
            raise UserError(
                f"a game of self-play is not over after {MAX_PLIES} moves: does {game.name} always end? "
                "Count plies in the state, and call it a draw after so many"
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
        # Games that are over are not played on: rules trust their callers.
        next_states = np.empty((len(on), game.state_size), np.int16)
        rules.play(states[on], actions[on], next_states)
        states[on] = next_states
        # 2. games that ended make room
        is_over, values = rules.outcomes(next_states)
        for slot, value in zip(on[is_over], values[is_over], strict=True):
            one, player = current[slot], int(states[slot, TO_MOVE])
            winner = 0 if value == 0 else player if value > 0 else 3 - player
            first_wins += winner == 1
            draws += winner == 0
            sample = sample or (*one.opening, *one.actions)
            if any(one.is_full):
                finished.append(one.finish(states[slot], float(value), settings))
            if started < num_games:
                current[slot] = _begin(game, settings, random, states[slot])
                started += 1
            else:
                is_on[slot] = False
    samples = join(finished)
    entropy = float(-(samples.policies * np.log2(np.maximum(samples.policies, 1e-9))).sum(axis=1).mean())
    return samples, ShardStats(num_games, moves, done, first_wins, draws, entropy, sample, len(samples))


def _search(settings: SelfPlayConfig, is_full: bool) -> Puct | Gumbel:
    """Only full searches add noise, so that the other moves of a game stay strong."""
    if settings.search == "gumbel":
        noise = settings.noise if is_full else 0.0
        return Gumbel(settings.considered, noise, settings.c_visit, settings.c_scale)
    fraction = settings.dirichlet_fraction if is_full else 0.0
    return Puct(settings.c_puct, settings.dirichlet_alpha, fraction)


def _actions(
    result: Result, current: list[_Game], settings: SelfPlayConfig, random: np.random.Generator
) -> npt.NDArray[np.int32]:
    """Gumbel's choice is random enough by itself; PUCT draws by visits for the first plies."""
    if settings.search == "gumbel":
        return result.actions
    plies = np.array([len(one.actions) for one in current], np.int32)
    return sample_actions(result, temperatures(plies, settings.temperature_plies), random)


def _begin(game: Game, settings: SelfPlayConfig, random: np.random.Generator, state: State) -> _Game:
    """A new game whose first moves are random and do not end it; `state` becomes where it stands."""
    while True:
        now, actions = game.new_state(), []
        for _ in range(int(random.integers(settings.random_opening_plies + 1))):
            actions.append(int(random.choice(np.flatnonzero(game.legal_mask(now)))))
            now = game.after(now, actions[-1])
            if game.outcome(now)[0]:
                break
        if not game.outcome(now)[0]:
            state[:] = now
            return _Game(actions)
