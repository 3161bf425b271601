#!/bin/sh
# Makes sure that the browser tests have a Chromium: the system's, else apt's where we may, else Playwright's own.
set -u
cd "$(dirname "$0")/.." || exit 1
for name in chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
[ -n "${STETHOSCOPE_CHROMIUM:-}" ] && [ -x "$STETHOSCOPE_CHROMIUM" ] && exit 0
.venv/bin/python -c 'import sys, pathlib
from playwright.sync_api import sync_playwright
with sync_playwright() as p: sys.exit(not pathlib.Path(p.chromium.executable_path).exists())' 2>/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "setup: installing Chromium for the browser tests" >&2
    apt-get update -qq >/dev/null 2>&1
    for name in chromium-headless-shell chromium; do
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $name >/dev/null 2>&1 && exit 0
    done
fi
.venv/bin/playwright install chromium >/dev/null 2>&1 && exit 0
echo "setup: Chromium is missing, which the browser tests need; install it (Debian: sudo apt install chromium; Ubuntu, macOS: .venv/bin/playwright install --with-deps chromium) and run this again." >&2
exit 1
