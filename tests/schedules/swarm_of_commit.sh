#!/usr/bin/env bash
# swarm_of_commit.sh MATCHRDMA SECONDS: worlds for a fixed time. The commit is the first seed, so every commit meets
# others, and the same commit the same.
set -euo pipefail
cd "$(dirname "$0")"
commit=$(git rev-parse HEAD 2> /dev/null || echo 1)
exec "$1" sim swarm --seconds "$2" --first $((16#${commit:0:8})) --captures "$(mktemp -d)"
