"""Runs in the peers' environment: self-play of pgx's Connect 4 by mctx's Gumbel search and a residual net.

{"weights": "net.npz", "batch": 64, "simulations": 32, "moves": 5, "position": [3, 3]}
    → {"seconds": 4.2, "games": 14, "logits": [0.3, …], "value": -0.1}

All games of the batch go on by so many moves; one that ends makes room for the next. The network's weights
come in a file, so that it is the one we play with; its opinion of a position is in the answer, so that this
can be checked. The first request of a kind compiles and lets the games get out of step, which is not timed;
later ones go on with the same games. To be started on one core: see one_core().
"""

import json
import os
import sys
import time
from functools import lru_cache
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import pgx
from pgx.experimental import auto_reset

STAGGER = 100  # random moves before the first search: games that end make room here too
LOWEST = jnp.finfo(jnp.float32).min

env = pgx.make("connect_four")
init, step = jax.vmap(env.init), jax.vmap(env.step)
step_or_restart = jax.vmap(auto_reset(env.step, env.init))


def convolve(weights: dict[str, Any], name: str, x: Any) -> Any:
    """x [B, H, W, C], channels last; the kernels are kept as [O, I, H, W].

    Evaluations a second of 64 × 4 in batches of 32 / 128 / 512 on one core with AVX2: as here
    2550 / 2400 / 2360; channels first 2470 / 2350 / 2400; as one product of matrices 2600 / 1650 / 1110; as
    a sum of nine 1680 / 1110 / 940. XLA's switches for oneDNN, XNNPACK, YNNPACK and fast maths gain nothing.
    """
    kernel = weights[f"{name}.weight"].transpose(2, 3, 1, 0)
    layout = ("NHWC", "HWIO", "NHWC")
    product = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=layout)
    return product + weights[f"{name}.bias"]


def network(weights: dict[str, Any], observation: Any) -> tuple[Any, Any]:
    """Logits [B, A] and values [B]."""

    def linear(name: str, x: Any) -> Any:
        return x @ weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def filtered(name: str) -> Any:
        return jax.nn.relu(convolve(weights, name, x)).transpose(0, 3, 1, 2).reshape(len(x), -1)

    x = jax.nn.relu(convolve(weights, "first", observation.astype(jnp.float32)))
    for block in range(sum(name.endswith(".b.weight") for name in weights)):
        y = jax.nn.relu(convolve(weights, f"block{block}.a", x))
        x = jax.nn.relu(x + convolve(weights, f"block{block}.b", y))
    hidden = jax.nn.relu(linear("value.hidden", filtered("value.filter")))
    logits = linear("policy.out", filtered("policy.filter"))
    return logits, jnp.tanh(linear("value.out", hidden)[:, 0])


class SelfPlay:
    """A batch of games that go on."""

    def __init__(self, file: str, batch: int, simulations: int) -> None:
        # Constants of the compiled program: as arguments 2090 simulations/s instead of 2400, with 64 games.
        self._weights = {name: jnp.asarray(array) for name, array in np.load(file).items()}
        self._simulations = simulations
        self._play, self._stagger = jax.jit(self._move), jax.jit(self._random_move)
        self._key, key = jax.random.split(jax.random.PRNGKey(1))
        self._state = init(jax.random.split(key, batch))
        for _ in range(STAGGER):
            self._key, key = jax.random.split(self._key)
            self._state = self._stagger(key, self._state)
        self.play(1)

    def play(self, moves: int) -> int:
        """Plays so many moves in every game; returns how many games ended."""
        ended = 0
        for _ in range(moves):
            self._key, key = jax.random.split(self._key)
            # the observations and the improved policies would be the records
            self._state, _, _, over = jax.block_until_ready(self._play(key, self._state))
            ended += int(over.sum())
        return ended

    def opinion(self, moves: list[int]) -> tuple[list[float], float]:
        """Logits and value of the position after some moves."""
        state = env.init(jax.random.PRNGKey(0))
        for column in moves:
            state = env.step(state, column)
        logits, values = network(self._weights, state.observation[None])
        return logits[0].tolist(), float(values[0])

    def _move(self, key: Any, state: Any) -> Any:
        keys = jax.random.split(key, len(state.terminated) + 1)
        logits, values = self._opinion(state)
        output = mctx.gumbel_muzero_policy(
            params=None,
            rng_key=keys[0],
            root=mctx.RootFnOutput(prior_logits=logits, value=values, embedding=state),
            recurrent_fn=self._expand,
            num_simulations=self._simulations,
            invalid_actions=~state.legal_action_mask,
        )
        following = step_or_restart(state, output.action, keys[1:])
        return following, state.observation, output.action_weights, following.terminated

    def _random_move(self, key: Any, state: Any) -> Any:
        keys = jax.random.split(key, len(state.terminated) + 1)
        actions = jax.random.categorical(keys[0], jnp.where(state.legal_action_mask, 0.0, LOWEST))
        return step_or_restart(state, actions, keys[1:])

    def _expand(self, params: None, key: Any, action: Any, state: Any) -> Any:
        """One step of the game: the reward is for who moved, and the next value for the other player (-1)."""
        mover = state.current_player
        state = step(state, action)
        logits, values = self._opinion(state)
        answer = mctx.RecurrentFnOutput(
            reward=state.rewards[jnp.arange(len(action)), mover],
            discount=jnp.where(state.terminated, 0.0, -1.0),
            prior_logits=logits,
            value=values,  # of a game that is over it counts nothing: its discount is 0
        )
        return answer, state

    def _opinion(self, state: Any) -> tuple[Any, Any]:
        logits, values = network(self._weights, state.observation)
        return jnp.where(state.legal_action_mask, logits, LOWEST), values


@lru_cache
def games_of(file: str, batch: int, simulations: int) -> SelfPlay:
    return SelfPlay(file, batch, simulations)


for line in sys.stdin:
    request = json.loads(line)
    games = games_of(request["weights"], request["batch"], request["simulations"])
    logits, value = games.opinion(request["position"])
    began = time.process_time()
    ended = games.play(request["moves"])
    seconds = time.process_time() - began
    print(json.dumps({"seconds": seconds, "games": ended, "logits": logits, "value": value}), flush=True)
