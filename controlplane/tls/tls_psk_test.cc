#include "controlplane/tls/tls_psk.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <fstream>

#include "controlplane/tls/tls_stream.h"
#include "dataplane/base/test_folder.h"

namespace matchrdma {
namespace {

const std::string kKey(64, 'a'), kOtherKey(64, 'b');

struct TlsPsk : testing::Test {
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    const std::string path = folder / name;
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  TlsPskServer server(const std::string& text) {
    auto s = TlsPskServer::load(write("server", text));
    EXPECT_TRUE(s.ok());
    return std::move(*s);
  }
  TlsPskClient client(const std::string& text, const std::string& identity = "") {
    auto c = TlsPskClient::load(write("client", text), identity);
    EXPECT_TRUE(c.ok());
    return std::move(*c);
  }
  void connect() {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    server_end = FileDescriptor(ends[0]);
    client_end = FileDescriptor(ends[1]);
  }
  /// Both read until they trust each other, or neither has more to do.
  static void meet(Stream& a, Stream& b) {
    std::array<char, 16> nothing{};
    for (int i = 0; i < 10; ++i) {
      a.read(nothing);
      b.read(nothing);
    }
  }
  test::TestFolder folder;
  FileDescriptor server_end, client_end;
};

TEST_F(TlsPsk, BytesPassBothWays) {
  const auto s = server("other " + kOtherKey + "\nhost-a " + kKey + "\n");
  const auto c = client("host-a " + kKey + "\n");
  EXPECT_EQ(c.identity(), "host-a");
  connect();
  const auto at_server = s.stream(std::move(server_end));
  const auto at_client = c.stream(std::move(client_end));
  EXPECT_FALSE(at_client->trusted());
  EXPECT_EQ(at_client->write("early").kind, Moved::Kind::kWait);
  meet(*at_server, *at_client);
  ASSERT_TRUE(at_server->trusted() && at_client->trusted());
  std::array<char, 16> got{};
  for (const auto& [from, to] :
       {std::pair(at_server.get(), at_client.get()), {at_client.get(), at_server.get()}}) {
    ASSERT_EQ(from->write("hello").bytes, 5u);
    ASSERT_EQ(to->read(std::span(got).first(2)).bytes, 2u);
    EXPECT_TRUE(to->buffered());
    ASSERT_EQ(to->read(got).bytes, 3u);
    EXPECT_FALSE(to->buffered());
  }
}

TEST_F(TlsPsk, AnotherKeyAndAnUnknownIdentityAreRefused) {
  const auto s = server("host-a " + kKey + "\n");
  for (const std::string& line : {"host-a " + kOtherKey, "host-b " + kKey}) {
    const auto c = client(line + "\n");
    connect();
    const auto at_server = s.stream(std::move(server_end));
    const auto at_client = c.stream(std::move(client_end));
    meet(*at_server, *at_client);
    EXPECT_FALSE(at_server->trusted() || at_client->trusted());
    EXPECT_EQ(at_client->why(), "refused the key");
    EXPECT_EQ(at_server->why(), "has another key");
  }
}

TEST_F(TlsPsk, WhoIsGoneEndsNoProcess) {
  const auto s = server("host-a " + kKey + "\n");
  const auto c = client("host-a " + kKey + "\n");
  connect();
  const auto at_server = s.stream(std::move(server_end));
  auto at_client = c.stream(std::move(client_end));
  meet(*at_server, *at_client);
  at_client.reset();
  Moved m = at_server->write("hello");
  m = at_server->write("hello");
  EXPECT_EQ(m.kind, Moved::Kind::kClosed);
  connect();
  client_end = FileDescriptor();
  const auto alone = c.stream(std::move(server_end));
  EXPECT_EQ(alone->write("hello").kind, Moved::Kind::kClosed);
  EXPECT_EQ(alone->why(), "hung up before it had shown a key");
}

TEST_F(TlsPsk, BytesThatAreNoTlsAreRefused) {
  const auto s = server("host-a " + kKey + "\n");
  const auto c = client("host-a " + kKey + "\n");
  const std::string http = "GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n";
  for (const bool at_server : {true, false}) {
    connect();
    const auto stream = at_server ? s.stream(std::move(server_end)) : c.stream(std::move(server_end));
    ASSERT_EQ(::send(client_end.get(), http.data(), http.size(), 0), static_cast<ssize_t>(http.size()));
    std::array<char, 16> nothing{};
    stream->read(nothing);
    EXPECT_EQ(stream->read(nothing).kind, Moved::Kind::kClosed);
    EXPECT_EQ(stream->why(), "does not speak TLS 1.3 with a key");
  }
}

// A client that asks for no certificate check would take this server for one that has the key.
TEST_F(TlsPsk, ACertificateIsNoKey) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  ASSERT_TRUE(key != nullptr && certificate != nullptr);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  ASSERT_GT(X509_sign(certificate, key, EVP_sha256()), 0);
  const tls::CtxPtr ctx = tls::make_context(TLS_server_method());
  ASSERT_EQ(SSL_CTX_use_certificate(ctx.get(), certificate), 1);
  ASSERT_EQ(SSL_CTX_use_PrivateKey(ctx.get(), key), 1);
  tls::SslPtr ssl(SSL_new(ctx.get()));
  SSL_set_accept_state(ssl.get());
  const auto c = client("host-a " + kKey + "\n");
  connect();
  const auto at_server = tls::make_stream(std::move(server_end), std::move(ssl));
  const auto at_client = c.stream(std::move(client_end));
  meet(*at_client, *at_server);
  EXPECT_FALSE(at_client->trusted() || at_server->trusted());
  EXPECT_EQ(at_client->why(), "shows a certificate in place of the key");
  X509_free(certificate);
  EVP_PKEY_free(key);
}

TEST_F(TlsPsk, ClientsKeyFile) {
  const auto error = [](const Result<TlsPskClient>& r) { return r ? std::string() : r.error(); };
  const std::string two = write("two", "a " + kKey + "\nb " + kOtherKey + "\n");
  EXPECT_EQ(error(TlsPskClient::load(two, "")),
            "PSK file " + two + ": holds 2 keys; say which identity is to be used");
  EXPECT_EQ(error(TlsPskClient::load(two, "c")), "PSK file " + two + ": has no line for the identity \"c\"");
  EXPECT_EQ(error(TlsPskClient::load(two, "b")), "");
  const std::string open = write("open", "a " + kKey + "\n", 0644);
  EXPECT_EQ(error(TlsPskClient::load(open, "")).find("PSK file " + open + ": has mode 0644"), 0u);
}

}  // namespace
}  // namespace matchrdma
