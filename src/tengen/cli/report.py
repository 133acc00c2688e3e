"""`tengen report NAME`: a run on one page."""

from pathlib import Path
from typing import Annotated

import typer

from tengen.errors import UserError
from tengen.training.folders import run_folder


def report(
    name: Annotated[str, typer.Argument(help="A run: tengen runs lists them.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="An .html page, or an .svg picture of the strength alone."),
    ] = None,
    shows: Annotated[bool, typer.Option("--open/--no-open", help="Show it in the browser.")] = False,
) -> None:
    """Draw a training run: losses, strength, speed, settings. Default: runs/NAME/report.html."""
    from tengen import files
    from tengen.training.report import report as page
    from tengen.training.report import strength_svg
    from tengen.training.run import Run

    run = Run.open(run_folder(name))
    file = out or run.folder / "report.html"
    if file.suffix not in (".html", ".svg"):
        raise UserError(f"--out is a file that ends in .html or .svg, got {file}")
    files.check_can_write(file)
    drawn = strength_svg(run) if file.suffix == ".svg" else page(run)
    files.write_text(file, drawn)
    print(file)
    if shows:
        import webbrowser

        webbrowser.open(file.absolute().as_uri())
