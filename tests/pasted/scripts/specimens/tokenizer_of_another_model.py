"""Specimen of `tokenizer_of_another_model`."""

FAULTY = """
from transformers import AutoTokenizer, TFAutoModelForSequenceClassification

tokenizer = AutoTokenizer.from_pretrained("roberta-base")
model = TFAutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3)
""".lstrip()
LINE = 4
SOUND = """
from transformers import AutoTokenizer, TFAutoModelForSequenceClassification

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = TFAutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased", num_labels=3)
""".lstrip()
