"""OpenSpiel: its own tests of our games, its bots in them, and our players in its games."""

import copy
import importlib
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import mcts
from open_spiel.python.algorithms.get_all_states import get_all_states
from open_spiel.python.bots.uniform_random import UniformRandomBot

from tengen import games
from tengen.errors import MissingExtraError, UserError
from tengen.games.position import Position
from tengen.protocols.openspiel import PREFIX, Bot, load, longest_game, position_of, register, rules_of

REPOSITORY = Path(__file__).parents[2]
SPREAD = (
    "tictactoe",
    "connect4",
    "gomoku9",
    "renju15",
    "caro15-exact",
    "othello6",
    "hex7",
    "mnk:rows=4,cols=6,k=4",
)

BOTH_HAVE = {  # in OpenSpiel: here
    "tic_tac_toe": "tictactoe",
    "python_tic_tac_toe": "tictactoe",
    "connect_four": "connect4",
    "connect_four(rows=5,columns=8,x_in_row=3)": "connect:rows=5,cols=8,k=3",
    "mnk": "gomoku15",
    "mnk(m=9,n=5,k=4)": "mnk:rows=5,cols=9,k=4",
    "gomoku": "gomoku15",
    "gomoku(size=9)": "gomoku9",
    "othello": "othello8",
    "hex": "hex11",
    "hex(board_size=7)": "hex7",
    "hex(num_cols=5,num_rows=5)": "hex:size=5",
}


def theirs(name: str) -> Any:
    """A game of OpenSpiel's own."""
    if name.startswith("python_"):
        importlib.import_module(f"open_spiel.python.games.{name.removeprefix('python_')}")
    return pyspiel.load_game(name)


