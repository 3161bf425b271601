"""Specimen of `files_in_no_order`."""

FAULTY = """
import glob

images = sorted(glob.glob("data/images/*.png"))
masks = glob.glob("data/masks/*.png")
pairs = list(zip(images, masks))
""".lstrip()
LINE = 4
SOUND = """
import glob

images = sorted(glob.glob("data/images/*.png"))
masks = sorted(glob.glob("data/masks/*.png"))
pairs = list(zip(images, masks))
""".lstrip()
