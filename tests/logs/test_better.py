"""Which way a metric is better, by its name."""

from __future__ import annotations

import csv
import io
import math
import re

import numpy as np

from stethoscope.logs.better import best_is_low, is_score, is_share, summary_of
from stethoscope.logs.runs.export import write_points
from stethoscope.logs.series import RunLog, Series
from tests.tables import each


@each(
    "tag",
    [
        "loss",
        "val_loss",
        "epoch_loss",
        "validation/epoch_loss",
        "Loss/train",
        "valLoss",
        "accuracy_loss",
        "dice_loss",
        "error",
        "error_rate",
        "val_error",
        "err",
        "mean_squared_error",
        "mse",
        "epoch_mse",
        "val_mae",
        "rmse",
        "RMSE/test",
        "mape",
        "perplexity",
        "val_perplexity",
        "ppl",
        "nll",
        "negative_log_likelihood",
        "wer",
        "fid",
        "brier_score",
        "crossentropy",
        "binary_crossentropy",
        "kl_divergence",
        "cost",
        "false_positives",
        "lr",
        "learning_rate",
        "learningRate",
        "time",
        "epoch_time",
        "duration",
        "latency",
        "seconds",
        "memory",
        "grad_norm",
        "score/loss",
    ],
)
def test_low_is_best(tag):
    assert best_is_low(tag)


@each(
    "tag",
    [
        "accuracy",
        "val_accuracy",
        "validation/epoch_accuracy",
        "sparse_categorical_accuracy",
        "acc",
        "val/acc",
        "valAcc",
        "Accuracy/test",
        "loss/accuracy",
        "auc",
        "train/auc",
        "AUROC",
        "f1",
        "val_f1",
        "f1_score",
        "F1/macro",
        "precision",
        "recall@5",
        "mAP",
        "map_50",
        "mAP50",
        "mean_average_precision",
        "mIoU",
        "iou",
        "r2",
        "r2_score",
        "bleu",
        "rougeL",
        "psnr",
        "reward",
        "mean_reward",
        "episode/return",
        "Top1",
        "top5",
        "hits@10",
        "score",
        "cosine_similarity",
        "log_likelihood",
        "neg_mean_squared_error",
        "samples_per_sec",
        "loss_auc",
    ],
)
def test_high_is_best(tag):
    assert not best_is_low(tag)


@each("tag", ["", "mystery", "x", "elo", "timeline", "normal", "mapping", "largest", "layer_0/a", "ü"])
def test_a_name_that_says_neither_is_taken_for_a_score(tag):
    assert not best_is_low(tag)


@each("tag", ["val_loss", "Accuracy/test", "valAcc", "mIoU", "rmse"])
def test_a_loss_and_an_accuracy_are_scores(tag):
    assert is_score(tag)


@each("tag", ["epoch_learning_rate", "lr", "time/step_s", "memory/resident_bytes", "grad_norm", "mystery"])
def test_what_says_nothing_of_how_good_a_model_is_has_no_best_value(tag):
    assert not is_score(tag)


def series(tag, values, steps=None):
    step = np.array(range(len(values)) if steps is None else steps, np.int64)
    return Series(tag, step, np.full(len(step), np.nan), np.array(values, np.float64))


def test_the_best_is_the_lowest_loss_and_the_highest_accuracy():
    loss, accuracy = summary_of(series("loss", [3, 1, 2])), summary_of(series("accuracy", [0.1, 0.9, 0.5]))
    assert (loss.best_value, loss.best_step, loss.last_value) == (1.0, 1, 2.0)
    assert (accuracy.best_value, accuracy.best_step, accuracy.best) == (0.9, 1, "max")


def test_what_a_restart_overwrote_does_not_count():
    found = summary_of(series("loss", [5, 0.1, 4, 3, 2], [0, 1, 1, 2, 3]))
    assert (found.points, found.written, found.best_value, found.first_step, found.last_step) == (4, 5, 2.0, 0, 3)


def test_no_number_is_never_the_best():
    found = summary_of(series("loss", [math.nan, 2, -math.inf]))
    assert (found.best_value, found.nonfinite) == (2.0, 2)
    assert summary_of(series("loss", [math.nan])).best_value is None


def test_every_point_is_written_and_reads_back_equal():
    values = [0.1, 1 / 3, math.nan, math.inf, -0.0, 5e-324]
    one = series('loss, "train"', values)
    stream = io.StringIO()
    assert write_points([RunLog("a", "test", "epoch", {one.tag: one})], stream) == 6
    rows = list(csv.reader(io.StringIO(stream.getvalue())))
    assert rows[0] == ["run", "tag", "step", "wall_time", "value"]
    assert {row[1] for row in rows[1:]} == {one.tag}
    read = np.array([float(row[4]) for row in rows[1:]])
    assert read.tobytes() == np.array(values).tobytes()


def test_only_chosen_tags_are_written():
    log = RunLog("a", "test", "epoch", {tag: series(tag, [1, 2]) for tag in ("loss", "accuracy")})
    assert write_points([log], io.StringIO(), re.compile("acc")) == 2


@each(
    "tag",
    [
        "acc",
        "val_acc",
        "Accuracy/train",
        "top5_acc",
        "acc1",
        "SparseCategoricalAccuracy",
        "epoch_auc_2",
        "f1",
        "f1_score",
        "mean_iou",
        "MeanIoU",
        "mean_io_u",
        "val_precision",
        "recall",
        "r2_score",
        "loss/accuracy",
    ],
)
def test_a_share_of_what_is_right(tag):
    assert is_share(tag)


@each(
    "tag",
    [
        "vacc",
        "accumulated_loss",
        "accumulated",
        "accuracy_loss",
        "loss",
        "acceleration",
        "reward",
        "psnr",
        "mae",
        "recalled",
        "vaccine_doses",
        "dice_loss",
    ],
)
def test_what_only_looks_like_one(tag):
    assert not is_share(tag)


def test_a_word_that_only_ends_like_accuracy_is_no_score():
    assert not is_score("vacc")
    assert is_score("val_acc")
