#!/usr/bin/env bash
# rename_symbols.sh NM OBJCOPY ARCHIVE PREFIX OUTPUT: ARCHIVE with PREFIX before every symbol it defines, and where it
# uses them itself, so that a program linked with OUTPUT gets none of its names (C14).
set -euo pipefail
nm=$1 objcopy=$2 archive=$3 prefix=$4 output=$5
"$nm" --extern-only --defined-only "$archive" |
  awk -v prefix="$prefix" 'NF == 3 { print $3, prefix $3 }' | sort -u > "$output.names"
[[ -s $output.names ]] || { echo "rename_symbols.sh: $archive defines no symbol" >&2; exit 1; }
"$objcopy" --redefine-syms="$output.names" "$archive" "$output"
