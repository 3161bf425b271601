"""Specimen of `dropout_while_judged`."""

FAULTY = """
import tensorflow.compat.v1 as tf

with tf.Session() as sess:
    sess.run(train_op, feed_dict={x: x_train, y: y_train, keep_prob: 0.5})
    print(sess.run(accuracy, feed_dict={x: x_test, y: y_test, keep_prob: 0.5}))
""".lstrip()
LINE = 5
SOUND = """
import tensorflow.compat.v1 as tf

with tf.Session() as sess:
    sess.run(train_op, feed_dict={x: x_train, y: y_train, keep_prob: 0.5})
    print(sess.run(accuracy, feed_dict={x: x_test, y: y_test, keep_prob: 1.0}))
""".lstrip()
