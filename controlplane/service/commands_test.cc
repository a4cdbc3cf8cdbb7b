#include "controlplane/service/commands.h"

#include <gtest/gtest.h>

#include "controlplane/service/test_daemon.h"

namespace matchrdma::service {
namespace {

struct CommandsTest : testing::Test {
  TestDaemon daemon;
  ViewBoard board;
  Commands commands{daemon, board};

  Json run(const std::string& line, Rights rights = Rights::kAll) {
    const Outcome o = commands.run(line, rights, Instant{});
    EXPECT_TRUE(std::holds_alternative<std::string>(o)) << line;
    const std::string text = std::get<std::string>(o);
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    return Json::parse(text);
  }
  Json result(const std::string& line) {
    const Json r = run(line);
    EXPECT_TRUE(r["ok"].get<bool>()) << r.dump();
    return r["result"];
  }
  std::string error(const std::string& line, Rights rights = Rights::kAll) {
    const Json r = run(line, rights);
    EXPECT_FALSE(r["ok"].get<bool>()) << line;
    return r.value("error", "");
  }
};

constexpr const char* kPair =
    R"("local":{"ip":"10.0.0.1","qpn":17,"psn":100},"remote":{"ip":"10.0.1.1","qpn":18,"psn":200,"msn":3})";

std::string pair_line(const std::string& cmd, const std::string& more = "") {
  return R"({"v":1,"cmd":")" + cmd + R"(",)" + kPair + more + "}";
}

TEST_F(CommandsTest, HostileInputIsRefused) {
  EXPECT_NE(error("garbage").find("not JSON"), std::string::npos);
  for (const char* blank : {"", " \t", "\r"})
    EXPECT_EQ(error(blank), "the request is an empty line, not JSON; send one object per line");
  EXPECT_NE(error("[1]").find("not a JSON object"), std::string::npos);
  EXPECT_NE(error(std::string("\xff\xfe{\"v\":1}")).find("not JSON"), std::string::npos);
  EXPECT_NE(error(std::string(60'000, '[')).find("nested"), std::string::npos);
  EXPECT_NE(error(R"({"v":1,"cmd":"show","what":)" + std::string(20'000, '{')).find("nested"),
            std::string::npos);
  EXPECT_NE(error(R"({"v":1e999})").find("not JSON"), std::string::npos);
  EXPECT_NE(error(R"({"v":-1})").find("v: "), std::string::npos);
  EXPECT_TRUE(daemon.asked.empty());
}

TEST_F(CommandsTest, AnotherVersionIsToldWhichOneIsSpoken) {
  EXPECT_NE(error(R"({"v":2,"cmd":"show"})").find("speaks version 1"), std::string::npos);
}

TEST_F(CommandsTest, UnknownCommandListsWhatThereIs) {
  EXPECT_EQ(
      error(R"({"v":1,"cmd":"dance"})"),
      "there is no such command here; there is: show, register, unregister, mode, drain, reload, capture");
  EXPECT_EQ(error(R"({"v":1,"cmd":"show"})", Rights::kRegistration),
            "there is no such command here; there is: register, unregister");
}

TEST_F(CommandsTest, ShowNeedsAView) {
  EXPECT_NE(error(R"({"v":1,"cmd":"show","what":"status"})").find("starting"), std::string::npos);
  board.publish(test_view());
  for (const char* what :
       {"status", "workers", "ports", "peers", "budgets", "slots", "custody", "flows", "unpaired", "config"}) {
    EXPECT_FALSE(result(std::string(R"({"v":1,"cmd":"show","what":")") + what + R"("})").empty()) << what;
  }
  EXPECT_NE(error(R"({"v":1,"cmd":"show","what":"all"})").find("there is: flows, unpaired"), std::string::npos);
  EXPECT_NE(error(R"({"v":1,"cmd":"show","what":"ports","top":3})").find("\"top\" is not known here"),
            std::string::npos);
}

TEST_F(CommandsTest, SlotsShowEveryTerm) {
  board.publish(test_view());
  const Json rows = result(R"({"v":1,"cmd":"show","what":"slots"})")["slots"];
  ASSERT_EQ(rows.size(), 1u);
  const Json& r = rows[0];
  EXPECT_EQ(r["span"], "north");
  EXPECT_EQ(r["receiver"], "10.0.1.1");
  EXPECT_EQ(r["slot"], 5000);
  EXPECT_EQ(r["slot_ns"], 200'000);
  EXPECT_EQ(r["saturated"], true);
  EXPECT_EQ(r["capacity_bps"], 60'000'000'000);
  EXPECT_EQ(r["budget_bps"], 58'000'000'000);
  EXPECT_EQ(r["budget_validity_ns"], 4'000'000);
  EXPECT_EQ(r["budget_seq"], 17);
  for (const char* term :
       {"arrived_bps", "acked_bps", "level", "window", "period_slots", "lags_slots", "predictions_bps",
        "errors_bps", "weights", "forecast_bps", "tested_bps", "backlog_bytes", "queue_bytes",
        "projected_queue_bytes", "wanted_bps", "probed", "governs", "draining"})
    EXPECT_TRUE(r.contains(term)) << term;
}

TEST_F(CommandsTest, FlowsAreFiltered) {
  board.publish(test_view(10));
  const auto count = [this](const std::string& filter) {
    return result(R"({"v":1,"cmd":"show","what":"flows")" + filter + "}")["flows"].size();
  };
  EXPECT_EQ(count(""), 10u);
  EXPECT_EQ(count(R"(,"ip":"10.0.1.1")"), 5u);
  EXPECT_EQ(count(R"(,"qpn":103)"), 1u);
  EXPECT_EQ(count(R"(,"qpn":5003)"), 1u);
  EXPECT_EQ(count(R"(,"state":"opened")"), 4u);
  EXPECT_EQ(count(R"(,"state":"poisoned")"), 0u);
  EXPECT_EQ(count(R"(,"span":"north")"), 10u);
  const Json top = result(R"({"v":1,"cmd":"show","what":"flows","top":2})");
  ASSERT_EQ(top["flows"].size(), 2u);
  EXPECT_EQ(top["flows"][0]["owned_packets"], 9);
  EXPECT_EQ(top["matching"], 10);
  EXPECT_TRUE(top["next"].is_null());
  EXPECT_NE(error(R"({"v":1,"cmd":"show","what":"flows","ip":"here"})").find("not an IP"), std::string::npos);
}

TEST_F(CommandsTest, FiltersThatCanFitNothingAreRefused) {
  board.publish(test_view());
  const auto refused = [this](const std::string& what, const std::string& filter) {
    return error(R"({"v":1,"cmd":"show","what":")" + what + "\"," + filter + "}");
  };
  EXPECT_EQ(refused("flows", R"("span":"south")"), "span: there is no span south; there is: north");
  EXPECT_EQ(refused("unpaired", R"("span":"south")"), "span: there is no span south; there is: north");
  EXPECT_EQ(refused("flows", R"("state":"open")"),
            "state: \"open\" is no choice; choose one of: paired, opening, basing, barrier, active, reopening, "
            "doubted, closing, poisoned, transparent, idle, opened, tracking");
  EXPECT_EQ(refused("unpaired", R"("state":"active")"), "state: only paired flows have one; leave it out");
  EXPECT_EQ(refused("flows", R"("top":-1)"), "top: -1 is not a whole number from 0 to 1000000");
}

TEST_F(CommandsTest, PairsThatCannotBeAreRefused) {
  const auto refused = [this](const std::string& a, const std::string& b, const std::string& qpn) {
    return error(R"({"v":1,"cmd":"register","mtu":1024,"local":{"ip":")" + a +
                 R"(","qpn":17},"remote":{"ip":")" + b + R"(","qpn":)" + qpn + "}}");
  };
  const std::string none = " is no address of one host (", remedy = "); write that of the QP's port";
  EXPECT_EQ(refused("224.0.0.1", "10.0.1.1", "9"), "local.ip: 224.0.0.1" + none + "multicast" + remedy);
  EXPECT_EQ(refused("10.0.0.1", "0.0.0.0", "9"), "remote.ip: 0.0.0.0" + none + "unspecified" + remedy);
  EXPECT_EQ(refused("10.0.0.1", "127.0.0.1", "9"), "remote.ip: 127.0.0.1" + none + "loopback" + remedy);
  EXPECT_EQ(refused("10.0.0.1", "255.255.255.255", "9"),
            "remote.ip: 255.255.255.255" + none + "broadcast" + remedy);
  EXPECT_EQ(refused("fd00::1", "ff02::1", "9"), "remote.ip: ff02::1" + none + "multicast" + remedy);
  EXPECT_EQ(refused("10.0.0.1", "10.0.0.1", "9"),
            "remote: 10.0.0.1 is the address of local too; the ends of a pair are two hosts");
  for (const char* qpn : {"0", "1"}) {
    EXPECT_EQ(refused("10.0.0.1", "10.0.1.1", qpn),
              std::string("remote.qpn: ") + qpn +
                  " is not the QPN of a pair: QPs 0 and 1 carry management; choose 2 to 16777215");
  }
  EXPECT_EQ(refused("10.0.0.1", "10.0.1.1", "16777216"),
            "remote.qpn: 16777216 is not a whole number from 0 to 16777215");
  EXPECT_TRUE(daemon.asked.empty());
}

TEST_F(CommandsTest, LongListsComeInParts) {
  board.publish(test_view(4500));
  uint64_t seen = 0;
  Json next = 0;
  for (int parts = 0; !next.is_null(); ++parts) {
    ASSERT_LT(parts, 4);
    const Json part = result(R"({"v":1,"cmd":"show","what":"flows","from":)" + next.dump() + "}");
    seen += part["flows"].size();
    next = part["next"];
  }
  EXPECT_EQ(seen, 4500u);
  EXPECT_EQ(result(R"({"v":1,"cmd":"show","what":"flows","from":9999})")["flows"].size(), 0u);
}

TEST_F(CommandsTest, RegisterIsReadAndValidated) {
  const Json r = result(pair_line("register", R"(,"mtu":1024,"completion":"early","vlan":7,"credits":true)"));
  EXPECT_TRUE(r["done"].get<bool>());
  const Registration& reg = daemon.pair.reg;
  EXPECT_EQ(ip_text(reg.a.ip), "10.0.0.1");
  EXPECT_EQ(reg.a.qpn, Qpn{17});
  EXPECT_TRUE(reg.a.has_start);
  EXPECT_EQ(reg.b.start, Psn{200});
  EXPECT_EQ(reg.b.msn, 3);
  EXPECT_EQ(reg.path_mtu, 1024u);
  EXPECT_EQ(reg.vlan_outer, 7);
  EXPECT_TRUE(reg.credits);
  EXPECT_EQ(reg.completion, Completion::kEarly);

  EXPECT_NE(error(R"({"v":1,"cmd":"register"})").find("local: is missing"), std::string::npos);
  EXPECT_NE(error(pair_line("register")).find("mtu: is missing"), std::string::npos);
  EXPECT_NE(error(pair_line("register", R"(,"mtu":1500)")).find("mtu: choose"), std::string::npos);
  EXPECT_NE(error(pair_line("register", R"(,"completion":"never")")).find("transparent, early, end-to-end"),
            std::string::npos);
  EXPECT_NE(error(pair_line("register", R"(,"vlan":5000)")).find("vlan"), std::string::npos);
  EXPECT_NE(error(pair_line("register", R"(,"spam":1)")).find("\"spam\" is not known here"), std::string::npos);
  EXPECT_NE(error(pair_line("register", R"(,"mtu":1024,"span":"refused")")).find("there is: north"),
            std::string::npos);
  EXPECT_NE(error(R"({"v":1,"cmd":"register","local":{"ip":"10.0.0.1","qpn":1},"remote":{"ip":"::1","qpn":9}})")
                .find("local.qpn: 1 is not"),
            std::string::npos);
  EXPECT_NE(
      error(R"({"v":1,"cmd":"register","local":{"ip":"10.0.0.1","qpn":9},"remote":{"ip":"fd00::1","qpn":9}})")
          .find("IPv6"),
      std::string::npos);
}

TEST_F(CommandsTest, WhatTakesTimeIsAskedUntilItIsDone) {
  daemon.rounds = 3;
  Outcome o = commands.run(pair_line("unregister"), Rights::kRegistration, Instant{});
  ASSERT_TRUE(std::holds_alternative<Pending>(o));
  Pending& p = std::get<Pending>(o);
  EXPECT_FALSE(p(Instant{1}).has_value());
  const auto line = p(Instant{2});
  ASSERT_TRUE(line.has_value());
  EXPECT_TRUE(Json::parse(*line)["result"]["done"].get<bool>());
}

TEST_F(CommandsTest, PatienceEnds) {
  daemon.rounds = 1000;
  Outcome o = commands.run(R"({"v":1,"cmd":"drain","wait_ms":20})", Rights::kAll, Instant{});
  ASSERT_TRUE(std::holds_alternative<Pending>(o));
  Pending& p = std::get<Pending>(o);
  EXPECT_FALSE(p(Instant{} + Duration::millis(19)).has_value());
  const auto line = p(Instant{} + Duration::millis(20));
  ASSERT_TRUE(line.has_value());
  EXPECT_FALSE(Json::parse(*line)["result"]["done"].get<bool>());
}

TEST_F(CommandsTest, ModeNamesAClassOrAFlow) {
  EXPECT_EQ(result(R"({"v":1,"cmd":"mode","class":"bulk","mode":"drain"})")["text"], "mode is set");
  EXPECT_EQ(std::get<std::string>(daemon.mode.what), "bulk");
  EXPECT_EQ(daemon.mode.mode, Mode::kDrain);
  result(R"({"v":1,"cmd":"mode","flow":{"src":"10.0.0.1","dst":"10.0.1.1","qpn":9},"mode":"transparent"})");
  EXPECT_EQ(std::get<FlowKey>(daemon.mode.what).dst_qpn, Qpn{9});
  EXPECT_NE(error(R"({"v":1,"cmd":"mode","mode":"drain"})").find("either a class or a flow"),
            std::string::npos);
  EXPECT_NE(error(R"({"v":1,"cmd":"mode","class":"bulk"})").find("choose configured"), std::string::npos);
  EXPECT_NE(error(R"({"v":1,"cmd":"mode","class":"refused","mode":"drain"})").find("there is: bulk"),
            std::string::npos);
}

TEST_F(CommandsTest, ReloadTellsLineAndReason) {
  EXPECT_NE(error(R"({"v":1,"cmd":"reload"})").find("lab.yaml:7"), std::string::npos);
}

TEST_F(CommandsTest, CaptureStaysInItsFolder) {
  result(R"({"v":1,"cmd":"capture","action":"start","reasons":["icrc_wan"],"file":"a.pcapng","packets":5})");
  EXPECT_EQ(daemon.capture.reasons, std::vector<Reason>{Reason::kIcrcWan});
  EXPECT_EQ(daemon.capture.max_packets, 5u);
  EXPECT_EQ(result(R"({"v":1,"cmd":"capture","action":"stop"})")["packets"], 10);
  result(R"({"v":1,"cmd":"capture","action":"status"})");
  for (const char* file : {"/etc/passwd", "../x", "a/b", ".hidden", "a b", ""}) {
    const std::string line =
        R"({"v":1,"cmd":"capture","action":"start","reasons":["uc"],"file":")" + std::string(file) + R"("})";
    EXPECT_NE(error(line).find("file: "), std::string::npos) << file;
  }
  EXPECT_NE(
      error(R"({"v":1,"cmd":"capture","action":"start","reasons":["spam"],"file":"a"})").find("is no reason"),
      std::string::npos);
  EXPECT_NE(error(R"({"v":1,"cmd":"capture","action":"start","file":"a"})").find("at least one"),
            std::string::npos);
  EXPECT_NE(error(R"({"v":1,"cmd":"capture","action":"fly"})").find("start, stop, status"), std::string::npos);
}

}  // namespace
}  // namespace matchrdma::service
