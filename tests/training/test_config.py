"""Settings: read, written, and refused when they are wrong."""

import tomllib
from dataclasses import asdict, fields

import pytest

from tengen import games
from tengen.errors import UserError
from tengen.training.config import PRESETS, SECTIONS, Config
from tengen.training.config_files import CONFIGS, earlier, from_dict, from_toml, load, reasons, to_toml


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
        ("learner.threads=2", "learner.threads is learner.parts now"),
        ("learner.batch_size=many", "learner.batch_size is a whole number, got 'many'"),
        ("learner.batch_size=-1", "learner.batch_size is a whole number from 2 up, got -1"),
        ("selfplay.see_wins=perhaps", "selfplay.see_wins is true or false, got 'perhaps'"),
        ("selfplay.games=0", "selfplay.games is a whole number from 1 up, got 0"),
        ("selfplay.discount=1.5", "selfplay.discount is a number from 0.01 to 1, got 1.5"),
        ("selfplay.reanalyse=-1", "selfplay.reanalyse is a number from 0 up, got -1"),
        ("selfplay.reanalyse=101", "selfplay.reanalyse is a number from 0 to 100, got 101"),
        ("selfplay.reanalyse_value=2", "selfplay.reanalyse_value is a number from 0 to 1, got 2"),
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


def test_a_run_made_before_a_setting_was_renamed_opens() -> None:
    assert from_toml("[learner]\nthreads = 3\n", Config("connect4"), "config.toml").learner.parts == 3
    card = asdict(Config("connect4"))
    card["selfplay"]["trust"] = 0.5
    del card["selfplay"]["td_lambda"]
    assert from_dict(card).selfplay.td_lambda == 0.5


def test_a_wrong_file_is_named() -> None:
    with pytest.raises(UserError, match=r"^mine\.toml: "):
        from_toml("x = [", Config(""), "mine.toml")


@pytest.mark.parametrize("name", games.names())
def test_every_game_has_a_file_that_says_only_what_differs(name: str) -> None:
    """And what is written of its complete settings is what is read."""
    text = (CONFIGS / f"{name}.toml").read_text(encoding="utf-8")
    assert text.startswith("# ")
    own = tomllib.loads(text)
    inherited = load(own.pop("like")) if "like" in own else Config(name)
    for section, table in own.items():
        for key, value in table.items():
            assert getattr(getattr(load(name), section), key) == value
            assert getattr(getattr(inherited, section), key) != value, f"{section}.{key} says nothing new"
    complete = tomllib.loads(to_toml(load(name)))
    assert {section: list(complete[section]) for section in SECTIONS} == {
        section: [one.name for one in fields(kind)] for section, kind in SECTIONS.items()
    }
    assert from_toml(to_toml(load(name)), Config(""), "config.toml") == load(name)
    assert load(name).length.minutes > 0, "a run ends by itself"


def test_a_seed_is_kept_whatever_the_file_of_the_game_says() -> None:
    assert [load(name, seed=5).seed for name in games.names()] == [5] * len(games.names())


def test_every_setting_has_a_reason() -> None:
    for kind in SECTIONS.values():
        assert set(reasons(kind)) == {one.name for one in fields(kind)}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_changes_what_it_names(preset: str) -> None:
    config = load("connect4", preset=preset)
    for name, value in PRESETS[preset].items():
        section, key = name.split(".")
        assert getattr(getattr(config, section), key) == value
    assert load("connect4", ["network.channels=7"], preset=preset).network.channels == 7


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(UserError, match="no preset 'nite', did you mean night"):
        load("connect4", preset="nite")


def test_a_run_that_is_older_than_a_setting_goes_on_without_it() -> None:
    """The forced fours came later: a run that does not name them was made without."""
    old = "\n".join(line for line in to_toml(load("gomoku9")).splitlines() if not line.startswith("fours"))
    assert from_toml(old, earlier(), "config.toml").selfplay.fours == 0
    settings = asdict(load("gomoku9"))
    assert from_dict(settings).selfplay.fours == load("gomoku9").selfplay.fours > 0
    for key in ("fours", "overlap", "reanalyse", "reanalyse_value"):
        del settings["selfplay"][key]
    found = from_dict(settings).selfplay
    assert found.fours == found.overlap == found.reanalyse == 0
