// Two ends that know the verbs NIC and the control connection alone, and compare every byte:
//   verbs_pair --key FILE [--device NAME] [--mtu BYTES] [SERVER]
// The server names none. Each end tests the other: datagrams both ways, WRITEs with immediate over UC and RC, a
// key that is gone, and a fence. The last line is "all steps passed" or what went wrong.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/host/verbs_end.h"

namespace {

using namespace matchrdma;
using namespace matchrdma::host;
using Kind = Completion::Kind;
using Status = Completion::Status;

constexpr size_t kMessage = 16 << 10;
constexpr uint32_t kMessages = 16;
constexpr uint8_t kUntouched = 0xee;
constexpr Duration kLongEnough = Duration::millis(300);

uint8_t pattern(uint32_t seed, size_t at) { return static_cast<uint8_t>(seed * 31 + at * 7 + (at >> 8)); }

/// The keys a peer may write with: of memory that stays, and of memory that will be taken back.
struct Grant {
  uint64_t remote = 0, doomed_remote = 0;
  uint32_t rkey = 0, doomed_rkey = 0;
};

/// Duty: the steps of the test, the same at both ends but for who begins.
class Steps {
 public:
  explicit Steps(const EndOptions& o)
      : end_(o),
        source_(kMessages * kMessage),
        target_(kMessages * kMessage),
        doomed_(kMessage),
        page_(o.path_mtu) {
    std::printf("%s\n", end_.summary().c_str());
    end_.add(source_, Access::kLocal);
    end_.add(target_, Access::kRemoteWrite);
    end_.add(doomed_, Access::kRemoteWrite);
    end_.add(page_, Access::kLocal);
  }

  void run() {
    grants_as_datagrams();
    for (const auto path : {VerbsEnd::kUc, VerbsEnd::kRc}) {
      in_turn([&] { write(path); }, [&] { take(path); });
      std::printf("%s: %u WRITEs with immediate each way, bytes compared\n",
                  path == VerbsEnd::kUc ? "UC" : "RC", kMessages);
    }
    in_turn([&] { write_to_nothing(); }, [&] { nothing_arrives(); });
    std::printf("UC: nothing is written through a key that is gone, and the queue pairs go on\n");
    in_turn([&] { ask_for_fence(); }, [&] { fence(); });
    std::printf("RC: fenced\n");
    end_.good_bye();
  }

 private:
  template <class Active, class Passive>
  void in_turn(Active active, Passive passive) {
    for (const bool client_first : {true, false}) {
      if (client_first == end_.is_client()) {
        active();
      } else {
        passive();
      }
      end_.meet("the end of a step");
    }
  }

  void sent(VerbsEnd::Path p, uint64_t id) {
    const Completion c = end_.completion(p, "the completion of a request");
    require(c.kind == Kind::kSend && c.status == Status::kOk && c.id == id,
            "a request did not end as it should");
  }

  void grants_as_datagrams() {
    const Grant mine{target_.region.remote, doomed_.region.remote, target_.region.rkey, doomed_.region.rkey};
    for (size_t i = 0; i < page_.bytes.size(); ++i) page_.bytes[i] = pattern(end_.is_client(), i);
    std::memcpy(page_.bytes.data(), &mine, sizeof mine);
    end_.send(VerbsEnd::kUd, {.op = SendRequest::Op::kSend,
                              .signalled = true,
                              .id = 7,
                              .data = page_.bytes,
                              .lkey = page_.region.lkey});
    for (int both = 0; both < 2; ++both) {
      const Completion c = end_.completion(VerbsEnd::kUd, "a datagram, or the completion of one");
      require(c.status == Status::kOk, "a datagram failed");
      if (c.kind == Kind::kSend) continue;
      require(c.bytes == kUdPrefix + end_.path_mtu(), "a datagram has another length than was sent");
      const Bytes got = end_.datagram(c.id).subspan(kUdPrefix);
      std::memcpy(&theirs_, got.data(), sizeof theirs_);
      for (size_t i = sizeof theirs_; i < got.size(); ++i)
        require(got[i] == pattern(!end_.is_client(), i), "a datagram holds other bytes than were sent");
      end_.repost(VerbsEnd::kUd, c.id);
    }
    end_.meet("datagrams sent");
    std::printf("UD: a datagram of the path MTU each way, bytes compared\n");
  }

  void write(VerbsEnd::Path p) {
    for (size_t i = 0; i < source_.bytes.size(); ++i) source_.bytes[i] = pattern(3 + p, i);
    end_.meet("the target is empty");
    for (uint32_t m = 0; m < kMessages; ++m) {
      const bool signalled = m % 4 == 3;
      end_.send(p, {.op = SendRequest::Op::kWriteImm,
                    .signalled = signalled,
                    .id = m,
                    .data = Bytes(source_.bytes).subspan(m * kMessage, kMessage),
                    .lkey = source_.region.lkey,
                    .remote = theirs_.remote + m * kMessage,
                    .rkey = theirs_.rkey,
                    .immediate = 0xa0b0c000 + m});
      // UC has no flow control but ours: four messages at a time.
      if (!signalled) continue;
      sent(p, m);
      end_.meet("four messages");
    }
  }

