"""What a diagnosis knows: one frozen type per kind of evidence. Checks read these and nothing else."""

from stethoscope.evidence.kinds import Evidence, EvidenceSet

__all__ = ["Evidence", "EvidenceSet"]
