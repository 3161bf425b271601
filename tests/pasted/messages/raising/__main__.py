"""Writes specimens again: all, or the kinds that are named; `--into FOLDER` leaves those that are kept."""

import sys

from tests.pasted.messages.raising.capture import main

sys.exit(main(sys.argv[1:]))
