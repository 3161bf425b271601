"""Nothing in the numbers tells: what usually differs in a layer of this kind.

Source: the modules of `suspicions`, for each kind.
"""

from __future__ import annotations

from stethoscope.compare.parity.causes.case import Case, Cause, Guess

_USUAL: tuple[tuple[tuple[str, ...], str, str, str], ...] = (
    (
        ("batchnorm",),
        "epsilon",
        "Epsilon or statistics of BatchNormalization",
        "Compare epsilon, moving mean and moving variance.",
    ),
    (("layernorm", "groupnorm"), "epsilon", "Epsilon of the normalisation", "Compare epsilon."),
    (
        ("resiz", "upsampl"),
        "resize-mode",
        "Another way of resizing",
        "Compare interpolation, half-pixel centres and aligned corners.",
    ),
    (("globalaverage", "globalmax"), "pooling", "Another kind of pooling", "Compare mean and maximum."),
    (("pool",), "padding", "Padding of the pooling", "Compare padding, and whether padded places are counted."),
    (("conv",), "weights", "Kernel, padding or strides", "Compare the kernel's order of axes, padding and strides."),
    (
        ("gru", "lstm", "rnn", "bidirectional"),
        "weights",
        "The weights, or the order of the gates",
        "Compare kernel, recurrent kernel and bias, the order of the gates, and reset_after of GRU.",
    ),
    (
        ("attention",),
        "weights",
        "The weights, the mask or the scale of attention",
        "Compare the kernels of query, key and value, the mask, and the scale.",
    ),
    (("dense", "fully", "matmul", "gemm"), "weights", "The weights", "Compare kernel and bias."),
    (
        ("softmax", "activation", "gelu", "relu"),
        "activation",
        "Another activation",
        "Compare the activation and its settings.",
    ),
    (("rescaling", "normalization"), "preprocessing", "Preprocessing", "Compare scale and offset."),
    (("dropout", "noise"), "training-mode", "A layer in training mode", "Export in inference mode."),
)


class ByKind(Cause):
    """See the module's docstring."""

    id = "by-kind"
    title = "Not told by the numbers"

    def weigh(self, case: Case) -> Guess | None:
        """The weakest of guesses."""
        for layer in reversed(case.group):
            kind = layer.type.lower().replace("_", "")
            for words, cause, title, advice in _USUAL:
                if any(word in kind for word in words):
                    return Guess(
                        cause,
                        title,
                        f"{layer.type} {layer.path!r} answers otherwise, in a way that the numbers do not explain.",
                        0.2,
                        layer.path,
                        advice,
                    )
        return Guess(
            "unknown",
            "Unknown",
            f"{case.layer.path!r} answers otherwise; why is not told by the numbers.",
            0.05,
            case.layer.path,
        )


CAUSE = ByKind()
