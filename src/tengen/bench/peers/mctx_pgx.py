"""Runs in the peers' environment: mctx's searches over pgx's Connect 4 on JAX, on request.

{"search": "gumbel", "simulations": 32, "games": [[], [3, 3, 0]], "repetitions": 10} → {"seconds": 0.13}

One tree for each game (a list of columns), all in one batch; every position is worth 0 and all moves are
alike. The first call compiles and is checked, and is not timed. To be started on one core: see one_core().
"""

import json
import os
import sys
import time
from functools import lru_cache, partial
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
import mctx
import pgx

POLICIES = {
    "gumbel": mctx.gumbel_muzero_policy,
    "puct": partial(mctx.muzero_policy, dirichlet_fraction=0.0),
    "puct with noise": mctx.muzero_policy,  # AlphaZero's noise is its default
}

env = pgx.make("connect_four")
init, step = jax.jit(jax.vmap(env.init)), jax.jit(jax.vmap(env.step))


def logits_of(state: Any) -> Any:
    return jnp.where(state.legal_action_mask, 0.0, jnp.finfo(jnp.float32).min)


def recurrent_fn(params: None, key: Any, action: Any, state: Any) -> Any:
    """One step of the game: the reward is for who moved, and the next value for the other player (-1)."""
    mover, batch = state.current_player, len(action)
    state = step(state, action)  # a game that is over stays as it is, with a reward of 0
    answer = mctx.RecurrentFnOutput(
        reward=state.rewards[jnp.arange(batch), mover],
        discount=jnp.where(state.terminated, 0.0, -1.0),
        prior_logits=logits_of(state),
        value=jnp.zeros(batch),
    )
    return answer, state


@lru_cache
def compiled(search: str, simulations: int) -> Any:
    """(key, state) → the chosen actions, the improved policy, the visits of the roots' moves."""

    def run(key: Any, state: Any) -> Any:
        root = mctx.RootFnOutput(
            prior_logits=logits_of(state), value=jnp.zeros(len(state.terminated)), embedding=state
        )
        output = POLICIES[search](
            params=None,
            rng_key=key,
            root=root,
            recurrent_fn=recurrent_fn,
            num_simulations=simulations,
            invalid_actions=~state.legal_action_mask,
        )
        return output.action, output.action_weights, output.search_tree.summary().visit_counts

    return jax.jit(run)


def positions(games: list[list[int]]) -> Any:
    """The state after each list of moves, in one batch."""
    state = init(jax.random.split(jax.random.PRNGKey(0), len(games)))
    for ply in range(max(map(len, games))):
        is_on = jnp.array([ply < len(game) for game in games])
        after = step(state, jnp.array([game[ply] if ply < len(game) else 0 for game in games]))

        def chosen(new: Any, old: Any, is_on: Any = is_on) -> Any:
            return jnp.where(is_on.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        state = jax.tree.map(chosen, after, state)
    assert not state.terminated.any(), "a game to be searched is over already"
    return state


for line in sys.stdin:
    request = json.loads(line)
    simulations, repetitions = request["simulations"], request["repetitions"]
    search, state = compiled(request["search"], simulations), positions(request["games"])
    visits = search(jax.random.PRNGKey(0), state)[2]
    assert (visits.sum(axis=1) == simulations).all(), "the visits of a root are not the simulations"
    assert (visits[~state.legal_action_mask] == 0).all(), "an illegal move was visited"
    keys = list(jax.random.split(jax.random.PRNGKey(1), repetitions))
    jax.block_until_ready((keys, state))
    began = time.process_time()
    for key in keys:
        jax.block_until_ready(search(key, state))
    print(json.dumps({"seconds": time.process_time() - began}), flush=True)
