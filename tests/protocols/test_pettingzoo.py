"""PettingZoo: its own tests of our environments, games compared move by move, and our players in its games."""

import copy
import importlib
import subprocess
import sys
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.utils.env_logger import EnvLogger

from tengen import games
from tengen.errors import MissingExtraError, UserError
from tengen.games.check import interpreted
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.protocols.pettingzoo import SHARED, Agent, GameEnv, env, game_of, position_of

REPOSITORY = Path(__file__).parents[2]
SPREAD = ("tictactoe", "connect4", "gomoku9", "renju15", "othello6", "hex7", "mnk:rows=4,cols=6,k=4")

# PettingZoo says these of every observation that is a dict, unless the environment is on a list of its own.
OF_DICTS = ("Observation is not a NumPy array", "Observation space for each agent probably should be")


def theirs(name: str) -> Any:
    """One of PettingZoo's own environments, after a reset."""
    environment = pettingzoo.make("aec", f"classic/{name}")
    environment.reset(seed=0)
    return environment


def started(game: str | Game, **settings: Any) -> Any:
    environment = env(game, **settings)
    environment.reset(seed=0)
    return environment


def uncompiled(game: Game) -> Game:
    """The same game as plain Python: compiling one from a file takes seconds in every process."""
    kernels = ("start", "legal", "play", "outcome", "planes")
    plain: dict[str, Any] = {kernel: interpreted(getattr(game, kernel)) for kernel in kernels}
    return replace(game, **plain)


def random_action(mask: Any, random: np.random.Generator) -> int:
    return int(random.choice(np.flatnonzero(mask)))


