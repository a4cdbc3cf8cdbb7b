#include "proxy/xfer_registration.h"

#include <utility>

namespace matchrdma {
namespace {

host::FlowEnd flow_end(const host::QpAddress& a) { return {a.gid, a.qpn, a.psn}; }

}  // namespace

Result<std::unique_ptr<XferRegistration>> XferRegistration::make(const std::string& ip, uint16_t port,
                                                                 const std::string& key_file) {
  auto key = TlsPskClient::load(key_file, "");
  if (!key) return Error{key.error()};
  host::ProxyClientOptions o;
  o.ip = ip;
  o.port = port;
  auto client = host::ProxyClient::make(o, std::make_shared<const TlsPskClient>(std::move(*key)));
  if (!client) return Error{client.error()};
  return std::unique_ptr<XferRegistration>(new XferRegistration(std::move(*client)));
}

host::ProxyClient::Told XferRegistration::told() {
  return [this](const host::PairOutcome& o) {
    if (o.done && !o.remove) {
      ++known_;
    } else if (!o.done) {
      news_.push_back("queue pair " + std::to_string(o.pair.local.qpn) +
                      (o.remove ? " is not un" : " is not ") + "registered: " + o.why);
    }
  };
}

void XferRegistration::tell(const std::vector<host::MessageEnd::Flow>& flows, uint32_t path_mtu, Instant now) {
  for (const host::MessageEnd::Flow& f : flows) {
    const host::ProxiedPair pair{flow_end(f.local), flow_end(f.remote), path_mtu};
    if (f.gone) {
      client_->remove(pair, told(), now);
      std::erase_if(pairs_, [&pair](const host::ProxiedPair& p) { return p.names_same(pair); });
    } else {
      client_->add(pair, told(), now);
      pairs_.push_back(pair);
    }
  }
}

void XferRegistration::end(Instant now) {
  for (const host::ProxiedPair& p : pairs_) client_->remove(p, told(), now);
  pairs_.clear();
}

}  // namespace matchrdma
