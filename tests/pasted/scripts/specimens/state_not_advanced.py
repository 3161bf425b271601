"""Specimen of `state_not_advanced`."""

FAULTY = """
import gymnasium as gym

env = gym.make("CartPole-v1")
state, _ = env.reset()
done = False
while not done:
    action = policy(state)
    next_state, reward, terminated, truncated, info = env.step(action)
    remember(state, action, reward, next_state)
    done = terminated or truncated
""".lstrip()
LINE = 8
SOUND = """
import gymnasium as gym

env = gym.make("CartPole-v1")
state, _ = env.reset()
done = False
while not done:
    action = policy(state)
    next_state, reward, terminated, truncated, info = env.step(action)
    remember(state, action, reward, next_state)
    done = terminated or truncated
    state = next_state
""".lstrip()
