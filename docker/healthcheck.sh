#!/usr/bin/env bash
# Is the service healthy? docker/healthcheck.sh HOST PORT: status 0 when GET /healthz answers 200. Needs nothing but bash.
set -euo pipefail
exec 3<>"/dev/tcp/$1/$2"
printf 'GET /healthz HTTP/1.1\r\nHost: %s:%s\r\nConnection: close\r\n\r\n' "$1" "$2" >&3
read -r -t 4 _ status _ <&3
[[ "$status" == 200 ]]
