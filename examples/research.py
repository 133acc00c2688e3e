"""A whole experiment: train a game for two minutes, play a match, draw the curve."""

import tengen

game = tengen.find_game("examples/breakthrough.py")  # or by its name: "connect4"

training = tengen.train(game, minutes=2, name="research")
for generation in training:
    print(generation.number, f"policy loss {generation.losses.policy:.3f}", generation.strength)

match = tengen.play_match(game, f"{training.spec}:sims=64", "uct:sims=200", num_games=20)
print(match)
training.plot("curve.svg")
