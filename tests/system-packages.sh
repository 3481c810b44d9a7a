#!/bin/sh
# Installs the Debian packages that the tests run against, where that may be done without asking
# (root, or CI=true); elsewhere it prints the one line to run. Tests of what is missing are
# skipped by name.
set -eu
missing=""
for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "install ok installed" ||
        missing="$missing $package"
done
[ -z "$missing" ] && exit 0
line="apt-get update && apt-get install -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null; then
    echo "not a Debian system: tests against$missing are skipped unless they are there"
elif [ "$(id -u)" = 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq || true
    for package in $missing; do
        apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 ||
            echo "could not install $package: its tests are skipped"
    done
elif [ "${CI:-}" = true ]; then
    sudo sh -c "$line" || echo "could not install$missing: their tests are skipped"
else
    echo "some tests are skipped; to run them: sudo sh -c '$line'"
fi
