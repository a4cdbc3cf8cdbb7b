#!/usr/bin/env python3
"""The include law: who may include whom, and what the pure rooms may never mention.

Reads text only, so it sees every file of the tree, also those that no target compiles. The purity link test
(purity.py) looks at the same law from the other side, in the compiled objects.

    include_law.py ROOT      check a tree; prints file:line: sentence, exit code 1 if anything is wrong
"""
import os
import re
import sys

from tree import source_files

ANYTHING = [""]
PROTOCOL = ["dataplane/base/", "dataplane/wire/", "dataplane/flow/", "dataplane/source/", "dataplane/destination/",
            "dataplane/shard/"]

# Room -> the path prefixes it may include besides its own. A room that is not listed may not exist.
MAY_INCLUDE = {
    "dataplane/base/": [],
    "dataplane/wire/": ["dataplane/base/"],
    "dataplane/flow/": ["dataplane/wire/", "dataplane/base/"],
    "dataplane/source/": ["dataplane/flow/", "dataplane/wire/", "dataplane/base/"],
    "dataplane/destination/": ["dataplane/flow/", "dataplane/wire/", "dataplane/base/"],
    "dataplane/shard/": ["dataplane/source/", "dataplane/destination/", "dataplane/flow/", "dataplane/wire/",
                         "dataplane/base/"],
    "dataplane/io/ring/": ["dataplane/io/", "dataplane/wire/", "dataplane/base/"],
    "dataplane/io/": ["dataplane/shard/", "dataplane/base/", "config/"],
    # Shared by the proxies and host/control; docs/decisions/0024-tls-room.md.
    "controlplane/tls/": ["dataplane/base/"],
    "controlplane/estimator/": ["dataplane/flow/", "dataplane/base/"],
    "controlplane/channel/": ["dataplane/flow/", "dataplane/wire/", "dataplane/base/"],
    # Types of views and requests; docs/decisions/0012-service-room.md.
    "controlplane/service/": ["dataplane/shard/mailbox", "dataplane/shard/snapshot", "dataplane/shard/events",
                              "dataplane/shard/shard.h", "dataplane/flow/", "dataplane/wire/",
                              "controlplane/estimator/", "controlplane/channel/", "controlplane/tls/", "config/",
                              "dataplane/base/"],
    # docs/decisions/0019-endpoint.md
    "controlplane/endpoint/": PROTOCOL + ["controlplane/estimator/", "controlplane/channel/"],
    "config/": ["controlplane/tls/", "dataplane/flow/", "dataplane/base/"],
    "model/": ["dataplane/wire/", "dataplane/base/"],
    "pcap/": PROTOCOL + ["model/", "controlplane/estimator/", "controlplane/channel/", "controlplane/endpoint/"],
    "sim/": PROTOCOL + ["model/", "controlplane/estimator/", "controlplane/channel/", "controlplane/endpoint/",
                        "host/flowcell"],
    "host/planner/": ["dataplane/base/"],
    "host/fabric/": ["dataplane/base/"],
    "host/memory/": ["host/fabric/", "dataplane/base/"],
    "host/code/": ["dataplane/base/"],
    "host/model_fabric/": ["host/fabric/", "dataplane/base/"],
    "host/sdr/": ["host/code/", "host/fabric/", "dataplane/base/"],
    # What its ends say over the control connection; not the connection.
    "host/flowcell/": ["host/control/control_message.h", "host/fabric/", "dataplane/base/"],
    "host/api/": ["host/xfer/", "host/control/", "host/sdr/", "host/verbs/", "host/model_fabric/", "host/fabric/", "dataplane/base/"],
    "host/xfer/": ["host/sdr/", "host/flowcell/", "host/channel/", "host/control/control_message.h", "host/model_fabric/", "host/code/", "host/fabric/", "dataplane/base/"],
    "host/control/": ["controlplane/tls/", "host/fabric/", "dataplane/base/"],
    "host/register/": ["host/control/", "controlplane/tls/", "host/fabric/", "dataplane/base/"],
    # What is said on the control connection, as values; docs/decisions/0028-channel-engine.md.
    "host/channel/": ["host/control/control_message.h", "host/fabric/", "dataplane/base/"],
    "host/verbs/": ["host/fabric/", "host/memory/", "dataplane/base/"],
    "proxy/": ANYTHING,
    "bench/": ANYTHING,
    "tests/": ANYTHING,
}
# Test programs beside the code may also use the model RNICs, write a capture of what failed, and share helpers.
TESTS_MAY_ALSO = ["model/", "host/model_fabric/", "pcap/", "tests/"]

# No clock, socket, thread, file or chance in these. Time and randomness are arguments.
PURE = PROTOCOL + ["model/", "controlplane/estimator/", "controlplane/channel/", "controlplane/endpoint/",
                   "host/planner/", "host/fabric/", "host/code/", "host/model_fabric/", "host/sdr/", "host/flowcell/",
                   "host/channel/", "host/xfer/"]
