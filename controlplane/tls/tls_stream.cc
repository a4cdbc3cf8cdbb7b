#include "controlplane/tls/tls_stream.h"

#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace matchrdma::tls {
namespace {

// libssl's own socket BIO writes with write(): a peer that goes away would end the process by SIGPIPE, and
// which signals a process ignores is not for a library to say.
int fd_of(BIO* b) { return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(b))); }

bool try_again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

int send_bytes(BIO* b, const char* from, int n) {
  BIO_clear_retry_flags(b);
  const ssize_t sent = ::send(fd_of(b), from, static_cast<size_t>(n), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && try_again()) BIO_set_retry_write(b);
  return static_cast<int>(sent);
}

int receive_bytes(BIO* b, char* into, int n) {
  BIO_clear_retry_flags(b);
  const ssize_t got = ::recv(fd_of(b), into, static_cast<size_t>(n), MSG_DONTWAIT);
  if (got < 0 && try_again()) BIO_set_retry_read(b);
  return static_cast<int>(got);
}

long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO* socket_bio(int fd) {
  static BIO_METHOD* const kMethod = [] {
    BIO_METHOD* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without SIGPIPE");
    if (m != nullptr) {
      BIO_meth_set_write(m, send_bytes);
      BIO_meth_set_read(m, receive_bytes);
      BIO_meth_set_ctrl(m, control);
    }
    return m;
  }();
  BIO* b = kMethod != nullptr ? BIO_new(kMethod) : nullptr;
  if (b == nullptr) return nullptr;
  BIO_set_data(b, reinterpret_cast<void*>(intptr_t{fd}));  // NOLINT: how BIOs hold a descriptor
  BIO_set_init(b, 1);
  return b;
}

/// What the newest error of a handshake means to people.
const char* handshake_failure(bool server) {
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  if (reason == 0) return "hung up before it had shown a key";
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) return "shows a certificate in place of the key";
  if (server && (reason == SSL_R_BINDER_DOES_NOT_VERIFY || reason == SSL_R_BAD_PSK)) return "has another key";
  if (reason > SSL_AD_REASON_OFFSET) return "refused the key";
  return "does not speak TLS 1.3 with a key";
}

class TlsStream : public Stream {
 public:
  TlsStream(FileDescriptor fd, SslPtr ssl) : fd_(std::move(fd)), ssl_(std::move(ssl)) {}
  int fd() const override { return fd_.get(); }
  bool trusted() const override { return trusted_; }
  short also_wants() const override { return wants_; }
  bool buffered() const override { return trusted_ && SSL_pending(ssl_.get()) > 0; }
  std::string_view why() const override { return why_; }

  Moved read(std::span<char> into) override {
    if (!handshake()) return {broken_ ? Moved::Kind::kClosed : Moved::Kind::kWait, 0};
    size_t n = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(ssl_.get(), into.data(), into.size(), &n);
    return moved(result, n, SSL_ERROR_WANT_READ);
  }
  Moved write(std::string_view from) override {
    if (!handshake()) return {broken_ ? Moved::Kind::kClosed : Moved::Kind::kWait, 0};
    size_t n = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(ssl_.get(), from.data(), from.size(), &n);
    return moved(result, n, SSL_ERROR_WANT_WRITE);
  }

 private:
  bool handshake() {
    if (trusted_ || broken_) return trusted_;
    ERR_clear_error();
    const int done = SSL_do_handshake(ssl_.get());
    // That the key was used is asked for, not inferred: a handshake can also succeed with a certificate.
    trusted_ = done == 1 && SSL_session_reused(ssl_.get()) == 1;
    if (done != 1) {
      moved(done, 0, SSL_ERROR_NONE);
      if (broken_) why_ = handshake_failure(SSL_is_server(ssl_.get()) == 1);
    } else if (!trusted_) {
      broken_ = true;
      why_ = "came in without the key";
    } else {
      wants_ = 0;
    }
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
  std::string_view why_;
};

}  // namespace

CtxPtr make_context(const SSL_METHOD* method) {
  CtxPtr ctx(SSL_CTX_new(method));
  SSL_CTX* c = ctx.get();
  if (c == nullptr || SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(c, "TLS_AES_128_GCM_SHA256") != 1 || SSL_CTX_set_num_tickets(c, 0) != 1) {
    return nullptr;
  }
  SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return ctx;
}

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

std::unique_ptr<Stream> make_stream(FileDescriptor fd, SslPtr ssl) {
  BIO* const socket = socket_bio(fd.get());
  if (socket == nullptr) return nullptr;
  SSL_set_bio(ssl.get(), socket, socket);
  return std::make_unique<TlsStream>(std::move(fd), std::move(ssl));
}

}  // namespace matchrdma::tls
