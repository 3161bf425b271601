"""Specimen of `pair_of_reset`."""

FAULTY = """
import gymnasium as gym

env = gym.make("CartPole-v1")
for episode in range(10):
    state = env.reset()
    done = False
    while not done:
        state, reward, terminated, truncated, info = env.step(choose(state))
        done = terminated or truncated
""".lstrip()
LINE = 5
SOUND = """
import gymnasium as gym

env = gym.make("CartPole-v1")
for episode in range(10):
    state, _ = env.reset()
    done = False
    while not done:
        state, reward, terminated, truncated, info = env.step(choose(state))
        done = terminated or truncated
""".lstrip()
