"""A simple residual network with random weights, for Tengen and for a peer: weights by name, and as ONNX.

planes ─ 3×3, ReLU ─ blocks of two 3×3 with a skip connection ─┬─ 2 filters, ReLU ─ linear ─ logits
                                                               └─ 1 filter, ReLU ─ 64, ReLU ─ value
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from tengen.games.game import Game

Weights = dict[str, npt.NDArray[np.float32]]

PLANES = (0, 1)  # my stones and the opponent's, as in pgx
POLICY_FILTERS, VALUE_FILTERS, HIDDEN = 2, 1, 64
OPSET, FORMAT = 17, 8  # as in our other exports


def random_weights(game: Game, channels: int, blocks: int, seed: int = 1) -> Weights:
    """Kernels [out, in, H, W], matrices [in, out] and biases, with batch normalisation already folded in."""
    random = np.random.default_rng(seed)
    weights: Weights = {}

    def layer(name: str, shape: tuple[int, ...], fan_in: int, gain: float = 2.0) -> None:
        outputs = shape[0] if len(shape) == 4 else shape[1]
        weights[f"{name}.weight"] = random.normal(0, (gain / fan_in) ** 0.5, shape).astype(np.float32)
        weights[f"{name}.bias"] = random.normal(0, 0.05, outputs).astype(np.float32)

    layer("first", (channels, len(PLANES), 3, 3), 9 * len(PLANES))
    for block in range(blocks):
        layer(f"block{block}.a", (channels, channels, 3, 3), 9 * channels)
        layer(f"block{block}.b", (channels, channels, 3, 3), 9 * channels, gain=0.5)
    cells = game.rows * game.cols
    layer("policy.filter", (POLICY_FILTERS, channels, 1, 1), channels)
    layer("policy.out", (POLICY_FILTERS * cells, game.num_actions), POLICY_FILTERS * cells, gain=1.0)
    layer("value.filter", (VALUE_FILTERS, channels, 1, 1), channels)
    layer("value.hidden", (VALUE_FILTERS * cells, HIDDEN), VALUE_FILTERS * cells)
    layer("value.out", (HIDDEN, 1), HIDDEN, gain=1.0)
    return weights


def to_onnx(game: Game, weights: Weights) -> bytes:
    """The network as ONNX, for playing."""
    nodes = []

    def add(kind: str, output: str, *inputs: str, **settings: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], **settings))
        return output

    def convolution(name: str, x: str) -> str:
        reach = weights[f"{name}.weight"].shape[-1] // 2
        return add("Conv", name, x, f"{name}.weight", f"{name}.bias", pads=[reach] * 4)

    def linear(name: str, x: str, output: str) -> str:
        return add("Gemm", output, x, f"{name}.weight", f"{name}.bias")

    def relu(x: str) -> str:
        return add("Relu", f"{x}.relu", x)

    # 1. the trunk
    x = relu(convolution("first", "planes"))
    for block in range(sum(name.endswith(".b.weight") for name in weights)):
        y = convolution(f"block{block}.b", relu(convolution(f"block{block}.a", x)))
        x = relu(add("Add", f"block{block}.sum", x, y))
    # 2. the heads
    policy = add("Flatten", "policy.flat", relu(convolution("policy.filter", x)))
    linear("policy.out", policy, "logits")
    value = add("Flatten", "value.flat", relu(convolution("value.filter", x)))
    value = linear("value.out", relu(linear("value.hidden", value, "value.hidden")), "value.out")
    add("Squeeze", "value", add("Tanh", "value.tanh", value), "column")
    # 3. the model
    arrays = {**weights, "column": np.array([1])}
    graph = helper.make_graph(
        nodes,
        "residual",
        [_floats("planes", "batch", len(PLANES), game.rows, game.cols)],
        [_floats("logits", "batch", game.num_actions), _floats("value", "batch")],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=FORMAT)
    onnx.checker.check_model(model)
    data: bytes = model.SerializeToString()
    return data


def multiply_adds(data: bytes, game: Game) -> int:
    """The multiply-adds per position of a game, in the convolutions and linear layers of an fp32 network."""
    model = onnx.load_model_from_string(data)
    axes = model.graph.input[0].type.tensor_type.shape.dim  # height and width may be free
    axes[2].dim_value, axes[3].dim_value = game.rows, game.cols
    model = onnx.shape_inference.infer_shapes(model)
    weights = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    known = [*model.graph.value_info, *model.graph.output]
    sizes = {info.name: [axis.dim_value for axis in info.type.tensor_type.shape.dim[1:]] for info in known}
    total = 0
    for node in model.graph.node:
        if node.op_type in ("Conv", "Gemm", "MatMul") and node.input[1] in weights:
            channels_last = node.op_type != "Conv"
            places = sizes[node.output[0]][:-1] if channels_last else sizes[node.output[0]][1:]
            total += math.prod(weights[node.input[1]]) * math.prod(places)
    return total


def _floats(name: str, *shape: str | int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
