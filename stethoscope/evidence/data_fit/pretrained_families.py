"""Networks of `keras.applications`, known by the names of their layers, and how their ImageNet weights take pixels."""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.types import Architecture


@dataclass(frozen=True)
class Family:
    """One kind of network."""

    title: str
    mode: str
    """Of `preprocess_input`: "caffe", "torch", "tf"; "" for those that take pixels from 0 to 255 and scale them inside."""
    layers: frozenset[str]
    """Names that only its networks have together."""


FAMILIES = (
    Family("ResNet V2", "tf", frozenset({"conv2_block1_preact_bn", "conv2_block1_out"})),
    Family("ResNet", "caffe", frozenset({"conv2_block1_0_conv", "conv2_block1_1_conv", "conv2_block1_out"})),
    Family("DenseNet", "torch", frozenset({"conv2_block1_0_bn", "pool2_conv"})),
    Family("VGG", "caffe", frozenset({"block1_conv1", "block5_conv3", "block5_pool"})),
    Family("Xception", "tf", frozenset({"block2_sepconv1", "block14_sepconv2"})),
    Family("Inception V3", "tf", frozenset({"mixed0", "mixed10"})),
    Family("Inception-ResNet V2", "tf", frozenset({"mixed_5b", "conv_7b"})),
    Family("MobileNet", "tf", frozenset({"conv_dw_1", "conv_pw_13"})),
    Family("MobileNet V2", "tf", frozenset({"expanded_conv_depthwise", "block_16_project"})),
    Family("NASNet", "tf", frozenset({"stem_conv1", "stem_bn1", "reduction_conv_1_stem_1"})),
    Family("ConvNeXt (tiny)", "", frozenset({"convnext_tiny_prestem_normalization"})),
    Family("ConvNeXt (small)", "", frozenset({"convnext_small_prestem_normalization"})),
    Family("ConvNeXt (base)", "", frozenset({"convnext_base_prestem_normalization"})),
    Family("ConvNeXt (large)", "", frozenset({"convnext_large_prestem_normalization"})),
    Family("EfficientNet", "", frozenset({"stem_conv", "block1a_se_reduce", "block2a_expand_conv", "top_conv"})),
)
"""Source: keras.applications (keras 3.15), each module's layer names and `preprocess_input`."""

RANGES = {"caffe": (-123.68, 151.061), "torch": (-2.1179, 2.64), "tf": (-1.0, 1.0), "": (0.0, 255.0)}
"""What `preprocess_input` makes of 0 and 255, over all channels.

Source: keras.applications.imagenet_utils: less (103.939, 116.779, 123.68); (x/255 − mean)/std; x/127.5 − 1.
"""


def family_of(architecture: Architecture) -> Family | None:
    """The family whose layer names the model has, also inside a nested model or an exported graph; None for others."""
    names = {part for layer in architecture.layers for part in layer.path.split("/")}
    return next((family for family in FAMILIES if family.layers <= names), None)
