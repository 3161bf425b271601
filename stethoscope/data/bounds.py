"""Bounds on data: what one row, one picture and one look may cost. Beyond them data is sampled, and says so."""

MAX_MEMBERS = 200_000
"""Files in one archive or folder of data."""
MAX_PIXELS = 50_000_000
"""Of one image that is decoded."""
MAX_MEMBER_BYTES = 256 << 20
"""Of one image, sound or text file in an archive."""
MAX_ANNOTATION_BYTES = 512 << 20
"""Of one annotation file (COCO of a million boxes is about 400 MB)."""
MAX_MARKS = 5_000
"""Boxes, polygons and regions drawn on one image; more are counted."""
MAX_COLUMNS = 10_000
MAX_TEXT = 1 << 20
"""Characters of one text value."""
MAX_CLASSES = 10_000
MAX_SOUND_S = 3_600.0
"""Of one recording that is decoded whole."""
