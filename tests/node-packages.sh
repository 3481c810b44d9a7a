#!/bin/sh
# Installs the pinned packages of a folder with a package.json, where npm is; their tests are
# skipped elsewhere. Nothing is written but node_modules, which git does not see.
set -eu
for folder in "$@"; do
    [ -d "$folder/node_modules" ] && [ "$folder/node_modules" -nt "$folder/package.json" ] && continue
    if ! command -v npm >/dev/null; then
        echo "npm is not there: tests in $folder are skipped"
        continue
    fi
    if npm install --prefix "$folder" --no-package-lock --no-audit --no-fund --ignore-scripts \
        --silent --fetch-timeout=20000 --fetch-retries=1; then
        touch "$folder/node_modules"
    else
        echo "could not install what $folder needs: its tests are skipped"
    fi
done
