#!/usr/bin/env bash
# The library as a user finds it: installed into a folder, found by pkg-config and by CMake, linked by a program in C that
# has the header alone.   installed.sh BUILD-FOLDER SOURCE-FOLDER
set -euo pipefail
build=$1 here=$2/tests/host folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$build" --component host --prefix "$folder/usr" > /dev/null
export PKG_CONFIG_PATH=$folder/usr/lib/x86_64-linux-gnu/pkgconfig:$folder/usr/lib/pkgconfig
lib=$(pkg-config --define-variable=prefix="$folder/usr" --variable=libdir matchrdma-host)
read -ra flags <<< "$(pkg-config --define-variable=prefix="$folder/usr" --cflags --libs matchrdma-host)"
cc -std=gnu11 -Wall -Wextra -Werror -o "$folder/program" "$here/c_program.c" "${flags[@]}"
LD_LIBRARY_PATH=$lib "$folder/program"
mkdir "$folder/project"
cat > "$folder/project/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(matchrdma-host 0.1 REQUIRED)
add_executable(program ${SOURCE})
target_link_libraries(program PRIVATE matchrdma-host)
CMAKE
cmake -S "$folder/project" -B "$folder/made" -DCMAKE_PREFIX_PATH="$folder/usr" -DSOURCE="$here/c_program.c" > /dev/null
cmake --build "$folder/made" > /dev/null
"$folder/made/program" > /dev/null
# What is exported bears the version, and nothing else is exported.
if nm -D --defined-only "$lib/libmatchrdma-host.so.0" | grep -v 'mrdma_.*@@MATCHRDMA_HOST_0' | grep -v 'MATCHRDMA_HOST_0$'; then
  echo 'installed.sh: exported without a version' >&2
  exit 1
fi
readelf -d "$lib/libmatchrdma-host.so.0" | grep -q 'SONAME.*libmatchrdma-host.so.0'
echo 'installed, found, linked and run'
