#pragma once
// The part of TLS that both sides share. For the .cc files of this room alone: it names types of libssl.
#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <span>

#include "controlplane/tls/stream.h"

namespace matchrdma::tls {

struct FreeCtx {
  void operator()(SSL_CTX* c) const { SSL_CTX_free(c); }
};
struct FreeSsl {
  void operator()(SSL* s) const { SSL_free(s); }
};
using CtxPtr = std::unique_ptr<SSL_CTX, FreeCtx>;
using SslPtr = std::unique_ptr<SSL, FreeSsl>;

/// TLS 1.3 with the one cipher suite, no tickets, no session cache. nullptr where OpenSSL has it not.
CtxPtr make_context(const SSL_METHOD* method);

/// A ticketless session that stands for the key (RFC 8446, 4.2.11: an external PSK goes with one hash).
SSL_SESSION* session_of(SSL* ssl, std::span<const uint8_t> key);

/// `ssl` has its side set (SSL_set_accept_state, SSL_set_connect_state). nullptr when memory is short.
std::unique_ptr<Stream> make_stream(FileDescriptor fd, SslPtr ssl);

inline constexpr const char* kNoTls =
    "OpenSSL does not offer TLS 1.3 with TLS_AES_128_GCM_SHA256 here; TCP connections with a key need it";

}  // namespace matchrdma::tls