class TestOurGames:
    @pytest.mark.parametrize("game", SPREAD)
    def test_their_own_test(self, game: str) -> None:
        """Random games with every check that OpenSpiel makes, of serialised states too."""
        pyspiel.random_sim_test(load(game), num_sims=2, serialize=True, verbose=False)

    @pytest.mark.parametrize("name", games.names())
    def test_random_games_follow_the_rules(self, name: str) -> None:
        game, chooser = load(name), random.Random(1)
        assert str(game) == f"{PREFIX}{name.replace('-', '_')}()"
        state, position = game.new_initial_state(), Position.start(name)
        while not state.is_terminal():
            assert state.current_player() == position.to_move - 1
            assert state.legal_actions() == position.legal_actions
            assert state.returns() == [0, 0] and not position.is_over
            action = chooser.choice(state.legal_actions())
            copied = state.clone()
            assert state.action_to_string(action) == position.game.moves.name(action)
            state.apply_action(action)
            assert copied.history() == position.actions and copied.legal_actions() == position.legal_actions
            position = position.play(action)
        assert position.is_over and state.legal_actions() == []
        won = 0 if position.winner is None else 1 if position.winner == 1 else -1
        assert state.returns() == [won, -won]
        assert len(position.actions) <= game.max_game_length() == longest_game(position.game)

    def test_all_positions_of_tic_tac_toe(self) -> None:
        """The published number, and the result of every game that OpenSpiel's own rules end."""
        ours, own = (
            get_all_states(game, to_string=str) for game in (load("tictactoe"), theirs("tic_tac_toe"))
        )
        assert len(ours) == len(own) == 5478
        for state in own.values():
            twin = load("tictactoe").new_initial_state()
            for action in state.history():
                twin.apply_action(action)
            assert twin.returns() == state.returns() and twin.legal_actions() == state.legal_actions()

    def test_each_player_sees_its_own_stones_first(self) -> None:
        game = load("connect4")
        state = game.new_initial_state()
        state.apply_action(3)  # lands on the bottom row
        state.apply_action(0)
        assert game.observation_tensor_shape() == [4, 6, 7]
        first, second = (np.array(state.observation_tensor(i)).reshape(4, 6, 7) for i in (0, 1))
        assert np.argwhere(first[0]).tolist() == np.argwhere(second[1]).tolist() == [[5, 3]]
        assert np.argwhere(first[1]).tolist() == np.argwhere(second[0]).tolist() == [[5, 0]]
        assert state.observation_string(0) == Position.from_moves("connect4", "41").text()
        assert state.information_state_string(0) == "3, 0"

    def test_the_text_of_a_state_does_not_depend_on_the_order_of_moves(self) -> None:
        texts = set()
        for moves in ((0, 4, 1), (1, 4, 0)):
            state = load("tictactoe").new_initial_state()
            for action in moves:
                state.apply_action(action)
            texts.add(str(state))
        assert len(texts) == 1

    def test_states_are_serialised_by_their_history(self) -> None:
        game = load("renju15")
        state = game.new_initial_state()
        for action in (112, 113, 97):
            state.apply_action(action)
        saved = pyspiel.serialize_game_and_state(game, state)
        loaded_game, loaded = pyspiel.deserialize_game_and_state(saved)
        for one, of in ((loaded, loaded_game), (copy.deepcopy(state), copy.deepcopy(game))):
            assert one.position == state.position and one.history() == state.history()
            assert of.rules is game.rules and str(of.new_initial_state()) == str(game.new_initial_state())

    def test_an_illegal_action(self) -> None:
        state = load("tictactoe").new_initial_state()
        state.apply_action(4)
        with pytest.raises(UserError, match="illegal move 'b2' in tictactoe: there is a stone already"):
            state.apply_action(4)
        with pytest.raises(UserError, match="illegal move '9' in tictactoe: actions are 0-8"):
            state.apply_action(9)

    def test_their_bot_plays_them(self) -> None:
        game, chooser = load("connect4"), np.random.RandomState(3)
        bot = mcts.MCTSBot(game, 2.0, 100, mcts.RandomRolloutEvaluator(1, chooser), random_state=chooser)
        for seat in (0, 1):
            state, other = game.new_initial_state(), UniformRandomBot(1 - seat, chooser)
            while not state.is_terminal():
                mover = bot if state.current_player() == seat else other
                state.apply_action(mover.step(state))
            assert state.returns()[seat] == 1

    def test_their_environment_for_learners(self) -> None:
        environment = rl_environment.Environment(load("gomoku9"))
        step = environment.reset()
        assert step.observations["legal_actions"][0] == list(range(81))
        assert len(step.observations["info_state"][0]) == 5 * 81
        assert not environment.step([40]).last()


class TestNames:
    def test_any_spec_can_be_registered(self) -> None:
        assert register("mnk:rows=7,cols=9,k=5") == "python_tengen_mnk_rows_7_cols_9_k_5"
        assert load("mnk:rows=7,cols=9,k=5").num_distinct_actions() == 63

    def test_two_games_cannot_share_a_name(self) -> None:
        with pytest.raises(
            UserError, match="OpenSpiel knows another game as python_tengen_caro15_exact: give"
        ):
            register(replace(games.find("hex7"), name="caro15_exact"))
        assert register(" hex:size=4") == register("hex:size=4")

    def test_a_game_from_a_file(self) -> None:
        (name,) = games.load_file(REPOSITORY / "examples" / "breakthrough.py")
        game = load(name)
        assert game.max_game_length() == 1000 and game.num_distinct_actions() == 36 * 6


@pytest.mark.parametrize(("name", "ours"), BOTH_HAVE.items())
def test_their_actions_are_read_right(name: str, ours: str) -> None:
    """Random games in both: the same turns, legal actions and results."""
    game, chooser = theirs(name), random.Random(2)
    rules = rules_of(game)
    assert rules.name == ours and rules.num_actions == game.num_distinct_actions()
    for _ in range(10):
        state = game.new_initial_state()
        while not state.is_terminal():
            position = position_of(state, rules)  # compares turn and legal actions
            action = chooser.choice(position.legal_actions)
            state.apply_action(action)
        last = position.play(action)
        assert last.is_over and state.history() == last.actions
        won = 0 if last.winner is None else 1 if last.winner == 1 else -1
        assert state.returns() == [won, -won]


