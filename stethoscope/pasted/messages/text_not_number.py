"""A value of the table is no number."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    value = read.get("value").strip()
    named = f" “{value}”" if value else " an empty text"
    return Cause(
        f"Text stands where a number is wanted:{named}. Most often a column of a table that also holds words, gaps or units.",
        Certainty.CERTAIN,
        (
            Step(
                "Find the column and the rows.",
                "numbers = pd.to_numeric(df[column], errors='coerce')\nprint(df[numbers.isna()])",
            ),
            Step("A category is encoded, a gap is filled or left out.", "df = pd.get_dummies(df, columns=[column])"),
            Step(
                "A file that begins with its header twice, or uses a comma in numbers: say so when it is read.",
                "df = pd.read_csv(path, decimal=',', thousands='.')",
            ),
        ),
    )


MESSAGE = Message(
    id="text-not-number",
    title="A value of the table is no number",
    wordings=(
        Wording(
            "could not convert string to float",
            r"could not convert string to float: (?:np\.str_\()?['\"]?(?P<value>[^'\"\n]{0,60}?)['\"]?\)?(?: |$)",
        ),
        Wording("invalid literal for int() with base 10", r"with base 10: ['\"]?(?P<value>[^'\"\n]{0,60})"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://docs.python.org/3/library/functions.html#float",),
    rank=-1,
)
