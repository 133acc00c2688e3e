"""A Tengen player in one of PettingZoo's own environments: ten games of Connect 4 against random moves.

pip install '.[pettingzoo]' in the clone, then: python examples/pettingzoo_match.py
"""

import pettingzoo

from tengen.protocols.pettingzoo import Agent

SPEC, NUM_GAMES = "zero:sims=100", 10

environment = pettingzoo.make("aec", "classic/connect_four_v3")  # or "tengen/gomoku9", one of ours
wins = 0
with Agent(environment, SPEC) as agent:
    for number in range(NUM_GAMES):
        mine = environment.possible_agents[number % 2]  # each side in turn
        environment.reset(seed=number)
        agent.new_game(seed=number)
        environment.action_space(environment.agent_selection).seed(number)
        for name in environment.agent_iter():
            observation, reward, is_over, is_cut, _ = environment.last()
            wins += name == mine and is_over and reward > 0
            if is_over or is_cut:
                environment.step(None)
            elif name == mine:
                environment.step(agent.action())
            else:
                environment.step(environment.action_space(name).sample(observation["action_mask"]))
print(f"{SPEC} won {wins} of {NUM_GAMES} games of connect_four_v3 against random moves")
