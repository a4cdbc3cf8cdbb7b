#include "controlplane/service/tls_psk.h"

#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "config/psk_file.h"

namespace matchrdma::service {
namespace {

struct FreeCtx {
  void operator()(SSL_CTX* c) const { SSL_CTX_free(c); }
};
struct FreeSsl {
  void operator()(SSL* s) const { SSL_free(s); }
};
using SslPtr = std::unique_ptr<SSL, FreeSsl>;

/// A ticketless session that stands for the key (RFC 8446, 4.2.11: an external PSK goes with one hash).
SSL_SESSION* session_of(SSL* ssl, std::span<const uint8_t> key) {
  constexpr std::array<unsigned char, 2> kAes128GcmSha256{0x13, 0x01};
  const SSL_CIPHER* cipher = SSL_CIPHER_find(ssl, kAes128GcmSha256.data());
  SSL_SESSION* s = SSL_SESSION_new();
  if (s != nullptr && cipher != nullptr && SSL_SESSION_set1_master_key(s, key.data(), key.size()) == 1 &&
      SSL_SESSION_set_cipher(s, cipher) == 1 && SSL_SESSION_set_protocol_version(s, TLS1_3_VERSION) == 1) {
    return s;
  }
  SSL_SESSION_free(s);
  return nullptr;
}

class TlsStream : public Stream {
 public:
  TlsStream(FileDescriptor fd, SslPtr ssl) : fd_(std::move(fd)), ssl_(std::move(ssl)) {}
  int fd() const override { return fd_.get(); }
  bool trusted() const override { return trusted_; }
  short also_wants() const override { return wants_; }
  bool buffered() const override { return trusted_ && SSL_pending(ssl_.get()) > 0; }

  Moved read(std::span<char> into) override {
    if (!handshake()) return {broken_ ? Moved::Kind::kClosed : Moved::Kind::kWait, 0};
    size_t n = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(ssl_.get(), into.data(), into.size(), &n);
    return moved(result, n, SSL_ERROR_WANT_READ);
  }
  Moved write(std::string_view from) override {
    size_t n = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(ssl_.get(), from.data(), from.size(), &n);
    return moved(result, n, SSL_ERROR_WANT_WRITE);
  }

 private:
  bool handshake() {
    if (trusted_) return true;
    ERR_clear_error();
    const int done = SSL_accept(ssl_.get());
    trusted_ = done == 1;
    if (!trusted_) moved(done, 0, SSL_ERROR_NONE);
    return trusted_;
  }
  // `usual`: what the user of the stream polls for anyway when this must be tried again.
  Moved moved(int result, size_t bytes, int usual) {
    wants_ = 0;
    if (result > 0) return {Moved::Kind::kMoved, bytes};
    const int error = SSL_get_error(ssl_.get(), result);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
      if (error != usual) wants_ = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
      return {};
    }
    broken_ = true;
    return {Moved::Kind::kClosed, 0};
  }

  FileDescriptor fd_;
  SslPtr ssl_;
  short wants_ = POLLIN;
  bool trusted_ = false, broken_ = false;
};

}  // namespace

struct TlsPskServer::Impl {
  PskByIdentity keys;
  std::vector<uint8_t> nobodys_key = std::vector<uint8_t>(32);  ///< answers for identities that are unknown
  std::unique_ptr<SSL_CTX, FreeCtx> ctx;

  // An unknown identity gets a key that nobody has: it fails at the same place and with the same alert as a
  // wrong key.
  static int find(SSL* ssl, const unsigned char* identity, size_t length, SSL_SESSION** session) {
    const auto* self = static_cast<const Impl*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
    const auto it = self->keys.find(std::string(reinterpret_cast<const char*>(identity), length));
    *session = session_of(ssl, it == self->keys.end() ? self->nobodys_key : it->second);
    return *session != nullptr ? 1 : 0;
  }
};

TlsPskServer::TlsPskServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsPskServer::TlsPskServer(TlsPskServer&&) noexcept = default;
TlsPskServer::~TlsPskServer() = default;

Result<TlsPskServer> TlsPskServer::load(const std::string& file) {
  auto keys = read_psk_file(file);
  if (!keys) return Error{"PSK file " + file + ": " + keys.error()};
  auto impl = std::make_unique<Impl>();
  impl->keys = std::move(*keys);
  impl->ctx.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* c = impl->ctx.get();
  if (c == nullptr || RAND_bytes(impl->nobodys_key.data(), static_cast<int>(impl->nobodys_key.size())) != 1 ||
      SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(c, "TLS_AES_128_GCM_SHA256") != 1 || SSL_CTX_set_num_tickets(c, 0) != 1) {
    return Error{"OpenSSL does not offer TLS 1.3 with TLS_AES_128_GCM_SHA256 here; the TCP listener needs it"};
  }
  SSL_CTX_set_app_data(c, impl.get());
  SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_psk_find_session_callback(c, Impl::find);
  // libssl writes to sockets with write(): a client that goes away must not stop the daemon.
  std::signal(SIGPIPE, SIG_IGN);
  return TlsPskServer(std::move(impl));
}

std::unique_ptr<Stream> TlsPskServer::stream(FileDescriptor fd) const {
  SslPtr ssl(SSL_new(impl_->ctx.get()));
  if (!ssl || SSL_set_fd(ssl.get(), fd.get()) != 1) return nullptr;
  SSL_set_accept_state(ssl.get());
  return std::make_unique<TlsStream>(std::move(fd), std::move(ssl));
}

}  // namespace matchrdma::service