@pytest.mark.parametrize("game", SPREAD)
class TestTheirOwnTests:
    def test_api(self, game: str) -> None:
        for environment in (env(game), GameEnv(game)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                api_test(environment, num_cycles=1000)
            said = [str(one.message) for one in caught]
            assert not [text for text in said if not text.startswith(OF_DICTS)]

    def test_seed(self, game: str) -> None:
        seed_test(partial(env, game), num_cycles=200)

    def test_render(self, game: str, capsys: pytest.CaptureFixture[str]) -> None:
        render_test(partial(env, game))
        assert "to move" in capsys.readouterr().out  # the mode "human" prints


@pytest.mark.parametrize("game", games.names())
def test_random_games_follow_the_rules(game: str) -> None:
    environment, random = started(game), np.random.default_rng(1)
    position, rewards = Position.start(game), dict[str, float]()
    for name in environment.agent_iter():
        observation, reward, is_over, is_cut, _ = environment.last()
        if is_over:
            rewards[name] = reward
            environment.step(None)
            continue
        assert not is_cut and reward == 0
        assert name == f"player_{position.to_move - 1}"
        assert np.flatnonzero(observation["action_mask"]).tolist() == position.legal_actions
        other = environment.observe(f"player_{2 - position.to_move}")
        assert not other["action_mask"].any()
        action = random_action(observation["action_mask"], random)
        position = position.play(action)
        environment.step(action)
    assert position.is_over and not environment.agents
    won = 0 if position.winner is None else 1 if position.winner == 1 else -1
    assert rewards == {"player_0": won, "player_1": -won}


class TestObservations:
    def test_each_agent_sees_its_own_stones_first(self) -> None:
        environment = started("connect4")
        environment.step(3)  # lands on the bottom row
        environment.step(0)
        first, second = (environment.observe(agent)["observation"] for agent in environment.agents)
        assert first.shape == (6, 7, 4) and first.dtype == np.float32
        assert np.argwhere(first[..., 0]).tolist() == np.argwhere(second[..., 1]).tolist() == [[5, 3]]
        assert np.argwhere(first[..., 1]).tolist() == np.argwhere(second[..., 0]).tolist() == [[5, 0]]

    def test_at_its_turn_an_agent_sees_what_a_network_sees(self) -> None:
        environment, random = started("renju15"), np.random.default_rng(3)
        for _ in range(60):
            seen = environment.last()[0]
            rules, planes = games.find("renju15"), np.empty((5, 15, 15), np.float32)
            rules.planes(position_of(environment).state.copy(), planes)
            assert np.array_equal(seen["observation"].transpose(2, 0, 1), planes)
            environment.step(random_action(seen["action_mask"], random))


class TestIllegalActions:
    def test_the_agent_loses_and_the_game_ends(self) -> None:
        environment = started("tictactoe")
        environment.step(4)
        EnvLogger.suppress_output()
        environment.step(4)
        EnvLogger.unsuppress_output()
        assert environment.rewards == {"player_0": 0, "player_1": -1}
        assert all(environment.terminations.values())
        last = {}
        for name in environment.agent_iter():
            last[name] = environment.last()[1]
            environment.step(None)
        assert last == {"player_0": 0, "player_1": -1}
        environment.reset()
        assert environment.observe("player_0")["action_mask"].all()

    def test_an_action_that_does_not_exist(self) -> None:
        with pytest.raises(AssertionError, match="action is not in action space"):
            started("tictactoe").step(9)

    def test_without_the_checks_the_rules_say_why(self) -> None:
        environment = GameEnv("tictactoe")
        environment.reset()
        environment.step(4)
        with pytest.raises(UserError, match="illegal move 'b2' in tictactoe: there is a stone already"):
            environment.step(4)
        with pytest.raises(UserError, match="player_1 is to move: expected an action, got None"):
            environment.step(None)
        assert environment.position.moves == ["b2"]


class TestRendering:
    def test_text(self) -> None:
        environment = started("othello6", render_mode="ansi")
        assert environment.render() == Position.start("othello6").text()

    def test_people_see_every_move(self, capsys: pytest.CaptureFixture[str]) -> None:
        environment = started("tictactoe", render_mode="human")
        environment.step(0)
        environment.step(8)
        assert capsys.readouterr().out.count("to move") == 2

    def test_pixels_change_where_a_stone_is_placed(self) -> None:
        environment = started("gomoku9", render_mode="rgb_array")
        empty = environment.render()
        environment.step(0)  # the top left corner
        changed = np.argwhere((environment.render() != empty).any(axis=2))
        assert len(changed) and (changed.max(axis=0) < np.array(empty.shape[:2]) / 4).all()

    def test_an_unknown_mode(self) -> None:
        with pytest.raises(UserError, match="render_mode is ansi, human, rgb_array or None, got 'svg'"):
            env("tictactoe", render_mode="svg")

    def test_pixels_need_pillow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tengen.protocols.pettingzoo.find_spec", lambda name: None)
        with pytest.raises(MissingExtraError, match=r"render_mode='rgb_array' needs the pictures extra"):
            env("tictactoe", render_mode="rgb_array")
        assert env("tictactoe").metadata["render_modes"] == ["ansi", "human"]

    def test_nothing_is_rendered_without_a_mode(self) -> None:
        with pytest.warns(UserWarning, match="make the environment with a render_mode"):
            assert started("tictactoe").render() is None


class TestMaking:
    def test_by_their_registry(self) -> None:
        environment = pettingzoo.make("aec", "tengen/caro15-exact", render_mode="ansi")
        environment.reset()
        assert environment.render() == Position.start("caro15-exact").text()
        assert str(environment) == "tengen_caro15-exact"

    def test_an_unknown_game(self) -> None:
        with pytest.raises(UserError, match="unknown game 'conect4', did you mean connect4"):
            env("conect4")

    def test_a_copy_is_a_new_environment_of_the_same_game(self) -> None:
        made = copy.deepcopy(GameEnv("hex7", "ansi"))
        assert (made.game.name, made.render_mode) == ("hex7", "ansi")

    def test_a_game_from_a_file_with_two_stones_per_turn(self) -> None:
        (name,) = games.load_file(REPOSITORY / "examples" / "connect6.py")
        environment = started(uncompiled(games.find(name)))
        turns = []
        for action in (60, 0, 1, 2, 3, 4, 5):
            turns.append(environment.agent_selection)
            environment.step(action)
        assert turns == [f"player_{player}" for player in (0, 1, 1, 0, 0, 1, 1)]

    def test_without_the_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pettingzoo", None)
        monkeypatch.delitem(sys.modules, "tengen.protocols.pettingzoo")
        with pytest.raises(
            MissingExtraError, match=r"^tengen.protocols.pettingzoo needs the pettingzoo extra: "
        ):
            importlib.import_module("tengen.protocols.pettingzoo")


@pytest.mark.parametrize("name", SHARED)
def test_their_boards_are_read_right(name: str) -> None:
    """Random games in both: the same boards, turns, legal actions and results."""
    environment, random = theirs(name), np.random.default_rng(2)
    for _ in range(40):
        environment.reset()
        position = Position.start(game_of(environment))
        while not any(environment.terminations.values()):
            read = position_of(environment)
            assert np.array_equal(read.state[read.game.cells], position.state[position.game.cells])
            assert read.to_move == position.to_move
            mask = environment.observe(environment.agent_selection)["action_mask"]
            assert np.flatnonzero(mask).tolist() == read.legal_actions == position.legal_actions
            action = random_action(mask, random)
            position = position.play(action)
            environment.step(action)
        assert position.is_over
        won = 0 if position.winner is None else 1 if position.winner == 1 else -1
        assert [environment.rewards[agent] for agent in environment.possible_agents] == [won, -won]


def play_against_random(environment: Any, agent: Agent, seat: int, seed: int) -> float:
    """The agent's reward for a game against random moves; seat: 0 moves first."""
    random, reward = np.random.default_rng(seed), 0.0
    environment.reset(seed=seed)
    agent.new_game(seed)
    for name in environment.agent_iter():
        observation, so_far, is_over, is_cut, _ = environment.last()
        is_mine = name == environment.possible_agents[seat]
        reward = so_far if is_mine else reward
        if is_over or is_cut or is_mine:
            environment.step(agent.action())
        else:
            environment.step(random_action(observation["action_mask"], random))
    return reward


@pytest.mark.parametrize(
    ("name", "spec", "least"),
    [
        ("connect_four_v3", "uct:sims=200", 9),
        ("connect_four_v3", "zero:sims=30", 9),
        ("tictactoe_v3", "perfect", 7),
        ("tictactoe_v3", "uct:sims=200", 6),
    ],
)
def test_our_players_beat_random_ones_in_their_games(name: str, spec: str, least: int) -> None:
    environment = theirs(name)
    with Agent(environment, spec) as agent:
        rewards = [play_against_random(environment, agent, seed % 2, seed) for seed in range(10)]
    assert rewards.count(1) >= least and -1 not in rewards


class TestAgents:
    def test_it_plays_our_environments_too(self) -> None:
        environment = started("othello6")
        with Agent(environment, "uct:sims=50") as agent:
            rewards = [play_against_random(environment, agent, seed % 2, seed) for seed in range(6)]
        assert rewards.count(1) >= 5

    def test_the_perfect_player_wins_every_position_that_is_won(self) -> None:
        environment, num_won = theirs("connect_four_v3"), 0
        with Agent(environment, "perfect") as agent:
            for seed in range(8):
                random = np.random.default_rng(seed)
                environment.reset()
                for _ in range(18):  # a random opening, so that solving takes milliseconds
                    if environment.terminations[environment.agent_selection]:
                        break
                    mask = environment.observe(environment.agent_selection)["action_mask"]
                    environment.step(random_action(mask, random))
                name, position = environment.agent_selection, position_of(environment)
                if position.is_over or agent.player.choose(position).value != 1:
                    continue
                num_won += 1
                while not any(environment.terminations.values()):
                    mask = environment.observe(environment.agent_selection)["action_mask"]
                    is_mine = environment.agent_selection == name
                    environment.step(agent.action() if is_mine else random_action(mask, random))
                assert environment.rewards[name] == 1
        assert num_won >= 2

    def test_it_takes_the_win(self) -> None:
        environment = theirs("connect_four_v3")
        for action in (3, 0, 3, 0, 3, 0):
            environment.step(action)
        with Agent(environment, "uct:sims=100") as agent:
            assert agent.action() == 3
            environment.step(3)
            assert agent.action() is None  # the game is over

    def test_equal_seeds_choose_equally(self) -> None:
        environment = theirs("tictactoe_v3")
        with Agent(environment, "perfect", seed=5) as agent:
            first = [agent.action() for _ in range(8)]
            agent.new_game(5)
            assert first == [agent.action() for _ in range(8)] and len(set(first)) > 1

    def test_an_environment_without_a_game_of_ours(self) -> None:
        with pytest.raises(
            UserError, match="no Tengen game for the environment rps_v2: there are connect_four_v3"
        ):
            Agent(pettingzoo.make("aec", "classic/rps_v2"), "uct")

    def test_a_player_that_does_not_play_the_game(self) -> None:
        with pytest.raises(UserError, match="player 'perfect' plays connect4 and games of at most 9 cells"):
            Agent(env("gomoku9"), "perfect")


def test_the_example_runs() -> None:
    script = REPOSITORY / "examples" / "pettingzoo_match.py"
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "zero:sims=100 won 10 of 10" in done.stdout
