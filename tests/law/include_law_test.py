#!/usr/bin/env python3
"""Proves that the include law catches what it forbids: each case is a small tree with one violation."""
import os
import tempfile
import unittest

import include_law

CLEAN = {
    "dataplane/base/types.h": "#pragma once\n#include <cstdint>\n",
    "dataplane/wire/frame.h": '#pragma once\n#include <isa-l/crc.h>\n#include "dataplane/base/types.h"\n',
    "dataplane/flow/psn.h": '#pragma once\n#include "dataplane/wire/frame.h"\n',
    "dataplane/source/gate.h": '#pragma once\n#include "dataplane/flow/psn.h"\n',
    "dataplane/destination/reorder.cc": '#include "dataplane/flow/psn.h"\n',
    "dataplane/shard/shard.cc": '#include "dataplane/source/gate.h"\n',
    "controlplane/channel/seal.cc": '#include <openssl/evp.h>\n#include "dataplane/flow/psn.h"\n',
    "pcap/reader.cc": '#include <fstream>\n#include "dataplane/wire/frame.h"\n',
    "proxy/main.cc": '#include <chrono>\n#include "dataplane/shard/shard.cc"\n',
    "dataplane/wire/CMakeLists.txt": "matchrdma_room(wire DEPS matchrdma_base PkgConfig::ISAL TEST_DEPS matchrdma_pcap)\n",
}


def violations(extra):
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**CLEAN, **extra}.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                f.write(text)
        return include_law.check(root)[0]


