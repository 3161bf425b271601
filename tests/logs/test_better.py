"""Which way a metric is better, by its name."""

from __future__ import annotations

from stethoscope.logs.better import best_is_low, is_score
from tests.tables import each


@each(
    "tag",
    [
        "loss", "val_loss", "epoch_loss", "validation/epoch_loss", "Loss/train", "valLoss", "accuracy_loss", "dice_loss",
        "error", "error_rate", "val_error", "err", "mean_squared_error", "mse", "epoch_mse", "val_mae", "rmse", "RMSE/test", "mape",
        "perplexity", "val_perplexity", "ppl", "nll", "negative_log_likelihood", "wer", "fid", "brier_score", "crossentropy",
        "binary_crossentropy", "kl_divergence", "cost", "false_positives", "lr", "learning_rate", "learningRate",
        "time", "epoch_time", "duration", "latency", "seconds", "memory", "grad_norm", "score/loss",
    ],
)  # fmt: skip
def test_low_is_best(tag):
    assert best_is_low(tag)


@each(
    "tag",
    [
        "accuracy", "val_accuracy", "validation/epoch_accuracy", "sparse_categorical_accuracy", "acc", "val/acc", "valAcc",
        "Accuracy/test", "loss/accuracy", "auc", "train/auc", "AUROC", "f1", "val_f1", "f1_score", "F1/macro", "precision", "recall@5",
        "mAP", "map_50", "mAP50", "mean_average_precision", "mIoU", "iou", "r2", "r2_score", "bleu", "rougeL", "psnr", "reward",
        "mean_reward", "episode/return", "Top1", "top5", "hits@10", "score", "cosine_similarity", "log_likelihood",
        "neg_mean_squared_error", "samples_per_sec", "loss_auc",
    ],
)  # fmt: skip
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
