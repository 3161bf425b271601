"""Keeping: files by hash, owners, quotas, expiry."""

from stethoscope.jobs.store.samples import register_samples
from stethoscope.jobs.store.schema import SAMPLES_OWNER, Entry, is_id
from stethoscope.jobs.store.shares import Usage
from stethoscope.jobs.store.store import Store, store
from stethoscope.jobs.store.upload import Upload

__all__ = ["SAMPLES_OWNER", "Entry", "Store", "Upload", "Usage", "is_id", "register_samples", "store"]
