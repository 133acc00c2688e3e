"""Mistakes that are the user's, not ours: the command line shows them in one line, without a traceback."""


class UserError(ValueError):
    """What was expected, what came, what to do: one line."""


class MissingExtraError(UserError):
    """Something that is installed separately."""

    def __init__(self, command: str, extra: str) -> None:
        super().__init__(f"{command} needs: pip install 'tengen[{extra}]'")