PURE_HEADERS = set("""
    algorithm array bit bitset cassert cctype charconv cinttypes climits cmath compare concepts cstdarg cstddef cstdint
    cstdio cstdlib cstring deque exception functional initializer_list iosfwd iterator limits list map memory memory_resource new
    numeric optional queue ranges set span stack stdexcept string string_view system_error tuple type_traits typeinfo
    unordered_map unordered_set utility variant vector version atomic immintrin.h""".split())
PURE_TESTS_ALSO = {"gtest/gtest.h", "gmock/gmock.h", "sstream", "ostream", "iostream", "iomanip", "fstream", "filesystem"}
# arpa/inet.h for addresses as text; purity.py sees that nothing else of it is called.
LIBRARIES = {"dataplane/base/": re.compile(r"^arpa/inet\.h$"),
             "dataplane/wire/": re.compile(r"^isa-l(\.h$|/)"), "host/code/": re.compile(r"^isa-l/"),
             "dataplane/io/": re.compile(r"^rte_\w+\.h$"), "dataplane/io/ring/": re.compile(r"^rte_\w+\.h$"),
             "controlplane/channel/": re.compile(r"^openssl/(core_names|crypto|evp|kdf|params)\.h$")}

FORBIDDEN = [
    (r"\brte_\w+", "DPDK belongs in dataplane/io alone"),
    (r"\b(steady|system|high_resolution|utc|file)_clock\b", "time is an argument, no clock is read here"),
    (r"\b(clock_gettime|gettimeofday|nanosleep|usleep|sleep_for|sleep_until)\b",
     "time is an argument, no clock is read here"),
    (r"\b_*rdtscp?\b", "time is an argument, no cycle counter is read here"),
    (r"\bstd::(j?thread|this_thread|(recursive_|shared_|timed_)*mutex|lock_guard|unique_lock|scoped_lock|async|future|"
     r"promise|condition_variable\w*)\b", "one thread owns a Shard; no threads and locks here"),
    (r"\bpthread_\w+", "one thread owns a Shard; no threads and locks here"),
    (r"\b(random_device|mt19937(_64)?|default_random_engine|minstd_rand0?|(uniform|normal|bernoulli)_\w*distribution)\b",
     "randomness is seeded and portable: dataplane/base/prng.h"),
    (r"(?<![\w.>])s?rand\s*\(", "randomness is seeded and portable: dataplane/base/prng.h"),
    (r"\bgetenv\b", "the environment is no argument of the core"),
]
POINTER_KEY = re.compile(r"\b(?:unordered_)?(?:multi)?(?:map|set)\s*<\s*(?:const\s+|struct\s+|class\s+)*[\w:]+(?:\s*const)?\s*\*"
                         r"|\bstd::(?:hash|less|greater)\s*<[^<>]*\*\s*>")
FLOATING = re.compile(r"\b(?:long\s+)?(?:double|float)\b")
FLOATING_ALLOWED = {"dataplane/base/prng.h"}
UNORDERED_TYPE = r"(?:std::)?unordered_(?:multi)?(?:map|set)\b"

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]*)"|<([^>]*)>|(.*))')
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def room_of(path):
    return next((room for room in MAY_INCLUDE if path.startswith(room)), None)


def is_test(path):
    """Test programs and the headers only they share: x_test.cc, x_fuzz.cc, test_x.h, x_fixture.h."""
    return re.search(r"(_(test|fuzz)\.cc|/test_\w+\.h|_(test|fixture)\.h)$", path) is not None


def without_comments_and_strings(text):
    """Same lines, but no comments and empty literals. Digit separators (1'000) survive."""
    def blank(m):
        s = m.group(0)
        if s.startswith("'") and m.start() > 0 and text[m.start() - 1].isalnum():
            return s  # 1'000'000
        keep = "" if s.startswith("/") else '""'
        return keep + "\n" * s.count("\n")
    return TOKEN.sub(blank, text)


def check_include(path, room, match, exists):
    quoted, angled, computed = match.groups()
    if computed is not None:
        return "a computed include hides what is included"
    if quoted is not None:
        if quoted.startswith((".", "/")) or not exists(quoted):
            return f'"{quoted}" is not a path from the top of the tree; libraries are included with <>'
        allowed = [room] + MAY_INCLUDE[room] + (TESTS_MAY_ALSO if is_test(path) else [])
        if not quoted.startswith(tuple(allowed)):
            return f"{room} may not include {quoted}"
        if is_test(quoted) and not is_test(path) and not path.startswith("tests/"):
            return f"{quoted} is for tests only"
        return None
    if exists(angled):
        return f'<{angled}> is a file of this tree: include it with ""'
    if angled.startswith("rte_") and not room.startswith("dataplane/io/"):
        return f"<{angled}>: DPDK belongs in dataplane/io alone"
    if angled.startswith("infiniband/") and not path.startswith("host/verbs/"):
        return f"<{angled}>: rdma-core belongs in host/verbs alone"
    library = LIBRARIES.get(room)
    if room in PURE and angled not in PURE_HEADERS and not (library and library.match(angled)) and not (
            is_test(path) and angled in PURE_TESTS_ALSO):
        return f"<{angled}> is not on the list of headers a pure room may use"
    return None


