"""Specimen of `weights_drawn_again`."""

FAULTY = """
import tensorflow.compat.v1 as tf

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1000):
        sess.run(train_op)
    sess.run(tf.global_variables_initializer())
    print(sess.run(accuracy))
""".lstrip()
LINE = 7
SOUND = """
import tensorflow.compat.v1 as tf

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1000):
        sess.run(train_op)
    print(sess.run(accuracy))
""".lstrip()