  void take(VerbsEnd::Path p) {
    std::fill(target_.bytes.begin(), target_.bytes.end(), kUntouched);
    end_.meet("the target is empty");
    for (uint32_t m = 0; m < kMessages; ++m) {
      const Completion c = end_.completion(p, "message " + std::to_string(m));
      require(c.kind == Kind::kReceiveImm && c.status == Status::kOk, "a message did not end as it should");
      require(c.immediate == 0xa0b0c000 + m, "another immediate than was sent");
      require(c.bytes == kMessage, "a message has another length than was sent");
      end_.repost(p, c.id);
      if (m % 4 == 3) end_.meet("four messages");
    }
    for (size_t i = 0; i < target_.bytes.size(); ++i)
      require(target_.bytes[i] == pattern(3 + p, i),
              "byte " + std::to_string(i) + " is another than was written");
  }

  void write_to_nothing() {
    end_.meet("the key is gone");
    SendRequest r{.signalled = true,
                  .id = 1,
                  .data = Bytes(source_.bytes).first(kMessage),
                  .lkey = source_.region.lkey,
                  .remote = theirs_.doomed_remote,
                  .rkey = theirs_.doomed_rkey,
                  .immediate = 0xdead};
    end_.send(VerbsEnd::kUc, r);
    sent(VerbsEnd::kUc, 1);
    r.id = 2;
    r.remote = theirs_.remote;
    r.rkey = theirs_.rkey;
    r.immediate = 0xa11fe;
    end_.send(VerbsEnd::kUc, r);
    sent(VerbsEnd::kUc, 2);
  }

  void nothing_arrives() {
    std::fill(doomed_.bytes.begin(), doomed_.bytes.end(), kUntouched);
    end_.nic().remove_region(doomed_.region);
    end_.meet("the key is gone");
    const Completion c = end_.completion(VerbsEnd::kUc, "the message behind the one that went nowhere");
    require(c.kind == Kind::kReceiveImm && c.status == Status::kOk && c.immediate == 0xa11fe,
            "the message that went nowhere completed here");
    end_.repost(VerbsEnd::kUc, c.id);
    require(end_.completions_for(VerbsEnd::kUc, kLongEnough).empty(), "a completion that nobody sent");
    for (const uint8_t b : doomed_.bytes) require(b == kUntouched, "a key that is gone was written through");
  }

  void ask_for_fence() {
    end_.say(Fence{VerbsEnd::kRc, 1});
    const auto f = std::get<Fenced>(end_.hear("the answer to the fence"));
    require(f == Fenced{VerbsEnd::kRc, 1, kMessages, {}}, "the fence tells of another number of messages");
  }

  void fence() {
    require(end_.hear("a fence") == ControlMessage(Fence{VerbsEnd::kRc, 1}), "the fence is for another path");
    end_.nic().fail_qp(end_.qp(VerbsEnd::kRc));
    const auto flushed = end_.completions_for(VerbsEnd::kRc, kLongEnough);
    require(flushed.size() == VerbsEnd::kReceives,
            std::to_string(flushed.size()) + " receive requests were flushed");
    for (const Completion& c : flushed)
      require(c.kind == Kind::kReceive && c.status == Status::kFlushed, "something was not flushed but done");
    end_.say(Fenced{VerbsEnd::kRc, 1, kMessages, {}});
  }

  VerbsEnd end_;
  Block source_, target_, doomed_, page_;
  Grant theirs_;
};

bool parse(int argc, char** argv, EndOptions& o) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--key" && has_value) {
      o.key_file = argv[++i];
    } else if (word == "--device" && has_value) {
      o.device = argv[++i];
    } else if (word == "--mtu" && has_value) {
      o.path_mtu = static_cast<uint32_t>(std::atoi(argv[++i]));
    } else if (!word.starts_with("-") && o.server.empty()) {
      o.server = word;
    } else {
      return false;
    }
  }
  return !o.key_file.empty();
}

}  // namespace

int main(int argc, char** argv) {
  EndOptions o;
  if (!parse(argc, argv, o)) {
    std::fprintf(stderr, "usage: verbs_pair --key FILE [--device NAME] [--mtu BYTES] [SERVER]\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    Steps(o).run();
  } catch (const std::exception& e) {
    std::printf("FAILED: %s\n", e.what());
    return 1;
  }
  std::printf("all steps passed\n");
  return 0;
}
