// Each way to write a configuration wrong, and what is said about it: the whole sentence, with its place.
#include <gtest/gtest.h>

#include "config/test_config.h"

namespace matchrdma {
namespace {

using test::changed, test::said, test::small;

struct Wrong {
  std::string text, said;
};

void expect_all(const std::vector<Wrong>& cases) {
  for (const Wrong& w : cases) EXPECT_EQ(said(w.text), w.said) << w.text;
}

TEST(Errors, SmallIsGood) { EXPECT_EQ(said(small()), ""); }

TEST(Errors, Keys) {
  expect_all({
      {changed("port: net_null1", "port: net_af_packet1"),
       "c.yaml:9:13: spans[0].wan.port: net_af_packet1: needs an interface of the kernel; write "
       "net_af_packet1,iface=NAME\n"},
      {changed("port: net_null1", "port: net_af_packet1,iface=abcdefghijklmnop"),
       "c.yaml:9:13: spans[0].wan.port: net_af_packet1,iface=abcdefghijklmnop: the interface abcdefghijklmnop "
       "has "
       "more than 15 characters, which no interface of Linux has\n"},
      {small() + "admin:\n  socket: /" + std::string(107, 's') + "\n",
       "c.yaml:17:11: admin.socket: /" + std::string(79, 's') +
           "...: has 108 characters; the path of a Unix socket has 107 at most\n"},
      {changed("    lan:", "    lan:\n      mut: 1500"),
       "c.yaml:6:7: spans[0].lan.mut: no such key; did you mean `mtu`?\n"},
      {small() + "colour: red\n",
       "c.yaml:16:1: colour: no such key; this section has name, workers, memory, spans, classes, check_icrc, "
       "limits, "
       "timing, tuning, cnp, journal, admin, register, metrics, capture_folder, stop_patience, log\n"},
      {small() + "limits:\n  max_flow: 10\n",
       "c.yaml:17:3: limits.max_flow: no such key; did you mean `max_flows`?\n"},
      {changed("      mtu: 1500\n    wan", "      mtu: 1500\n      mtu: 9000\n    wan"),
       "c.yaml:8:7: spans[0].lan.mtu: stands twice in this section, first in line 7; leave one of them out\n"},
      {changed("      port: net_null1\n", ""),
       "c.yaml:8:5: spans[0].wan.port: is missing; write `port:` (PCI address or vdev): the port towards the "
       "span\n"},
      {changed("workers:\n  cores: 1\n", ""),
       "c.yaml:1:1: workers: is missing; write `workers:` (section): who forwards packets\n"},
  });
}

TEST(Errors, Types) {
  expect_all({
      {small() + "limits: 5\n",
       "c.yaml:16:9: limits: 5: no section stands here; write keys below it, indented, of max_flows, "
       "max_owning_flows, custody_soft, custody_hard, reserve_per_flow, reorder_memory, custody_packets, "
       "held_packets, confirmed_entries, confirmed_per_flow, lan_gap_packets, read_ranges, max_psn_window, "
       "max_groups, correlation\n"},
      {small() + "log:\n",
       "c.yaml:16:1: log: nothing stands here; write keys below it, indented, of level, file, or leave the key "
       "out\n"},
      {small() + "name: [a, b]\n", "c.yaml:16:1: name: a list stands here; write a name\n"},
      {small() + "classes: all\n",
       "c.yaml:16:10: classes: all: a value stands here; write a list, each element behind a dash (- )\n"},
      {changed("cores: 1", "cores: {a: 1}"),
       "c.yaml:2:3: workers.cores: a section stands here; write whole number 0 to 1023, or a list of them\n"},
      {changed("cores: 1", "cores: [1, x, 2, -1]"),
       "c.yaml:2:14: workers.cores[1]: x: not a whole number from 0 to 1023; write one\n"
       "c.yaml:2:20: workers.cores[3]: -1: not a whole number from 0 to 1023; write one\n"},
      {changed("cores: 1", "cores: []"),
       "c.yaml:2:3: workers.cores: names no core; one worker at least is needed, like [1]\n"},
      {"- a\n- b\n",
       "c.yaml:1:1: no section stands here; write keys below it, indented, of name, workers, memory, spans, "
       "classes, "
       "check_icrc, limits, timing, tuning, cnp, journal, admin, register, metrics, capture_folder, "
       "stop_patience, log\n"},
  });
}

TEST(Errors, Quantities) {
  expect_all({
      {small() + "timing:\n  hold_max: 500\n",
       "c.yaml:17:13: timing.hold_max: 500: has no unit; write 500us or 500ms\n"},
      {small() + "timing:\n  hold_max: 5Gbps\n",
       "c.yaml:17:13: timing.hold_max: 5Gbps: not a time; write it like 10ms, 250us or 1.5s, at most one "
       "day\n"},
      {small() + "timing:\n  hold_max: 2s\n",
       "c.yaml:17:13: timing.hold_max: 2s: out of range; choose 1us to 1s\n"},
      {small() + "limits:\n  reorder_memory: 64Mbps\n",
       "c.yaml:17:19: limits.reorder_memory: 64Mbps: not a number of bytes; write it like 64KiB, 64MiB or "
       "2GiB\n"},
      {small() + "limits:\n  reorder_memory: 64\n",
       "c.yaml:17:19: limits.reorder_memory: 64: has no unit; write 64MiB or 64GiB\n"},
      {small() + "memory:\n  no-huge: 512\n",
       "c.yaml:17:12: memory.no-huge: 512: has no unit; write 512MiB or 512GiB\n"},
      {small() + "    egress:\n      burst: 262144\n",
       "c.yaml:17:14: spans[0].egress.burst: 262144: has no unit; write 256KiB or 256MiB\n"},
      {small() + "    egress:\n      burst: 8KiB\n",
       "c.yaml:17:14: spans[0].egress.burst: 8KiB: out of range; choose 16KiB to 1GiB\n"},
      {small() + "limits:\n  reserve_per_flow: 0\n",
       "c.yaml:17:21: limits.reserve_per_flow: 0: has no unit; write 0B\n"},
      {small() + "limits:\n  reorder_memory: -64\n",
       "c.yaml:17:19: limits.reorder_memory: -64: not a number of bytes; write it like 64KiB, 64MiB or 2GiB\n"},
      {small() + "limits:\n  reorder_memory: 0.3\n",
       "c.yaml:17:19: limits.reorder_memory: 0.3: has no unit; write it like 64KiB, 64MiB or 2GiB\n"},
      {small() + "    distance: 1000\n", "c.yaml:16:15: spans[0].distance: 1000: has no unit; write 1000km\n"},
      {small() + "    distance: 1000KM\n", ""},
      {small() + "    distance: 600 miles\n",
       "c.yaml:16:15: spans[0].distance: 600 miles: not a distance; write kilometres from 0 to 100000 with "
       "their "
       "unit, like 1000km\n"},
      {small() + "    egress:\n      rate: 100000000000\n",
       "c.yaml:17:13: spans[0].egress.rate: 100000000000: has no unit; write 100Gbps\n"},
      {small() + "    egress:\n      rate: 100\n",
       "c.yaml:17:13: spans[0].egress.rate: 100: has no unit; write 100Mbps or 100Gbps\n"},
      {small() + "    egress:\n      rate: 100GBps\n",
       "c.yaml:17:13: spans[0].egress.rate: 100GBps: not a rate; write it like 100Gbps, 400Mbps or 25G, from "
       "1kbps to "
       "100Tbps\n"},
      {small() + "tuning:\n  ack_every: 0\n",
       "c.yaml:17:14: tuning.ack_every: 0: not a whole number from 1 to 65536; write one\n"},
      {small() + "log:\n  level: loud\n",
       "c.yaml:17:10: log.level: loud: no such choice; write error, warning, info or debug\n"},
      {small() + "check_icrc: maybe\n", "c.yaml:16:13: check_icrc: maybe: no such choice; write on or off\n"},
      {small() + "admin:\n  mode: 0666\n",
       "c.yaml:17:9: admin.mode: 0666: gives every user of this machine access; write 0660 and set "
       "admin.group\n"},
      {small() + "admin:\n  mode: 0\n",
       "c.yaml:17:9: admin.mode: 0: lets nobody connect; write 0660, or 0600 for the daemon's user alone\n"},
      {small() + "admin:\n  mode: 0440\n",
       "c.yaml:17:9: admin.mode: 0440: lets nobody connect; write 0660, or 0600 for the daemon's user alone\n"},
      {small() + "admin:\n  mode: 0600\n", ""},
      {small() + "journal:\n  path: here\n",
       "c.yaml:17:9: journal.path: here: not an absolute path; the daemon runs in no folder of yours, write it "
       "from / "
       "on\n"},
  });
}

TEST(Errors, Addresses) {
  expect_all({
      {small() + "    budgets:\n      groups:\n        - {receivers: 10.1.2.3/16, rate: 1Gbps}\n",
       "c.yaml:18:23: spans[0].budgets.groups[0].receivers: 10.1.2.3/16: bits are set behind the prefix; write "
       "10.1.0.0/16, or a longer prefix\n"},
      {changed("192.0.2.1/30", "192.0.2.1"),
       "c.yaml:11:16: spans[0].wan.address: 192.0.2.1: the length of the link's prefix is missing; write it "
       "like "
       "192.0.2.1/30\n"},
      {changed("address: 192.0.2.2", "address: far.example"),
       "c.yaml:13:16: spans[0].peer.address: far.example: not an address; write an IPv4 or IPv6 address like "
       "192.0.2.1 "
       "or 2001:db8::1\n"},
      {changed("net_null0", "eth0"),
       "c.yaml:6:13: spans[0].lan.port: eth0: not a port; write a PCI address like 0000:3b:00.0, or a vdev "
       "like "
       "net_af_packet0,iface=eth1 (its name begins with net_ or virtio_user)\n"},
      {small() + "metrics:\n  listen: localhost:9464\n",
       "c.yaml:17:11: metrics.listen: localhost:9464: not an address with a port; write it like 127.0.0.1:9464 "
       "or "
       "[::1]:9464, or off\n"},
      {small() + "metrics:\n  listen: no\n",
       "c.yaml:17:11: metrics.listen: no: no address; write off where there shall be none\n"},
      {small() + "metrics:\n  listen: yes\n",
       "c.yaml:17:11: metrics.listen: yes: not an address with a port; write it like 127.0.0.1:9464 or "
       "[::1]:9464, or off\n"},
  });
}

TEST(Errors, Yaml) {
  const std::string deep = std::string(100, '[') + std::string(100, ']') + "\n";
  expect_all({
      {"", "c.yaml:1:1: the file is empty; begin with one of the examples, config/examples/one-span.yaml\n"},
      {"# nothing\n",
       "c.yaml:1:1: the file is empty; begin with one of the examples, config/examples/one-span.yaml\n"},
      {"workers:\n\tcores: 1\nx:\n \ty: 1\n",
       "c.yaml:2:1: a tab; YAML is indented by spaces alone\nc.yaml:4:2: a tab; YAML is indented by spaces "
       "alone\n"},
      {"name: \"x\ncheck_icrc: y\n", "c.yaml:1:7: a quoted text does not end on its line; close the quote\n"},
      {"name: 'x\n", "c.yaml:1:7: a quoted text does not end on its line; close the quote\n"},
      {"name: [x\n",
       "c.yaml:2:1: no YAML: end of sequence flow not found; look at the indentation, colons and quotes "
       "here\n"},
      {"\xef\xbb\xbfname: x\n", "c.yaml:1:1: a byte order mark; save the file as UTF-8 without one\n"},
      {small() + "---\nname: b\n", "c.yaml:16:1: a second document begins here; write one file for each\n"},
      {"a: " + deep, "c.yaml:1:19: deeper than 16 levels; no key stands as deep as this\n"},
      {"? [a]\n: b\n", "c.yaml:1:3: a list or section stands where a key should be; write `key: value`\n"},
      {std::string("na\0me: x\n", 9),
       "c.yaml:1:3: a byte that is no UTF-8 text; save the file as UTF-8, and name the right file\n"},
      {"name: \xff\n",
       "c.yaml:1:7: a byte that is no UTF-8 text; save the file as UTF-8, and name the right file\n"},
      {small() + "name: &n x\ncapture_folder: *n\n",
       "c.yaml:16:7: an anchor (&name) is not understood here; leave it out\n"
       "c.yaml:17:1: capture_folder: nothing stands here; write an absolute path, or leave the key out\n"
       "c.yaml:17:17: an alias (*name) is not understood here; write its content out\n"},
      {small() + "name: !!str x\n", "c.yaml:16:7: a tag (!type) is not understood here; leave it out\n"},
      {std::string((1 << 20) + 1, '#'),
       "c.yaml:1:1: larger than 1048576 bytes; this is no configuration of matchrdma\n"},
  });
}

TEST(Errors, TooMuch) {
  std::string keys, list = "classes: [";
  for (int i = 0; i < 100; ++i) keys += "k" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(said(keys), "c.yaml:65:1: more than 64 keys in one section; no section has as many\n");
  for (int i = 0; i < 30000; ++i) list += "a,";
  EXPECT_NE(said(list + "a]\n").find("more than 20000 values"), std::string::npos);
}

TEST(Errors, AllAreToldInOrder) {
  EXPECT_EQ(said("nam: x\nworkers: {cores: -1, burst: 0}\nspans: []\n"),
            "c.yaml:1:1: nam: no such key; did you mean `name`?\n"
            "c.yaml:2:18: workers.cores: -1: not a whole number from 0 to 1023; write one\n"
            "c.yaml:2:29: workers.burst: 0: not a whole number from 1 to 256; write one\n"
            "c.yaml:3:1: spans: names no span; write one at least, see the examples\n");
}

}  // namespace
}  // namespace matchrdma
