#!/usr/bin/env python3
"""The purity law, seen by the linker: what the rooms from the shard down and the channel need from the outside world.

The program given was linked from every object of these rooms (--whole-archive), so its undefined dynamic symbols are
all that the pure rooms call. C symbols must be on the short list below; of the C++ library, clocks, threads, files,
streams and random devices are refused by name.

    purity.py PROGRAM ARCHIVE...
"""
import re
import subprocess
import sys

# Every name needs a reason. Nothing here can read a clock, wait, open, send or draw a random number.
ALLOWED = {
    "memory and text": "mem(cpy|move|set|cmp|chr)|str(len|n?cmp|n?cpy|r?chr|str|toull?|toll?)|bcmp|v?snprintf|"
                       "__(mem(cpy|move|set)|strn?cpy|v?snprintf)_chk|__(isoc\\d+_)?strtou?ll?",
    "allocation (before start; law 9 forbids it on the packet path)": "malloc|calloc|realloc|free|aligned_alloc|"
                                                                      "posix_memalign",
    "check.h: an invariant of ours is broken, say so and stop": "abort|__assert_fail|__stack_chk_fail|"
                                                                "__(v?fprintf|printf)_chk|fprintf|fputs|fputc|fwrite|stderr",
    "addresses as text": "inet_(ntop|pton)",
    "integer helpers of the compiler": "__(u?(div|mod|divmod)ti[34]|popcountdi2|clzdi2|ctzdi2|cpu_model|cpu_indicator_init)",
    "exceptions and static objects": "_Unwind_\\w+|__cxa_\\w+|__gxx_personality_v0|__dynamic_cast|__tls_get_addr|atexit",
    "ISA-L, the ICRC (wire) and the erasure code (host/code)": "crc32\\w*|(ec|gf)_\\w+|xor_gen",
    "roots (host/code)": "sqrtf",
    "libcrypto, AES-GCM and HKDF by name (channel); its RAND_ is not here": "EVP_(aes_256_gcm|CIPHER_CTX_\\w+|KDF_\\w+|"
                                                                            "(Encrypt|Decrypt)(Init|Update|Final)\\w*)|"
                                                                            "OSSL_PARAM_construct_\\w+|OPENSSL_cleanse|"
                                                                            "CRYPTO_memcmp",
    "arithmetic on doubles (planner)": "exp|expm1|log|log1p|lgamma|floor|ceil|sqrt",
    "start of any program": "__libc_start_main|__gmon_start__|_ITM_\\w+|_dl_relocate_static_pie|main",
}
ALLOWED_C = re.compile("|".join(f"(?:{names})" for names in ALLOWED.values()))

# C++ names, demangled. What is not here (containers, strings, exceptions, operator new) is allowed.
FORBIDDEN_CXX = re.compile(
    r"std::chrono::|std::(this_)?thread|std::jthread|std::\w*mutex|std::condition_variable|std::random_device"
    r"|std::\w*future|std::__basic_file|filebuf|[io]?fstream|std::filesystem|std::(basic_)?[io]?stream|std::c(out|err|in|log)\b"
    r"|std::ios_base|std::locale")


def undefined(path, dynamic):
    command = ["nm", "-A", "--undefined-only"] + (["-D"] if dynamic else []) + [path]
    for line in subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        if re.search(r" [UwWvV] \S+$", line):
            where, name = line.rsplit(None, 2)[0], line.split()[-1]
            yield where.strip().rstrip(":"), name.split("@")[0]


def demangled(names):
    out = subprocess.run(["c++filt"], input="\n".join(names), check=True, stdout=subprocess.PIPE, text=True).stdout
    return out.split("\n")


def main():
    program, archives = sys.argv[1], sys.argv[2:]
    if not archives:
        print("purity: no archive to look at")
        return 1
    names = sorted({name for _, name in undefined(program, dynamic=True)})
    if not names:
        print(f"purity: {program} needs nothing at all: it cannot have been linked from the rooms")
        return 1
    wrong = []
    for name, plain in zip(names, demangled(names)):
        if name.startswith("_Z"):
            if FORBIDDEN_CXX.search(plain):
                wrong.append((name, plain))
        elif not ALLOWED_C.fullmatch(name):
            wrong.append((name, plain))
    users = {}
    for archive in archives:
        for where, name in undefined(archive, dynamic=False):
            users.setdefault(name, set()).add(where.rsplit("/", 1)[-1])
    for name, plain in wrong:
        print(f"forbidden: {plain}, needed by {', '.join(sorted(users.get(name, ['a library they link'])))}")
    print(f"purity: {len(archives)} archives need {len(names)} outside symbols, {len(wrong)} of them forbidden")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