class TestOurBots:
    @pytest.mark.parametrize(
        ("name", "spec"),
        [
            ("tic_tac_toe", "perfect"),
            ("connect_four", "uct:sims=200"),
            ("connect_four", "zero:sims=30"),
            ("othello", "uct:sims=50"),
            ("hex(board_size=7)", "uct:sims=100"),
            ("gomoku(size=9)", "alphabeta:depth=2"),
            ("python_tengen_connect4", "uct:sims=200"),
        ],
    )
    def test_they_beat_random_moves(self, name: str, spec: str) -> None:
        game = pyspiel.load_game(name)
        bot, chooser, results = Bot(game, spec), np.random.RandomState(4), []
        for i in range(6):
            seat = i % 2
            bots = [UniformRandomBot(1 - seat, chooser)] * 2
            bots[seat] = bot
            results.append(pyspiel.evaluate_bots(game.new_initial_state(), bots, i)[seat])
        assert results.count(1) >= 5 and -1 not in results

    def test_the_perfect_player_never_loses_to_their_search(self) -> None:
        game = pyspiel.load_game("tic_tac_toe")
        evaluator = pyspiel.RandomRolloutEvaluator(1, 0)
        other = pyspiel.MCTSBot(game, evaluator, 2.0, 200, 10, True, 42, False)
        bot = Bot(game, "perfect")
        for i in range(4):
            bots = [bot, other] if i % 2 == 0 else [other, bot]
            assert pyspiel.evaluate_bots(game.new_initial_state(), bots, i)[i % 2] >= 0

    def test_it_blocks(self) -> None:
        game = pyspiel.load_game("connect_four")
        state = game.new_initial_state()
        for action in (3, 0, 3, 0, 3):
            state.apply_action(action)
        assert Bot(game, "uct:sims=200").step(state) == 3

    def test_equal_seeds_choose_equally(self) -> None:
        game = pyspiel.load_game("tic_tac_toe")
        first, second = (Bot(game, "perfect", seed=5) for _ in range(2))
        chosen = []
        for bot in (first, second):
            bot.restart_at(game.new_initial_state())
            chosen.append([bot.step(game.new_initial_state()) for _ in range(8)])
        assert chosen[0] == chosen[1] and len(set(chosen[0])) > 1

    def test_a_game_that_is_over(self) -> None:
        game = pyspiel.load_game("tic_tac_toe")
        state = game.new_initial_state()
        for action in (0, 3, 1, 4, 2):
            state.apply_action(action)
        assert Bot(game, "uct:sims=10").step(state) == pyspiel.INVALID_ACTION

    @pytest.mark.parametrize(
        "name", ["chess", "gomoku(wrap=true)", "gomoku(anti=true)", "hex(swap=true)", "hex(num_cols=4)"]
    )
    def test_other_rules_are_refused(self, name: str) -> None:
        with pytest.raises(UserError, match=r"Tengen has no (game|rules) like OpenSpiel's"):
            Bot(pyspiel.load_game(name), "uct")

    def test_a_state_without_its_moves_is_refused(self) -> None:
        game = pyspiel.load_game("tic_tac_toe")
        board = ["x", ".", ".", ".", "o", ".", ".", ".", "."]
        state = game.new_initial_state({"board": board, "current_player": "x"})
        with pytest.raises(
            UserError, match="expected a state of tictactoe that was played from the first position"
        ):
            Bot(game, "uct:sims=10").step(state)


def test_python_ends_without_a_crash() -> None:
    """OpenSpiel keeps what was registered until after Python has ended."""
    code = "from tengen.protocols import openspiel; openspiel.load('hex:size=3').new_initial_state()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    monkeypatch.delitem(sys.modules, "tengen.protocols.openspiel")
    with pytest.raises(MissingExtraError, match=r"^tengen.protocols.openspiel needs the openspiel extra: "):
        importlib.import_module("tengen.protocols.openspiel")
