"""Keeping: files by hash, owners, quotas, expiry."""

from stethoscope.store.entry import SAMPLES_OWNER, Entry, is_id
from stethoscope.store.samples import register_samples
from stethoscope.store.shares import Usage
from stethoscope.store.store import Store, store
from stethoscope.store.upload import Upload

__all__ = ["SAMPLES_OWNER", "Entry", "Store", "Upload", "Usage", "is_id", "register_samples", "store"]
