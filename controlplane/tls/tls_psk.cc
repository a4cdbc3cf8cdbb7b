#include "controlplane/tls/tls_psk.h"

#include <openssl/rand.h>

#include <utility>

#include "controlplane/tls/psk_file.h"
#include "controlplane/tls/tls_stream.h"

namespace matchrdma {
namespace {

Error about(const std::string& file, const std::string& what) {
  return Error{"PSK file " + file + ": " + what};
}

}  // namespace

struct TlsPskServer::Impl {
  PskByIdentity keys;
  std::vector<uint8_t> nobodys_key = std::vector<uint8_t>(32);  ///< answers for identities that are unknown
  tls::CtxPtr ctx;

  // An unknown identity gets a key that nobody has: it fails at the same place and with the same alert as a
  // wrong key.
  static int find(SSL* ssl, const unsigned char* identity, size_t length, SSL_SESSION** session) {
    const auto* self = static_cast<const Impl*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
    const auto it = self->keys.find(std::string(reinterpret_cast<const char*>(identity), length));
    *session = tls::session_of(ssl, it == self->keys.end() ? self->nobodys_key : it->second);
    return *session != nullptr ? 1 : 0;
  }
};

TlsPskServer::TlsPskServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsPskServer::TlsPskServer(TlsPskServer&&) noexcept = default;
TlsPskServer::~TlsPskServer() = default;

Result<TlsPskServer> TlsPskServer::load(const std::string& file) {
  auto keys = read_psk_file(file);
  if (!keys) return about(file, keys.error());
  auto impl = std::make_unique<Impl>();
  impl->keys = std::move(*keys);
  impl->ctx = tls::make_context(TLS_server_method());
  if (!impl->ctx || RAND_bytes(impl->nobodys_key.data(), static_cast<int>(impl->nobodys_key.size())) != 1)
    return Error{tls::kNoTls};
  SSL_CTX_set_app_data(impl->ctx.get(), impl.get());
  SSL_CTX_set_psk_find_session_callback(impl->ctx.get(), Impl::find);
  return TlsPskServer(std::move(impl));
}

std::unique_ptr<Stream> TlsPskServer::stream(FileDescriptor fd) const {
  tls::SslPtr ssl(SSL_new(impl_->ctx.get()));
  if (!ssl) return nullptr;
  SSL_set_accept_state(ssl.get());
  return tls::make_stream(std::move(fd), std::move(ssl));
}

struct TlsPskClient::Impl {
  std::string identity;
  std::vector<uint8_t> key;
  tls::CtxPtr ctx;

  static int use(SSL* ssl, const EVP_MD*, const unsigned char** identity, size_t* length,
                 SSL_SESSION** session) {
    const auto* self = static_cast<const Impl*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
    *session = tls::session_of(ssl, self->key);
    *identity = reinterpret_cast<const unsigned char*>(self->identity.data());
    *length = self->identity.size();
    return *session != nullptr ? 1 : 0;
  }
};

TlsPskClient::TlsPskClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsPskClient::TlsPskClient(TlsPskClient&&) noexcept = default;
TlsPskClient::~TlsPskClient() = default;

Result<TlsPskClient> TlsPskClient::load(const std::string& file, const std::string& identity) {
  const auto keys = read_psk_file(file);
  if (!keys) return about(file, keys.error());
  if (identity.empty() && keys->size() != 1)
    return about(file, "holds " + std::to_string(keys->size()) + " keys; say which identity is to be used");
  const auto line = identity.empty() ? keys->begin() : keys->find(identity);
  if (line == keys->end()) return about(file, "has no line for the identity \"" + identity + "\"");
  auto impl = std::make_unique<Impl>(Impl{line->first, line->second, tls::make_context(TLS_client_method())});
  if (!impl->ctx) return Error{tls::kNoTls};
  SSL_CTX_set_app_data(impl->ctx.get(), impl.get());
  SSL_CTX_set_psk_use_session_callback(impl->ctx.get(), Impl::use);
  // No certificate is trusted: without this a server could pass over the key and show any.
  SSL_CTX_set_verify(impl->ctx.get(), SSL_VERIFY_PEER, nullptr);
  return TlsPskClient(std::move(impl));
}

const std::string& TlsPskClient::identity() const { return impl_->identity; }

std::unique_ptr<Stream> TlsPskClient::stream(FileDescriptor fd) const {
  tls::SslPtr ssl(SSL_new(impl_->ctx.get()));
  if (!ssl) return nullptr;
  SSL_set_connect_state(ssl.get());
  return tls::make_stream(std::move(fd), std::move(ssl));
}

}  // namespace matchrdma
