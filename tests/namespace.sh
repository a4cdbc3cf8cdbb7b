#!/usr/bin/env bash
# Runs a test in a network namespace of its own. Exit code 77 (skipped, for CTest) where this machine allows none.
set -euo pipefail
if ! reason=$(unshare --net true 2>&1); then
  echo "skipped: no network namespace can be made here: $reason"
  exit 77
fi
exec unshare --net --fork --kill-child "$@"
