"""Exports networks for playing as ONNX, in fp32 and int8, with batch normalisation folded in; checks them.

int8 is static quantisation with unsigned activations and signed weights, per channel (signed activations are
slower than fp32). Weights use 7 bits, because CPUs without VNNI add pairs of products in 16 bits, which can
overflow: on an AVX2 machine, 7 bits have a quarter of the error at the same speed.
"""

import copy
import logging
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

from tengen.evaluators.session import HEIGHT, WIDTH, new_session
from tengen.games.game import Planes
from tengen.nets.net import Net

OUTPUTS = ("logits", "value", "plies_left")
LARGEST_DIFFERENCE = 1e-4  # between torch and its export


class ExportError(RuntimeError):
    """The export's output differs from the network's."""


def to_onnx(net: Net, planes: Planes) -> bytes:
    """The network as ONNX, checked against PyTorch on some planes [B, C, H, W] of real positions.

    If no layer depends on the board's size, height and width are left free (evaluators/session.py), and it
    is also checked on a larger board."""
    folded = _without_batch_norm(net)
    sample = torch.from_numpy(np.ascontiguousarray(planes[:, net.planes]))
    expected = _answers(folded, sample)
    names = OUTPUTS[: len(expected)]
    axes = {name: {0: "batch"} for name in ("planes", *names)}
    if net.fits_any_size:
        axes["planes"] |= {2: HEIGHT, 3: WIDTH}
        axes["logits"] |= {1: "actions"}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # the tracing exporter, which PyTorch calls legacy: the new one takes 10 × as long
        file = Path(folder) / "net.onnx"
        torch.onnx.export(
            _Tuple(folded, len(expected)).eval(),  # else its parts are in training mode afterwards
            (sample[:2],),
            str(file),
            dynamo=False,
            input_names=["planes"],
            output_names=list(names),
            dynamic_axes=axes,
            opset_version=17,
        )
        data = _without_sharing(file.read_bytes())
    _compare(data, sample, expected)
    if net.fits_any_size:
        larger = nn.functional.pad(sample, (1, 2, 2, 1))  # empty cells around the board
        _compare(data, larger, _answers(folded, larger))
    return data


def _answers(net: Net, planes: Tensor) -> list[Tensor]:
    """The outputs of the network: those of OUTPUTS that it has."""
    with torch.inference_mode():
        return [part for part in net(planes)[: len(OUTPUTS)] if part is not None]


def _compare(data: bytes, planes: Tensor, expected: list[Tensor]) -> None:
    """ExportError if the outputs of the export are not the expected ones."""
    got = new_session(data, planes.shape[2:]).run(None, {"planes": planes.numpy()})
    for name, want, have in zip(OUTPUTS, expected, got, strict=False):
        difference = float(np.abs(want.numpy() - have).max())
        scale = max(1.0, float(want.abs().max()))
        if not difference <= LARGEST_DIFFERENCE * scale:
            raise ExportError(f"{name} of the ONNX export differs from the network by {difference:.2g}")


def _without_sharing(data: bytes) -> bytes:
    """The model with a copy of each weight that several layers share. The exporter stores equal weights once,
    but the quantiser leaves convolutions that share a bias in fp32. (Untrained batch normalisation gives
    equal biases.)"""
    model = onnx.load_model_from_string(data)
    graph = model.graph
    weights = {one.name: one for one in graph.initializer}
    for node in [node for node in graph.node if node.op_type == "Identity" and node.input[0] in weights]:
        copied = onnx.TensorProto()
        copied.CopyFrom(weights[node.input[0]])
        copied.name = node.output[0]
        graph.initializer.append(copied)
        graph.node.remove(node)
    return bytes(model.SerializeToString())


def to_int8(data: bytes, planes: Planes) -> bytes:
    """A network of to_onnx in 8-bit integers, calibrated on its input planes [B, C, H, W].

    The first layer and the heads stay in fp32: they cost little time, and int8 would double the error."""
    model = onnx.load_model_from_string(data)
    for i, node in enumerate(model.graph.node):
        node.name = node.name or f"node{i}"  # nodes are excluded by name
    first_layers = [node.name for node in model.graph.node if model.graph.input[0].name in node.input]
    log = logging.getLogger()
    before = log.level
    log.setLevel(logging.ERROR)  # it warns about preprocessing that is already done
    try:
        with tempfile.TemporaryDirectory() as folder:
            file, quantised = Path(folder) / "net.onnx", Path(folder) / "int8.onnx"
            file.write_bytes(model.SerializeToString())
            quantize_static(
                str(file),
                str(quantised),
                _Calibration(planes),
                op_types_to_quantize=["Conv", "Add", "Relu"],
                nodes_to_exclude=first_layers,
                quant_format=QuantFormat.QDQ,
                per_channel=True,
                reduce_range=True,
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
            )
            return quantised.read_bytes()
    finally:
        log.setLevel(before)


class _Calibration(CalibrationDataReader):  # type: ignore[misc]
    """Batches of planes, one after another, for the quantiser."""

    def __init__(self, planes: Planes, batch: int = 256) -> None:
        self._batches = iter([planes[i : i + batch] for i in range(0, len(planes), batch)])

    def get_next(self) -> dict[str, Planes] | None:
        batch = next(self._batches, None)
        return None if batch is None else {"planes": batch}


class _Tuple(nn.Module):
    """The network with a tuple of tensors as output: the exporter does not accept None."""

    def __init__(self, net: Net, count: int) -> None:
        super().__init__()
        self.net, self.count = net, count

    def forward(self, planes: Tensor) -> tuple[Tensor, ...]:
        return tuple(self.net(planes))[: self.count]


def _without_batch_norm(net: Net) -> Net:
    """A copy for playing, with each batch normalisation folded into the layer before it."""
    folded = copy.deepcopy(net).cpu().eval()
    _fold(folded)
    return folded


def _fold(module: nn.Module) -> None:
    for name, child in module.named_children():
        _fold(child)
        if isinstance(child, nn.Sequential):
            setattr(module, name, nn.Sequential(*_folded(list(child))))


def _folded(layers: list[nn.Module]) -> list[nn.Module]:
    kept: list[nn.Module] = []
    for layer in layers:
        if isinstance(layer, nn.BatchNorm2d) and kept and isinstance(kept[-1], nn.Conv2d):
            kept[-1] = fuse_conv_bn_eval(kept[-1], layer)
        elif isinstance(layer, nn.BatchNorm1d) and kept and isinstance(kept[-1], nn.Linear):
            kept[-1] = fuse_linear_bn_eval(kept[-1], layer)
        else:
            kept.append(layer)
    return kept
