"""The options that say where the work of a command is done: workers/place.py."""

from typing import Annotated

import typer

ClusterName = Annotated[
    str | None, typer.Option("--cluster", metavar="ray", help="Work on a Ray cluster: docs/cluster.md.")
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="Of the cluster's head, or auto: one on this machine. Default: $RAY_ADDRESS, or a new one here.",
    ),
]
