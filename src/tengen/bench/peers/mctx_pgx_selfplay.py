"""Runs in the peers' environment: self-play of pgx's Connect 4 by mctx's Gumbel search and a residual network.

{"weights": "net.npz", "batch": 128, "simulations": 32, "moves": 5}
    → {"seconds": 7.9, "games": 31, "priors": [[0.1, …]], "values": [0.02]}

All games of the batch advance by so many moves; one that ends makes room for the next. They go on with the
next request. The network's weights come in a file, so that it is the one that we play with; its opinion of
the first position is part of the answer, to be compared. The first request of a kind compiles and lets the
games get out of step, which is not timed. To be started on one core: see one_core().
"""

import json
import os
import sys
import time
from functools import partial
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import pgx
from pgx.experimental import auto_reset

STAGGER = 200  # random moves before the first search

env = pgx.make("connect_four")
init, step = jax.vmap(env.init), jax.vmap(env.step)
step_or_restart = jax.vmap(auto_reset(env.step, env.init))


def convolve(x: Any, kernel: Any, bias: Any) -> Any:
    """[B, H, W, C] and [O, I, 3, 3].

    Evaluations a second of 64 channels × 4 blocks for batches of 32, 128, 512, one core with AVX2: as here
    2550, 2400, 2360; channels first 2470, 2350, 2400; as one product of matrices (im2col) 2600, 1650, 1110;
    as nine 1680, 1110, 940. XLA's switches for oneDNN, XNNPACK, YNNPACK and fast mathematics gain nothing.
    """
    layout = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, kernel.transpose(2, 3, 1, 0), (1, 1), "SAME", dimension_numbers=layout) + bias


def network(weights: dict[str, Any], observation: Any) -> tuple[Any, Any]:
    """Logits [B, A] and values [B]."""
    layer = lambda name: (weights[f"{name}.weight"], weights[f"{name}.bias"])
    x = jax.nn.relu(convolve(observation.astype(jnp.float32), *layer("first")))
    block = 0
    while f"block{block}.0.weight" in weights:
        y = jax.nn.relu(convolve(x, *layer(f"block{block}.0")))
        x = jax.nn.relu(x + convolve(y, *layer(f"block{block}.1")))
        block += 1
    def flat(name):
        return jax.nn.relu(convolve(x, *layer(name))).transpose(0, 3, 1, 2).reshape(len(x), -1)
    def dense(v, name):
        return v @ weights[f"{name}.weight"] + weights[f"{name}.bias"]
    logits = dense(flat("policy.filter"), "policy.out")
    hidden = jax.nn.relu(dense(flat("value.filter"), "value.hidden"))
    return logits, jnp.tanh(dense(hidden, "value.out")[:,0])
