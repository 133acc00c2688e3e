"""`tengen net NAME --game GAME`: a network's layers, its size, its speed, and a picture of it."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tengen.bench.network import Rates
    from tengen.nets.describe import Description, Layer

POSITIONS = 512  # from random games: to calibrate int8 and to measure speed


def net(
    name: Annotated[str, typer.Argument(help="anysize, lines, gobang, gomoku, connect4 or mnk.")],
    game: Annotated[str, typer.Option(help="The game to play.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="May be repeated.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Write the architecture as an SVG picture.")] = None,
    png: Annotated[Path | None, typer.Option(help="Write the architecture as a PNG picture.")] = None,
    seconds: Annotated[
        float, typer.Option(min=0, max=3600, help="Seconds for each measurement of speed; 0: none.")
    ] = 0.5,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show a network: its layers, parameters, multiply-adds, and its speed on this machine."""
    from importlib.util import find_spec

    from tengen.errors import MissingExtraError

    if find_spec("torch") is None or find_spec("onnx") is None:
        raise MissingExtraError("tengen net", "train")

    import numpy as np

    from tengen import files, games
    from tengen.bench.network import speeds
    from tengen.evaluators.lookup import to_bytes
    from tengen.evaluators.samples import random_planes
    from tengen.nets import describe, drawing, picture
    from tengen.nets.export import to_int8, to_onnx
    from tengen.nets.lines import can_look_up

    files.check_can_write(svg, png)
    given = dict(_setting(text) for text in settings or [])
    rules = games.find(game)
    network, chosen = describe.fitting(name, rules, given)
    planes = random_planes(rules, POSITIONS)
    description = describe.describe(network, planes)
    title, values = f"{name} for {rules.name}", [f"{key}={value}" for key, value in chosen.items()]

    if svg is not None or png is not None:
        drawn = picture.draw(description, title, ", ".join(values))
        if svg is not None:
            files.write_text(svg, drawing.to_svg(drawn))
        if png is not None:
            files.write_bytes(png, drawing.to_png(drawn))
    if not as_json:
        print(", ".join([title, *values]) + "\n")
        print(_table(description, rules.num_planes), flush=True)

    rates: Rates | None = None
    if seconds:
        print(f"exporting, then measuring for {20 * seconds:g} s or more", file=sys.stderr)
        seen = np.ascontiguousarray(planes[:, network.planes])
        fp32 = to_onnx(network, planes)
        exports = {"fp32": fp32, "int8": to_int8(fp32, seen)}
        if can_look_up(network):
            exports["lookup"] = to_bytes(network.layers())
        rates = speeds(exports, seen, seconds)
    if as_json:
        print(json.dumps(_facts(name, rules.name, chosen, description, rates), indent=2))
    elif rates is not None:
        print(_speeds(rates))


def _setting(text: str) -> tuple[str, str]:
    from tengen.errors import UserError

    key, equals, value = text.partition("=")
    if not (key.strip() and equals):
        raise UserError(f"--set is key=value, got '{text}'")
    return key.strip(), value.strip()


def _table(description: "Description", num_planes: int) -> str:
    """The layers, one line each."""
    planes = len(description.planes)
    rows = [("", "", "output", "parameters", "multiply-adds")]
    of = "" if planes == num_planes else f" of the game's {num_planes}"
    rows.append(("input", f"{planes} planes{of}", _shape(description.input_shape), "", ""))
    part = ""
    for layer in description.layers:
        parameters, products = (f"{n:,}" if n else "" for n in (layer.parameters, layer.multiply_adds))
        first = layer.part if layer.part != part else ""
        rows.append((first, _name(layer), _shape(layer.shape), parameters, products))
        part = layer.part
    rows.append(("total", "", "", f"{description.parameters:,}", f"{description.multiply_adds:,}"))
    width = max(len(row[1]) for row in rows) + 2
    lines = [f"{a:<8}{b:<{width}}{c:>9}{d:>13}{e:>16}".rstrip() for a, b, c, d, e in rows]
    return "\n".join(lines)


def _name(layer: "Layer") -> str:
    if not layer.inside:
        return layer.name
    return f"{layer.name}: {', '.join(one.name.split(',')[0] for one in layer.inside if one.parameters)}"


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))


def _speeds(rates: "Rates") -> str:
    """The speeds, one line per precision."""
    sizes = list(rates["fp32"])
    lines = [
        "",
        f"{'evaluations per second, one thread':<36}" + "".join(f"{f'batch {n}':>12}" for n in sizes),
    ]
    for precision, row in rates.items():
        numbers = "".join(f"{row[size]:>12,.0f}" for size in sizes)
        lines.append(f"{precision:<36}{numbers}")
    if "int8" not in rates:
        lines.append("int8: not possible here")
    for precision in ("int8", "lookup"):
        if precision in rates:
            ratios = "".join(f"{rates[precision][size] / rates['fp32'][size]:>11.1f}×" for size in sizes)
            lines.append(f"{f'{precision} / fp32':<36}{ratios}")
    return "\n".join(lines)


def _facts(
    name: str, game: str, settings: dict[str, object], description: "Description", rates: "Rates | None"
) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "network": name,
        "game": game,
        "settings": settings,
        **asdict(description),
        "multiply_adds": description.multiply_adds,
        "evaluations_per_second": rates,
    }
