#!/usr/bin/env python3
"""Proves that the purity law catches clocks, threads, locks, sockets, files and chance.

    purity_test.py PURITY.PY PROGRAM ARCHIVE     (both made of fixture/impure.cc)
"""
import subprocess
import sys

C_SYMBOLS = ["clock_gettime", "time", "pthread_mutex_lock", "socket", "open", "fopen", "getrandom", "rand"]
CXX_NAMES = ["std::chrono::", "std::thread::", "ifstream", "std::random_device::"]

result = subprocess.run([sys.executable, "-B"] + sys.argv[1:], stdout=subprocess.PIPE, text=True)
caught = [line[len("forbidden: "):].split(", needed by ")[0] for line in result.stdout.splitlines()
          if line.startswith("forbidden: ") and "impure.cc" in line]
missed = [n for n in C_SYMBOLS if n not in caught]
missed += [n for n in CXX_NAMES if not any(n in name for name in caught)]
if result.returncode != 1 or missed:
    print(result.stdout)
    sys.exit(f"exit code {result.returncode}; not caught: {', '.join(missed) or 'none'}")
print(f"purity self test: {len(caught)} impure symbols caught")