class IncludeLaw(unittest.TestCase):
    def caught(self, path, text, what):
        found = violations({path: text})
        self.assertTrue(any(v.startswith(path + ":") and what in v for v in found), f"{what!r} not in {found}")

    def allowed(self, path, text):
        self.assertEqual(violations({path: text}), [])

    def test_clean_tree_has_no_violation(self):
        self.assertEqual(violations({}), [])

    def test_includes_between_rooms(self):
        for path, header in [("dataplane/base/x.h", "dataplane/wire/frame.h"),
                             ("dataplane/wire/x.cc", "dataplane/flow/psn.h"),
                             ("dataplane/destination/x.cc", "dataplane/source/gate.h"),
                             ("dataplane/flow/x.cc", "dataplane/source/gate.h"),
                             ("model/x.cc", "dataplane/flow/psn.h"),
                             ("host/sdr/x.cc", "dataplane/shard/shard.cc"),
                             ("host/code/x.cc", "dataplane/wire/frame.h"),
                             ("controlplane/service/x.cc", "dataplane/shard/shard.cc"),
                             ("controlplane/channel/x.cc", "dataplane/shard/shard.cc"),
                             ("controlplane/channel/x.cc", "dataplane/source/gate.h"),
                             ("dataplane/flow/x.cc", "controlplane/channel/seal.cc"),
                             ("dataplane/io/x.cc", "dataplane/wire/frame.h"),
                             ("dataplane/shard/x.cc", "proxy/main.cc")]:
            self.caught(path, f'#include "{header}"\n', "may not include")
        self.allowed("tests/e2e_test.cc", '#include "dataplane/source/gate.h"\n')
        self.allowed("dataplane/wire/frame_test.cc", '#include <gtest/gtest.h>\n#include "pcap/reader.cc"\n')

    def test_headers_of_tests(self):
        test_header = {"model/test_net.h": "#include <gtest/gtest.h>\n"}
        self.assertEqual(violations({**test_header, "model/x_test.cc": '#include "model/test_net.h"\n'}), [])
        found = violations({**test_header, "model/x.cc": '#include "model/test_net.h"\n'})
        self.assertEqual(found, ["model/x.cc:1: model/test_net.h is for tests only"])

    def test_the_line_is_named(self):
        found = violations({"model/x.cc": '#include <vector>\n\n#include "dataplane/flow/psn.h"\n'})
        self.assertEqual(found, ["model/x.cc:3: model/ may not include dataplane/flow/psn.h"])

    def test_include_forms(self):
        self.caught("dataplane/wire/x.cc", '#include "frame.h"\n', "not a path from the top")
        self.caught("dataplane/wire/x.cc", '#include "../base/types.h"\n', "not a path from the top")
        self.caught("dataplane/wire/x.cc", "#include <dataplane/base/types.h>\n", "is a file of this tree")
        self.caught("dataplane/wire/x.cc", "#include FRAME_HEADER\n", "computed include")
        self.caught("somewhere/x.cc", "int x;\n", "stands in no room")

    def test_headers_of_pure_rooms(self):
        for header in ["chrono", "thread", "mutex", "random", "fstream", "sys/socket.h", "unistd.h", "time.h",
                       "x86intrin.h"]:
            self.caught("dataplane/shard/x.cc", f"#include <{header}>\n", "not on the list")
        self.caught("dataplane/flow/x.cc", "#include <isa-l/crc.h>\n", "not on the list")
        self.caught("dataplane/flow/x.cc", "#include <openssl/evp.h>\n", "not on the list")
        self.caught("controlplane/channel/x.cc", "#include <openssl/rand.h>\n", "not on the list")
        self.caught("proxy/x.cc", "#include <rte_ethdev.h>\n", "DPDK")
        self.allowed("dataplane/io/x.cc", "#include <rte_ethdev.h>\n")
        self.caught("host/sdr/x.cc", "#include <infiniband/verbs.h>\n", "rdma-core")
        self.allowed("host/verbs/x.cc", "#include <infiniband/verbs.h>\n")

    def test_forbidden_tokens(self):
        for code in ["auto t = std::chrono::steady_clock::now();", "uint64_t t = __rdtsc();", "rte_mbuf* m;",
                     "std::thread t;", "std::mutex m;", "std::random_device d;", "int r = rand();",
                     "int r = std::rand ();", "std::mt19937_64 g;", "clock_gettime(0, &t);", "pthread_self();",
                     'getenv("X");']:
            self.caught("dataplane/source/x.cc", code + "\n", ": ")
            self.caught("model/x.cc", code + "\n", ": ")
        self.allowed("dataplane/source/x.cc", "// std::mutex and rand() in a comment\nint operand(int);\n")
        self.allowed("dataplane/source/x.cc", 'const char* s = "std::mutex \\" rand()"; int n = 1\'000; int grand(int);\n')
        self.allowed("pcap/x.cc", "auto t = std::chrono::steady_clock::now();\n")

    def test_floating_point(self):
        self.caught("dataplane/source/x.cc", "double rate;\n", "floating point")
        self.caught("dataplane/base/x.h", "\n\nfloat rate;\n", "x.h:3: float")
        self.allowed("dataplane/base/prng.h", "double unit();\n")
        self.allowed("dataplane/source/x_test.cc", "double rate;\n")
        self.allowed("controlplane/estimator/x.cc", "double rate;\n")
        self.allowed("dataplane/wire/x.cc", "int double_tagged;\n")

    def test_unordered_iteration(self):
        member = "#include <unordered_map>\nstruct T { std::unordered_map<int, std::set<long>> flows_; void f(); };\n"
        self.caught("dataplane/flow/x.cc", member + "void T::f() { for (auto& [k, v] : flows_) k++; }\n", "iteration over")
        self.caught("dataplane/flow/x.cc", member + "void T::f() { auto i = flows_.begin(); }\n", "iteration over")
        self.caught("dataplane/flow/x.cc", "using M = std::unordered_set<int>;\nM m;\nvoid f() { for (int i : m) g(i); }\n",
                    "iteration over m")
        found = violations({"dataplane/flow/t.h": member,
                            "dataplane/flow/t.cc": '#include "dataplane/flow/t.h"\nvoid T::f() { for (auto& x : flows_) g(x); }\n'})
        self.assertTrue(any("t.cc:2: iteration over flows_" in v for v in found), found)
        self.allowed("dataplane/flow/x.cc", member + "void T::f() { flows_.find(1); for (int i : other_) g(i); }\n")

    def test_pointer_keys(self):
        for code in ["std::map<const Flow*, int> m;", "std::unordered_set<Flow *> s;", "std::hash<Flow*> h;"]:
            self.caught("dataplane/shard/x.cc", code + "\n", "pointer as a key")
        self.allowed("dataplane/shard/x.cc", "std::map<int, Flow*> m;\n")

    def test_links(self):
        self.caught("dataplane/flow/CMakeLists.txt", "matchrdma_room(flow DEPS matchrdma_wire matchrdma_source)\n",
                    "may not link matchrdma_source")


if __name__ == "__main__":
    unittest.main()
