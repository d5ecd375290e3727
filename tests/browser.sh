#!/bin/sh
# Prints the path of a Chromium for the tests, installing one if need be, in this order:
# $CHROMIUM, one on PATH, the distribution's package, Playwright's own.
# usage: tests/browser.sh PYTHON
set -eu
python=$1

on_path() {
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        # Ubuntu's chromium-browser may be a stub that only asks for snap: try it.
        if command -v "$name" >/dev/null 2>&1 && "$name" --version >/dev/null 2>&1; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

from_apt() {
    command -v apt-get >/dev/null 2>&1 || return 1
    sudo=""
    if [ "$(id -u)" -ne 0 ]; then
        sudo -n true 2>/dev/null || return 1
        sudo="sudo -n"
    fi
    $sudo apt-get update -qq >&2 || return 1
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        chromium fonts-dejavu-core >&2 || return 1
    on_path
}

from_playwright() {
    "$python" -m playwright install chromium >&2 || return 1
    "$python" -c 'from playwright.sync_api import sync_playwright
with sync_playwright() as p: print(p.chromium.executable_path)'
}

if [ -n "${CHROMIUM:-}" ]; then
    echo "$CHROMIUM"
elif on_path || from_apt || from_playwright; then
    :
else
    echo "no Chromium: set CHROMIUM to the path of one, or install the package 'chromium'" >&2
    exit 1
fi
