#!/bin/sh
# Puts uv into .uv/, a private folder beside this project. The system's Python is only asked to make that folder.
set -u
cd "$(dirname "$0")/.." || exit 1
version=0.13.8
uv=.uv/bin/uv

fail() {
    echo "setup: $1" >&2
    exit 1
}

if [ -x "$uv" ] && [ "$("$uv" --version 2>/dev/null | cut -d' ' -f2)" = "$version" ]; then
    exit 0
fi
python=""
for candidate in python3 python3.13 python3.12 python3.11 python; do
    if command -v "$candidate" >/dev/null 2>&1 && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || fail "Python 3.8 or newer is missing; install it (Debian, Ubuntu: sudo apt install python3-venv) and run this again."

echo "setup: putting uv $version into .uv/" >&2
rm -rf .uv
if "$python" -m venv .uv >/dev/null 2>&1 && [ -x .uv/bin/python ]; then
    .uv/bin/python -m pip install --quiet --disable-pip-version-check "uv==$version" >.uv/install.log 2>&1
elif "$python" -m pip --version >/dev/null 2>&1; then
    # No ensurepip (Debian without python3-venv): pip can still install into a folder of its own.
    rm -rf .uv && mkdir -p .uv/bin
    "$python" -m pip install --quiet --disable-pip-version-check --target .uv/packages "uv==$version" >.uv/install.log 2>&1 &&
        ln -s ../packages/bin/uv "$uv"
else
    fail "neither venv nor pip is there; install one (Debian, Ubuntu: sudo apt install python3-venv) and run this again."
fi
[ -x "$uv" ] || fail "uv could not be installed (is the network there?); see .uv/install.log."
