#include "host/register/proxy_client.h"

#include <algorithm>
#include <utility>

namespace matchrdma::host {

Result<std::unique_ptr<ProxyClient>> ProxyClient::make(const ProxyClientOptions& options,
                                                       std::shared_ptr<const TlsPskClient> key) {
  const auto address = socket_address(options.ip, options.port);
  if (!address) return Error{"registration listener: \"" + options.ip + "\" is not an IP address"};
  return std::unique_ptr<ProxyClient>(new ProxyClient(options, *address, std::move(key)));
}

ProxyClient::ProxyClient(const ProxyClientOptions& options, SocketAddress address,
                         std::shared_ptr<const TlsPskClient> key)
    : options_(options), address_(address), key_(std::move(key)), pause_(options.retry) {}
ProxyClient::~ProxyClient() = default;

ProxyClient::Wanted* ProxyClient::find(const ProxiedPair& pair) {
  const auto at = std::find_if(wanted_.begin(), wanted_.end(),
                               [&pair](const Wanted& w) { return w.pair.names_same(pair); });
  return at == wanted_.end() ? nullptr : &*at;
}

void ProxyClient::add(const ProxiedPair& pair, Told told, Instant now) {
  forget(pair);
  wanted_.push_back({pair, false, std::move(told), now});
}

void ProxyClient::remove(const ProxiedPair& pair, Told told, Instant now) {
  forget(pair);
  wanted_.push_back({pair, true, std::move(told), now});
}

void ProxyClient::forget(const ProxiedPair& pair) {
  std::erase_if(wanted_, [&pair](const Wanted& w) { return w.pair.names_same(pair); });
}

ProxyClient::Wanted* ProxyClient::most_due() {
  const auto at = std::min_element(wanted_.begin(), wanted_.end(),
                                   [](const Wanted& a, const Wanted& b) { return a.due < b.due; });
  return at == wanted_.end() ? nullptr : &*at;
}

Instant ProxyClient::next_wakeup() const {
  if (line_ && !line_->rests()) return line_->deadline();
  Instant at = line_ ? line_used_ + options_.linger : Instant::never();
  for (const Wanted& w : wanted_) at = earlier(at, line_ ? w.due : later(w.due, may_connect_));
  return at;
}

void ProxyClient::tell(Wanted& w, bool done, const std::string& why) {
  const bool same = w.was_told && w.was_done == done && w.last_why == why;
  w.was_told = true;
  w.was_done = done;
  w.last_why = why;
  if (!same && w.told) w.told({w.pair, w.remove, done, why});
}

// Nobody is dropped: the proxy may come back.
void ProxyClient::failed(const std::string& why, Instant now) {
  line_.reset();
  may_connect_ = now + pause_;
  pause_ = std::min(Duration{2 * pause_.ns}, options_.most_retry);
  const std::string sentence =
      "registration listener " + named_address(options_.ip, options_.port) + ": " + why;
  for (Wanted& w : wanted_)
    if (w.due <= now) tell(w, false, sentence);
}

void ProxyClient::take_answer(const std::string& answer, Instant now) {
  pause_ = options_.retry;
  line_used_ = now;
  Wanted* w = find(asked_);
  if (w == nullptr || w->remove != asked_remove_ || !(w->pair.local == asked_.local)) return;  // it was changed
  const auto reply = read_reply(answer);
  if (reply && !reply->done) {
    w->due = now + options_.again;
    return;
  }
  w->due = now + options_.renew;
  const ProxiedPair pair = w->pair;
  const bool ends = w->remove;
  tell(*w, reply.ok(), reply ? std::string() : "the proxy refuses: " + reply.error());
  if (ends) forget(pair);
}

void ProxyClient::run(Instant now) {
  if (line_) {
    line_->run(now);
    if (const auto answer = line_->take_answer()) take_answer(*answer, now);
    if (!line_->broken().empty()) {
      if (!line_->rests()) return failed(std::string(line_->broken()), now);
      line_.reset();  // closed while nothing was asked: the listener's right
    }
  }
  Wanted* next = most_due();
  const bool due = next != nullptr && next->due <= now;
  if (due && !line_ && may_connect_ <= now) {
    line_ = std::make_unique<ProxyLine>(address_, key_, now + options_.answer);
    line_used_ = now;
    if (!line_->broken().empty()) return failed(std::string(line_->broken()), now);
  }
  if (!line_ || !line_->ready()) return;
  if (due) {
    asked_ = next->pair;
    asked_remove_ = next->remove;
    line_used_ = now;
    line_->ask(request_line(asked_, asked_remove_), now + options_.answer);
  } else if (now >= line_used_ + options_.linger) {
    line_.reset();
  }
}

}  // namespace matchrdma::host
