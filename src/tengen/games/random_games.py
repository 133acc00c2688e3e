"""Random games for the contract: the positions they reach, and what whole games show about the rules."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tengen.games.game import TO_MOVE, Game, State

MAX_PLIES = 1000  # per game: neither a search nor a person reaches the end of a longer one
FEW = 0.2  # of the decided games: if the last mover won no more than this, outcome's sign looks wrong


@dataclass(frozen=True)
class Sample:
    """A position from a random game."""

    state: State
    actions: tuple[int, ...]  # that led to it


def sample_positions(game: Game, num_positions: int, seed: int) -> tuple[list[Sample], str | None]:
    """Positions from random games, from the first ply to the end; and a problem, if there is one."""
    random = np.random.default_rng(seed)
    samples: list[Sample] = []
    if game.outcome(game.new_state())[0]:
        entries = f"state_size is cells + your own entries + 2, here {game.state_size}"
        return samples, f"the first position is over already: is every entry where start puts it? {entries}"
    while len(samples) < num_positions:
        state = game.new_state()
        actions: tuple[int, ...] = ()
        while True:
            samples.append(Sample(state, actions))
            if game.outcome(state)[0]:
                break
            choices = np.flatnonzero(game.legal_mask(state))
            if len(choices) == 0:
                return samples, f"no legal move, but not over{after(game, actions)}"
            if len(actions) == MAX_PLIES:
                return samples, _endless("a random game")
            action = int(random.choice(choices))
            state, actions = game.after(state, action), (*actions, action)
    return samples, None


def ends_when_shuffled(game: Game, seed: int) -> str | None:
    """A problem if two players who move back and forth, to where their pieces were before, never finish."""
    random = np.random.default_rng(seed)
    state, seen = game.new_state(), set[tuple[int, bytes]]()
    for _ in range(MAX_PLIES):
        if game.outcome(state)[0]:
            return None
        me = int(state[TO_MOVE])
        seen.add(_pieces(game, state, me))
        choices = random.permutation(np.flatnonzero(game.legal_mask(state)))
        if len(choices) == 0:  # sample_positions says so
            return None
        following = [game.after(state, int(action)) for action in choices]
        lasting = [one for one in following if not game.outcome(one)[0]] or following
        state = next((one for one in lasting if _pieces(game, one, me) in seen), lasting[0])
    return _endless("a game in which both players go to and fro")


def both_players_move(samples: list[Sample]) -> str | None:
    for player in (1, 2):
        if not any(sample.state[TO_MOVE] == player for sample in samples):
            return (
                f"player {player} was never to move in {len(samples)} positions: does play write state[-1]?"
            )
    return None


def sign_of_outcome(game: Game, samples: list[Sample]) -> str | None:
    """A note if hardly any game was won by the player who made its last move, as most games are."""
    decided = won = 0
    for before, last in pairwise(samples):
        is_over, value = game.outcome(last.state)
        if is_over and value != 0 and len(last.actions) == len(before.actions) + 1:
            winner = last.state[TO_MOVE] if value > 0 else 3 - last.state[TO_MOVE]
            decided, won = decided + 1, won + bool(winner == before.state[TO_MOVE])
    if not decided or won > FEW * decided:
        return None
    return (
        f"of {decided} decided games {decided - won} were lost by the player who moved last: is the sign of "
        "outcome right? Its value is for the player to move, so after a winning move it is -1.0"
    )


def after(game: Game, actions: tuple[int, ...]) -> str:
    """` (after: c2-c3 d5-d4)`"""
    moves = " ".join(game.moves.name(action) for action in actions)
    return f" (after: {moves})" if moves else " (in the first position)"


def _pieces(game: Game, state: State, player: int) -> tuple[int, bytes]:
    """Where the pieces of a player are."""
    return player, (state[game.cells] == player).tobytes()


def _endless(what: str) -> str:
    advice = "count plies in the state, and call it a draw after so many"
    return f"{what} is not over after {MAX_PLIES} plies: {advice}"
