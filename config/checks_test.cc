// What no key can tell alone: the whole sentence for each.
#include <gtest/gtest.h>

#include "config/test_config.h"

namespace matchrdma {
namespace {

using test::changed, test::said, test::small;

const std::string kSecondSpan =
    "  - name: t\n"                                                // 16
    "    lan: {port: net_null2}\n"                                 // 17
    "    wan: {port: net_null3, address: 192.0.2.5/30}\n"          // 18
    "    peer: {address: 192.0.2.6, keys: [{id: 1, file: k}]}\n";  // 19

std::string with_second(const std::string& from, const std::string& to) {
  std::string second = kSecondSpan;
  return small() + second.replace(second.find(from), from.size(), to);
}

TEST(Checks, WanMtuBelowLan) {
  EXPECT_EQ(said(changed("mtu: 1500\n      address", "mtu: 1400\n      address")),
            "c.yaml:10:12: spans[0].wan.mtu: 1400: the WAN carries 1400 bytes, the LAN 1500: packets of the "
            "LAN would "
            "be lost; raise wan.mtu to 1500 or lower lan.mtu\n");
}

TEST(Checks, UsedTwice) {
  EXPECT_EQ(said(small() + kSecondSpan), "");
  EXPECT_EQ(said(with_second("name: t", "name: s")),
            "c.yaml:16:11: spans[1].name: s: is the name of spans[0].name too; choose another one\n");
  EXPECT_EQ(
      said(with_second("net_null3", "net_null0")),
      "c.yaml:18:17: spans[1].wan.port: net_null0: is the port of spans[0].lan.port too; choose another one\n");
  EXPECT_EQ(
      said(with_second("192.0.2.5/30", "192.0.2.1/29")),
      "c.yaml:18:37: spans[1].wan.address: 192.0.2.1/29: is the address of spans[0].wan.address too; choose "
      "another one\n");
}

TEST(Checks, OnePortWrittenInTwoWays) {
  std::string text = changed("net_null0", "3B:00.0");
  text.replace(text.find("net_null1"), 9, "0000:3b:00.0");
  EXPECT_EQ(said(text),
            "c.yaml:9:13: spans[0].wan.port: 0000:3b:00.0: is the port of spans[0].lan.port too; choose "
            "another one\n");
  text = changed("net_null0", "net_af_packet0,iface=eth1");
  text.replace(text.find("net_null1"), 9, "net_af_packet1,iface=eth1");
  EXPECT_EQ(said(text),
            "c.yaml:9:13: spans[0].wan.port: net_af_packet1,iface=eth1: is on the interface of "
            "spans[0].lan.port too; "
            "choose another one\n");
}

TEST(Checks, PeerMustBeReachable) {
  EXPECT_EQ(
      said(changed("address: 192.0.2.2", "address: 203.0.113.9")),
      "c.yaml:13:16: spans[0].peer.address: 203.0.113.9: is not on the link of wan.address, 192.0.2.0/30; set "
      "wan.gateway, or a shorter prefix\n");
  EXPECT_EQ(said(changed("address: 192.0.2.2", "address: 192.0.2.1")),
            "c.yaml:13:16: spans[0].peer.address: 192.0.2.1: is wan.address itself; write the address of the "
            "proxy at "
            "the other end\n");
  EXPECT_EQ(
      said(changed("address: 192.0.2.2", "address: 2001:db8::1")),
      "c.yaml:13:16: spans[0].peer.address: 2001:db8::1: is of another IP version than wan.address; write both "
      "as IPv4 or both as IPv6\n");
  EXPECT_EQ(
      said(changed("1/30", "1/30\n      gateway: 10.0.0.1")),
      "c.yaml:12:16: spans[0].wan.gateway: 10.0.0.1: is not on the link of wan.address, 192.0.2.0/30; write a "
      "next hop that is, or a shorter prefix\n");
}

TEST(Checks, NextHopIsAnother) {
  EXPECT_EQ(
      said(changed("1/30", "1/30\n      gateway: 192.0.2.1")),
      "c.yaml:12:16: spans[0].wan.gateway: 192.0.2.1: is wan.address itself; write the address of the next "
      "hop, or leave the key out\n");
}

TEST(Checks, AddressesOfOneHost) {
  const auto peer = [](const std::string& address) {
    return said(changed("address: 192.0.2.2", "address: " + address));
  };
  const std::string at = "c.yaml:13:16: spans[0].peer.address: ", none = ": is no address of one host (",
                    remedy = "); write the unicast address of the proxy at the other end\n";
  EXPECT_EQ(peer("224.0.0.1"), at + "224.0.0.1" + none + "multicast" + remedy);
  EXPECT_EQ(peer("127.0.0.1"), at + "127.0.0.1" + none + "loopback" + remedy);
  EXPECT_EQ(peer("0.0.0.0"), at + "0.0.0.0" + none + "unspecified" + remedy);
  EXPECT_EQ(peer("255.255.255.255"), at + "255.255.255.255" + none + "broadcast" + remedy);
  EXPECT_EQ(peer("'ff02::1'"), at + "ff02::1" + none + "multicast" + remedy);
  EXPECT_EQ(peer("'::1'"), at + "::1" + none + "loopback" + remedy);
  EXPECT_EQ(peer("'::'"), at + "::" + none + "unspecified" + remedy);
  EXPECT_EQ(said(changed("192.0.2.1/30", "127.0.0.1/8")),
            "c.yaml:11:16: spans[0].wan.address: 127.0.0.1/8: is no address of one host (loopback); write a "
            "unicast address of this proxy\n");
  EXPECT_EQ(said(changed("1/30", "1/30\n      gateway: 0.0.0.0")),
            "c.yaml:12:16: spans[0].wan.gateway: 0.0.0.0: is no address of one host (unspecified); write the "
            "unicast address of the next hop\n");
}

TEST(Checks, NetworkAndBroadcastAddresses) {
  const std::string hosts = ", 192.0.2.0/30; write one of its hosts, 192.0.2.1 to 192.0.2.2\n";
  EXPECT_EQ(said(changed("192.0.2.1/30", "192.0.2.0/30")),
            "c.yaml:11:16: spans[0].wan.address: 192.0.2.0/30: is the network address of the link" + hosts);
  EXPECT_EQ(said(changed("192.0.2.1/30", "192.0.2.3/30")),
            "c.yaml:11:16: spans[0].wan.address: 192.0.2.3/30: is the broadcast address of the link" + hosts);
  EXPECT_EQ(said(changed("address: 192.0.2.2", "address: 192.0.2.0")),
            "c.yaml:13:16: spans[0].peer.address: 192.0.2.0: is the network address of the link" + hosts);
  EXPECT_EQ(said(changed("address: 192.0.2.2", "address: 192.0.2.3")),
            "c.yaml:13:16: spans[0].peer.address: 192.0.2.3: is the broadcast address of the link" + hosts);
  EXPECT_EQ(said(changed("1/30", "1/30\n      gateway: 192.0.2.3")),
            "c.yaml:12:16: spans[0].wan.gateway: 192.0.2.3: is the broadcast address of the link" + hosts);
  // RFC 3021: a link of two addresses has neither. Behind a gateway nobody here knows the peer's prefix.
  EXPECT_EQ(said(changed("192.0.2.1/30", "192.0.2.3/31")), "");
  std::string text = changed("1/30", "1/30\n      gateway: 192.0.2.2");
  EXPECT_EQ(said(text.replace(text.find("address: 192.0.2.2"), 18, "address: 10.0.0.255")), "");
}

TEST(Checks, LineRateAboveWhatAReceiverIsSent) {
  const std::string egress = small() + "    egress: {rate: 40Gbps}\n";
  EXPECT_NE(said(egress + "    estimator: {scheme: earned, line_rate: 100Gbps}\n")
                .find("c.yaml:17:44: spans[0].estimator.line_rate: 100Gbps: is above egress.rate, 40Gbps"),
            std::string::npos);
  EXPECT_EQ(said(egress + "    estimator: {scheme: earned, line_rate: 40Gbps}\n"), "");
  EXPECT_EQ(said(egress + "    estimator: {scheme: earned}\n"), "");
}

TEST(Checks, PeerMac) {
  const auto mac = [](const std::string& m) {
    return said(changed("address: 192.0.2.2", "address: 192.0.2.2\n      mac: " + m));
  };
  EXPECT_EQ(mac("02:00:00:00:00:0b"), "");
  const std::string remedy = "; write the MAC of the peer's WAN port, or leave the key out\n";
  EXPECT_EQ(mac("00:00:00:00:00:00"),
            "c.yaml:14:12: spans[0].peer.mac: 00:00:00:00:00:00: is no address of a port" + remedy);
  EXPECT_EQ(mac("01:00:5e:00:00:01"),
            "c.yaml:14:12: spans[0].peer.mac: 01:00:5e:00:00:01: is a group address" + remedy);
}

TEST(Checks, Keys) {
  EXPECT_EQ(said(changed("{id: 1, file: k}", "{id: 1, file: k}\n        - {id: 1, file: l}")),
            "c.yaml:16:16: spans[0].peer.keys[1].id: 1: stands at spans[0].peer.keys[0].id too; choose another "
            "one\n");
  EXPECT_EQ(said(changed("        - {id: 1, file: k}",
                         "        - {id: 1, file: k}\n        - {id: 2, file: l}\n        - {id: 3, file: m}")),
            "c.yaml:14:7: spans[0].peer.keys: has 3 keys; write one, or two while one is being replaced\n");
}

TEST(Checks, DistanceOrRtt) {
  EXPECT_EQ(said(small() + "    distance: 10km\n    rtt: 1ms\n"),
            "c.yaml:17:10: spans[0].rtt: 1ms: stands beside `distance`; keep one of the two\n");
}

TEST(Checks, LimitsInOrder) {
  EXPECT_EQ(
      said(small() + "limits:\n  custody_soft: 2GiB\n"),
      "c.yaml:17:17: limits.custody_soft: 2GiB: is more than limits.custody_hard (1GiB); lower it, or raise "
      "that\n");
  EXPECT_EQ(
      said(small() + "limits:\n  custody_hard: 1MiB\n"),
      "c.yaml:17:17: limits.custody_hard: 1MiB: is less than limits.custody_soft (768MiB); raise it, or lower "
      "that\n");
  EXPECT_EQ(
      said(small() + "limits:\n  custody_soft: much\n  custody_hard: 1MiB\n"),
      "c.yaml:17:17: limits.custody_soft: much: not a number of bytes; write it like 64KiB, 64MiB or 2GiB\n")
      << "what could not be read is not compared";
}

TEST(Checks, Daemon) {
  EXPECT_EQ(said(small() + "memory: {hugepages: 1GiB, no-huge: 1GiB}\n"),
            "c.yaml:16:36: memory.no-huge: 1GiB: stands beside memory.hugepages; keep one of the two\n");
}

TEST(Checks, OneUseOfAFile) {
  EXPECT_EQ(
      said(small() + "log: {file: /var/lib/m/x}\njournal: {path: /var/lib/m/../m//x}\n"),
      "c.yaml:17:17: journal.path: /var/lib/m/../m//x: is the file of log.file in line 16 too; choose another "
      "one\n");
  EXPECT_EQ(
      said(small() + "journal: {path: /run/j}\nlog: {file: /run/j.lock}\n"),
      "c.yaml:17:13: log.file: /run/j.lock: is the lock of journal.path in line 16 too; choose another one\n");
  EXPECT_EQ(
      said(small() + "journal: {path: /run/matchrdma/admin.sock}\n"),
      "c.yaml:16:17: journal.path: /run/matchrdma/admin.sock: is the socket of admin.socket by default too; "
      "choose another one\n");
  EXPECT_EQ(said(small() + "admin: {socket: /run/a}\ncapture_folder: /run/a\n"),
            "c.yaml:17:17: capture_folder: /run/a: is the socket of admin.socket in line 16 too; choose "
            "another one\n");
  EXPECT_EQ(
      said(changed("file: k", "file: /etc/k") + "register: {listen: '127.0.0.1:1', psk_file: /var/r}\n"
                                                "log: {file: /etc/k}\njournal: {path: /var/r}\n"),
      "c.yaml:17:13: log.file: /etc/k: is the file of spans[0].peer.keys[0].file in line 15 too; choose "
      "another one\n"
      "c.yaml:18:17: journal.path: /var/r: is the file of register.psk_file in line 16 too; choose another "
      "one\n");
}

TEST(Checks, OneWorkerOnACore) {
  EXPECT_EQ(said(changed("cores: 1", "cores: [1, 2, 1]")),
            "c.yaml:2:17: workers.cores[2]: 1: stands at workers.cores[0] too; choose another one\n");
  EXPECT_EQ(said(changed("cores: 1", "cores: [0, x]")),
            "c.yaml:2:14: workers.cores[1]: x: not a whole number from 0 to 1023; write one\n");
}

TEST(Checks, AcknowledgingNeedsTheIcrc) {
  EXPECT_EQ(said(small() + "check_icrc: off\nclasses:\n  - {name: c, completion: early}\n"),
            "c.yaml:18:27: classes[0].completion: early: acknowledges packets whose ICRC nobody checked; set "
            "check_icrc: on, or completion: transparent\n");
  EXPECT_EQ(said(small() + "check_icrc: off\nclasses:\n  - {name: c, completion: transparent}\n"), "");
}

TEST(Checks, ClassesThatNeverMatch) {
  EXPECT_EQ(
      said(small() +
           "classes:\n"
           "  - {name: a, match: {source: 10.0.0.0/8}, completion: early}\n"
           "  - {name: b, match: {source: [10.1.0.0/16, 10.2.0.0/16], dscp: 3}, completion: early}\n"),
      "warning: c.yaml:18:5: classes[1]: can never match: class a before it takes all of its traffic; move it "
      "up, or leave it out\n");
  EXPECT_EQ(said(small() +
                 "classes:\n"
                 "  - {name: a, match: {source: 10.0.0.0/8, vlan: 1}, completion: early}\n"
                 "  - {name: b, match: {source: [10.1.0.0/16, 11.2.0.0/16], vlan: 1}, completion: early}\n"),
            "");
  EXPECT_EQ(
      said(small() + "classes:\n  - {name: a, match: {source: 10.0.0.0/8, destination: 'fd00::/8'}, "
                     "completion: early}\n"),
      "warning: c.yaml:17:5: classes[0]: can never match: its sources and destinations are of different IP "
      "versions; correct them\n");
  EXPECT_EQ(said(small() + "classes:\n  - {name: a, match: {span: [s, x]}, completion: early}\n"),
            "c.yaml:17:33: classes[0].match.span[1]: x: no span has the name x; there are: s\n");
}

TEST(Checks, EmptyListsOfAClass) {
  const auto match = [](const std::string& list) {
    return said(small() + "classes:\n  - {name: a, match: {" + list + ": []}, completion: early}\n");
  };
  EXPECT_EQ(
      match("source"),
      "c.yaml:17:23: classes[0].match.source: is an empty list; write what it shall fit, like 10.1.0.0/16, or "
      "leave the key out: then any fits\n");
  for (const char* list : {"destination", "vlan", "dscp", "span"})
    EXPECT_NE(match(list).find(std::string(list) + ": is an empty list; write what"), std::string::npos)
        << list;
}

// H4
TEST(Checks, EndToEndFarAway) {
  const std::string classes = "classes:\n  - {name: a, completion: end-to-end}\n";
  EXPECT_EQ(said(small() + "    distance: 100km\n" + classes), "");
  EXPECT_EQ(said(small() + "    distance: 1000km\n" + classes),
            "warning: c.yaml:18:27: classes[0].completion: end-to-end: span s has an RTT of 10ms: above 1ms "
            "NICs with "
            "adaptive retransmission resend what is on its way; switch that off at the hosts, or look at "
            "spurious_retransmit\n");
}

}  // namespace
}  // namespace matchrdma
