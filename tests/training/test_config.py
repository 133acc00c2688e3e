"""Settings: read, written, and refused when they are wrong."""

import pytest

from tengen.errors import UserError
from tengen.training.config import Config, from_toml, load, to_toml


def test_settings_survive_a_file() -> None:
    config = load(
        "tictactoe", ["learner.batch_size=512", "selfplay.search=puct", "replay.share=0.25"], seed=7
    )
    assert (config.learner.batch_size, config.selfplay.search, config.replay.share) == (512, "puct", 0.25)
    assert from_toml(to_toml(config), Config(""), "config.toml") == config


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("learner.batch_sise=3", "[learner] has no setting 'batch_sise', did you mean batch_size?"),
        ("lerner.batch_size=3", "no section 'lerner', did you mean learner?"),
        ("learner.batch_size=many", "learner.batch_size is a whole number, got 'many'"),
        ("learner.batch_size=-1", "learner.batch_size is a whole number from 0 up, got -1"),
        (
            "selfplay.search=gumble",
            "selfplay.search is one of gumbel, puct, got 'gumble', did you mean gumbel?",
        ),
        ("nonsense", "--set is section.key=value, got 'nonsense'"),
    ],
)
def test_a_wrong_setting_says_what_is_right(setting: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        load("tictactoe", [setting])
    assert str(error.value) == message


def test_a_wrong_file_is_named() -> None:
    with pytest.raises(UserError, match=r"^mine\.toml: "):
        from_toml("x = [", Config(""), "mine.toml")
