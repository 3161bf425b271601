"""Specimen of `schedule_in_epochs`."""

FAULTY = """
import numpy as np
from keras import Sequential, layers, optimizers

EPOCHS = 50
model = Sequential([layers.Dense(1)])
rate = optimizers.schedules.CosineDecay(1e-3, decay_steps=EPOCHS)
model.compile(optimizers.Adam(rate), "mse")
model.fit(np.load("x.npy"), np.load("y.npy"), epochs=EPOCHS)
""".lstrip()
LINE = 6
SOUND = """
import numpy as np
from keras import Sequential, layers, optimizers

EPOCHS = 50
model = Sequential([layers.Dense(1)])
rate = optimizers.schedules.CosineDecay(1e-3, decay_steps=EPOCHS * 100)
model.compile(optimizers.Adam(rate), "mse")
model.fit(np.load("x.npy"), np.load("y.npy"), epochs=EPOCHS)
""".lstrip()