def unordered_names(code):
    """Names of variables and members declared with an unordered type, directly or through `using`."""
    alias = re.findall(r"\busing\s+(\w+)\s*=\s*" + UNORDERED_TYPE, code)
    types = "|".join([UNORDERED_TYPE] + [rf"\b{a}\b" for a in alias])
    names = set()
    for m in re.finditer(types, code):
        i, depth = m.end(), 0
        while i < len(code) and (code[i] in "<>" or depth):  # step over the template arguments
            depth += {"<": 1, ">": -1}.get(code[i], 0)
            i += 1
        name = re.match(r"\s*[&*]?\s*(\w+)\s*[;{=,()]", code[i:])
        if name:
            names.add(name.group(1))
    return names


def check_pure_code(path, code, header_code):
    """Yields (offset, sentence). header_code: the texts of the tree's headers this file includes."""
    for pattern, why in FORBIDDEN:
        for m in re.finditer(pattern, code):
            yield m.start(), f"{m.group(0).strip()}: {why}"
    for m in POINTER_KEY.finditer(code):
        yield m.start(), "a pointer as a key: order and hash differ from run to run"
    if is_test(path):
        return
    if path.startswith(tuple(PROTOCOL)) and path not in FLOATING_ALLOWED:
        for m in FLOATING.finditer(code):
            yield m.start(), f"{m.group(0)}: no floating point in protocol decisions"
    names = unordered_names(code)
    for text in header_code:
        names |= unordered_names(text)
    for name in names:
        loops = rf"\bfor\s*\([^;()]*:[^;)]*\b{name}\s*\)|\b{name}\s*(?:\.|->)\s*c?r?begin\s*\(|\berase_if\s*\(\s*{name}\b"
        for m in re.finditer(loops, code):
            yield m.start(), f"iteration over {name}, an unordered container: its order is no one's promise"


def check_cmake(path, text):
    """`matchrdma_room(NAME DEPS ...)` may only link what the room may include."""
    room = os.path.dirname(path) + "/"
    if room not in MAY_INCLUDE or MAY_INCLUDE[room] == ANYTHING:
        return
    for m in re.finditer(r"matchrdma_room\(\s*\w+\s+([^)]*)\)", re.sub(r"#.*", "", text)):
        deps = re.split(r"\bTEST_DEPS\b", m.group(1))[0]
        for dep in re.findall(r"\bmatchrdma_(\w+)", deps):
            if not any(f"/{dep}/" in f"/{p}" or f"{dep}_" == p.replace("/", "_") for p in MAY_INCLUDE[room]):
                yield m.start(), f"{room} may not link matchrdma_{dep}"


def check(root):
    """All violations of the tree as sorted 'file:line: sentence' strings, and the number of files read."""
    files = source_files(root)
    known = set(files)
    read = {}
    for path in files:
        if path.endswith((".cc", ".h")) or path.endswith("CMakeLists.txt"):
            with open(os.path.join(root, path), encoding="utf-8") as f:
                read[path] = f.read()
    wrong = []

    def report(path, text, offset, sentence):
        line = text.count("\n", 0, offset) + 1
        wrong.append((path, line, sentence))

    for path, text in read.items():
        if path.endswith("CMakeLists.txt"):
            for offset, sentence in check_cmake(path, text):
                report(path, text, offset, sentence)
            continue
        room = room_of(path)
        if room is None:
            report(path, text, 0, "stands in no room of the include law (tests/law/include_law.py)")
            continue
        included = []
        for number, line in enumerate(text.split("\n"), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            sentence = check_include(path, room, match, known.__contains__)
            if sentence:
                wrong.append((path, number, sentence))
            if match.group(1) in read:
                included.append(without_comments_and_strings(read[match.group(1)]))
        if room in PURE:
            code = without_comments_and_strings(text)
            for offset, sentence in check_pure_code(path, code, included):
                report(path, code, offset, sentence)
    return [f"{p}:{n}: {s}" for p, n, s in sorted(set(wrong))], len(read)


def main():
    wrong, files = check(sys.argv[1])
    for line in wrong:
        print(line)
    print(f"include law: {files} files read, {len(wrong)} violations")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
