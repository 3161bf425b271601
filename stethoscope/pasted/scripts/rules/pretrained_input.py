"""Inputs that are not what a pretrained network was trained on.

Why: a pretrained network reads what its own `preprocess_input` makes: −1 … 1 for MobileNet, centred BGR for VGG and ResNet. EfficientNet,
ConvNeXt and MobileNetV3 scale by themselves, and want 0 … 255.
Example: `ImageDataGenerator(rescale=1./255)` in front of `EfficientNetB0`; `vgg16.preprocess_input` in front of `MobileNetV2`.
Fix: the `preprocess_input` of the network's own module, and nothing else.
Source: keras.io/api/applications; keras/src/applications/imagenet_utils.py; Humbatova et al. (ICSE 2020): preprocessing wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Const, Made, Operation, Use, ancestors, number

_OWN_SCALING = ("EfficientNet", "ConvNeXt", "MobileNetV3")
_MODES = {
    "caffe": ("vgg16", "vgg19", "resnet", "resnet50"),
    "tf": ("mobilenet", "mobilenet_v2", "inception_v3", "xception", "inception_resnet_v2", "nasnet", "resnet_v2"),
    "torch": ("densenet",),
    "none": ("efficientnet", "efficientnet_v2", "convnext", "mobilenet_v3"),
}
"""What `preprocess_input` of each module does."""
_MODULES = {
    "VGG16": "vgg16",
    "VGG19": "vgg19",
    "ResNet50": "resnet",
    "ResNet101": "resnet",
    "ResNet152": "resnet",
    "ResNet50V2": "resnet_v2",
    "ResNet101V2": "resnet_v2",
    "ResNet152V2": "resnet_v2",
    "MobileNet": "mobilenet",
    "MobileNetV2": "mobilenet_v2",
    "MobileNetV3Small": "mobilenet_v3",
    "MobileNetV3Large": "mobilenet_v3",
    "InceptionV3": "inception_v3",
    "Xception": "xception",
    "InceptionResNetV2": "inception_resnet_v2",
    "DenseNet121": "densenet",
    "DenseNet169": "densenet",
    "DenseNet201": "densenet",
    "NASNetMobile": "nasnet",
    "NASNetLarge": "nasnet",
}
_PREPARES = ("preprocess", "escal", "/ 255", "/255", "127.5", "ormaliz", "standardiz")


def _run(facts: Facts) -> Iterator[Finding]:
    networks = [
        call
        for call in facts.calls
        if meaning(call.name).startswith("keras.applications.") and meaning(call.name).rpartition(".")[2][:1].isupper()
    ]
    families = sorted({meaning(one.name).rpartition(".")[2] for one in networks})
    if len(families) != 1:
        return
    family = families[0]
    steps = [use for use in facts.uses if use.name.endswith(".preprocess_input")]
    if all(use.imported for use in steps):
        steps = []  # imported, and never used
    yield from _other_network(facts, family, steps)
    scales = [call for call in facts.calls if _divides(call)]
    if family.startswith(_OWN_SCALING):
        if scales and not any(one.argument("include_preprocessing") is not None for one in networks):
            yield facts.finding(
                scales[0],
                Fault.PREPROCESSING,
                Severity.HIGH,
                0.85,
                f"{family} scales its input by itself and wants 0 … 255; divided by 255 first, every picture is nearly black to it.",
                "Leave the rescaling out.",
            )
    elif not steps and _trained(networks[0]) and not scales and _mode(_MODULES.get(family, "")) in ("caffe", "torch"):
        yield from _divided(facts, networks[0], family)
    elif not steps and _trained(networks[0]):
        yield from _unprepared(facts, networks[0], family, scales)
    elif steps and scales and "preprocessing_function" in scales[0].keywords:
        given = [one for one in scales[0].call_node.keywords if one.arg == "rescale"]
        yield facts.finding(
            scales[0],
            Fault.PREPROCESSING,
            Severity.HIGH,
            0.9,
            "rescale and preprocess_input are both applied: preprocess_input expects 0 … 255.",
            "Leave rescale out.",
            [facts.spans.remove_argument(scales[0].call_node, one) for one in given],
        )


def _divided(facts: Facts, network: Call, family: str) -> Iterator[Finding]:
    """Rows that are divided by 255 and given to a network that wants them centred."""
    done: set[int] = set()
    for model in facts.models:
        if not any(
            isinstance(one, Made) and one.call is network for output in model.outputs for one in ancestors(output)
        ):
            continue
        for call in model.calls("fit"):
            x = call.argument("x", 0)
            line = next(
                (
                    one.line
                    for one in (ancestors(x) if x is not None else ())
                    if isinstance(one, Operation) and one.operator == "Div" and number(one.right) in (255.0, 256.0)
                ),
                0,
            )
            if line and line not in done:
                done.add(line)
                yield facts.finding(
                    line,
                    Fault.PREPROCESSING,
                    Severity.MEDIUM,
                    0.8,
                    f"{family} was trained on what its own preprocess_input makes, not on pixels divided by 255.",
                    f"Use the preprocess_input of {family}.",
                )


def _divides(call: Call) -> bool:
    name = meaning(call.name)
    if name.endswith("ImageDataGenerator"):
        return (number(call.argument("rescale")) or 1) < 0.01
    return name == "keras.layers.Rescaling" and (number(call.argument("scale", 0)) or 1) < 0.005


def _other_network(facts: Facts, family: str, steps: Sequence[Use]) -> Iterator[Finding]:
    """The preprocessing of a network that is not there."""
    own = _mode(_MODULES.get(family, "efficientnet" if family.startswith(_OWN_SCALING) else ""))
    used = {use.name.split(".")[-2] for use in steps}
    given = _mode(used.pop()) if len(used) == 1 else ""
    if not own or not given or given == own:
        return
    use = next((one for one in steps if not one.imported), steps[0])
    yield facts.finding(
        use,
        Fault.PREPROCESSING,
        Severity.HIGH,
        0.88,
        f"This is the preprocess_input of {use.name.split('.')[-2]}, and the network is {family}, which was trained on inputs of another range.",
        f"Use the preprocess_input of {family}.",
    )


def _mode(module: str) -> str:
    return next((mode for mode, names in _MODES.items() if module in names), "")


def _unprepared(facts: Facts, network: Call, family: str, scales: Sequence[Call]) -> Iterator[Finding]:
    """Scaled in another way than the network's own, or in none."""
    text = facts.source.text
    if scales:
        yield facts.finding(
            scales[0],
            Fault.PREPROCESSING,
            Severity.MEDIUM,
            0.75,
            f"{family} was trained on what its own preprocess_input makes; division by 255 is something else, and costs accuracy.",
            f"Use the preprocess_input of {family}.",
        )
        return
    pictures = any(
        meaning(one.name).endswith("image_dataset_from_directory") or one.method == "flow_from_directory"
        for one in facts.calls
    )
    if pictures and not any(word in text for word in _PREPARES):
        yield facts.finding(
            network,
            Fault.PREPROCESSING,
            Severity.MEDIUM,
            0.8,
            f"{family} gets pixels of 0 … 255 as they come; it was trained on what its own preprocess_input makes.",
            f"Apply the preprocess_input of {family}.",
        )


def _trained(call: Call) -> bool:
    weights = call.argument("weights")
    return weights is None or not (isinstance(weights, Const) and weights.value is None)


RULE = Rule(_run, same_as=frozenset({"input-scaling"}))
