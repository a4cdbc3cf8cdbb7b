// Files: the configuration itself, its key files, and every example; and what one wrong byte does.
#include "config/load.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "config/key_file.h"
#include "config/print.h"
#include "config/reload.h"
#include "config/test_config.h"
#include "controlplane/tls/psk_file.h"
#include "dataplane/base/prng.h"
#include "dataplane/base/test_folder.h"

namespace matchrdma {
namespace {

namespace fs = std::filesystem;
using test::changed, test::small;

class Load : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content, mode_t mode = 0600) const {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    ::chmod(path.c_str(), mode);
    return path;
  }
  std::string key_error(const std::string& content, mode_t mode = 0600) const {
    const auto key = read_key_file(write("key", content, mode));
    return key ? "" : key.error();
  }

  test::TestFolder folder_;
};

const std::string kHex = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";

TEST_F(Load, KeyFiles) {
  const auto hex = read_key_file(write("hex", kHex + "\n"));
  ASSERT_TRUE(hex.ok()) << hex.error();
  EXPECT_EQ(hex->b[31], 0x1f);
  std::string raw(reinterpret_cast<const char*>(hex->b.data()), 32);
  EXPECT_EQ(*read_key_file(write("raw", raw)), *hex);
  EXPECT_EQ(key_error(kHex, 0400), "");
  EXPECT_EQ(key_error(kHex, 0640),
            "has mode 0640: others may read or change it; chmod 600 it, and take a new key");
  const std::string make = "; make one with: (umask 077; openssl rand -hex 32 > FILE)";
  EXPECT_EQ(key_error("short"), "holds no key: 64 hex digits or 32 raw bytes are needed" + make);
  EXPECT_EQ(key_error(kHex + "00"), "holds no key: 64 hex digits or 32 raw bytes are needed" + make);
  EXPECT_EQ(key_error(std::string(63, '1') + "g"), "holds characters that are no hex digits" + make);
  EXPECT_EQ(key_error(std::string(64, '0')), "holds zeros alone, which is no secret" + make);
  EXPECT_EQ(read_key_file(folder_ / "none").error(), "cannot be opened: No such file or directory" + make);
  EXPECT_EQ(read_key_file(folder_.path().string()).error(), "is no regular file; name the file with the key");
}

TEST_F(Load, KeyFileOfSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::string path = write("key", kHex);
  ASSERT_EQ(::chown(path.c_str(), 4242, 0), 0);
  EXPECT_EQ(read_key_file(path).error(), "belongs to user 4242; chown it to root or to the user who runs this");
}

TEST_F(Load, PskFilesArePrivateAndComplete) {
  const std::string key(32, 'a');
  const auto keys = read_psk_file(write("psk", "# keys\nhost1 " + key + "\n\nhost2 " + key + key + "\n"));
  ASSERT_TRUE(keys.ok()) << keys.error();
  EXPECT_EQ(keys->size(), 2u);
  EXPECT_EQ(keys->at("host1"), std::vector<uint8_t>(16, 0xaa));
  const auto error = [&](const std::string& text, mode_t mode = 0600) {
    const auto r = read_psk_file(write("psk", text, mode));
    if (r) return std::string();
    EXPECT_EQ(r.error().find(key), std::string::npos) << "a secret in an error";
    return r.error();
  };
  EXPECT_EQ(error("host1 " + key, 0640),
            "has mode 0640: others may read or change it; chmod 600 it, and take a new key");
  EXPECT_EQ(error("\nhost1 " + key + "z"), "line 2: write IDENTITY HEXKEY");
  EXPECT_EQ(error("host1 " + key + " more"), "line 1: write IDENTITY HEXKEY");
  EXPECT_EQ(error("host1 abcd"), "line 1: a key has 16 to 64 bytes; make one with openssl rand -hex 32");
  EXPECT_EQ(error("host1 " + key + "\nhost1 " + key), "line 2: this identity stands there twice");
  EXPECT_EQ(error(std::string(129, 'h') + " " + key), "line 1: the identity is longer than 128 bytes");
  EXPECT_EQ(error("# nothing\n"), "holds no key; write a line IDENTITY HEXKEY");
  EXPECT_EQ(error(std::string((64 << 10) + 1, '#')), "is longer than 64 KiB; name the file with the keys");
}

TEST_F(Load, PskFileOfTheListener) {
  write("k", kHex);
  const std::string path = write("c.yaml", small() + "register: {listen: '127.0.0.1:1', psk_file: psk}\n");
  const std::string at = path + ":16:45: register.psk_file: psk: ";
  EXPECT_EQ(
      complaints(load_config(path)),
      at + "cannot be opened: No such file or directory; write lines IDENTITY HEXKEY there, with keys made "
           "by: openssl rand -hex 32\n");
  EXPECT_TRUE(load_config(path, Keys::kLeave).ok());
  write("psk", "host1 x\n");
  EXPECT_EQ(complaints(load_config(path)), at + "line 1: write IDENTITY HEXKEY\n");
  const std::string psk = write("psk", "host1 " + kHex + "\n");
  const ConfigResult r = load_config(path);
  ASSERT_TRUE(r.ok()) << complaints(r);
  EXPECT_EQ(r.config->registration->psk_file, psk);
}

TEST_F(Load, KeysComeFromTheFolderOfTheFile) {
  const std::string path = write("c.yaml", small());
  EXPECT_EQ(
      complaints(load_config(path)).substr(path.size()),
      ":15:25: spans[0].peer.keys[0].file: k: cannot be opened: No such file or directory; make one with: "
      "(umask 077; openssl rand -hex 32 > FILE)\n");
  EXPECT_TRUE(load_config(path, Keys::kLeave).ok());
  write("k", kHex);
  const ConfigResult r = load_config(path);
  ASSERT_TRUE(r.ok()) << complaints(r);
  EXPECT_EQ(r.config->spans[0].peer.keys[0].secret.b[1], 1);
}

TEST_F(Load, TwoIdsNeedTwoKeys) {
  const std::string path =
      write("c.yaml", changed("{id: 1, file: k}", "{id: 1, file: k}\n        - {id: 2, file: k}"));
  write("k", kHex);
  EXPECT_NE(complaints(load_config(path)).find("holds the same key as the other one"), std::string::npos);
}

TEST_F(Load, OneUseOfAFileThroughLinks) {
  fs::create_directory_symlink(folder_.path(), folder_ / "link");
  const std::string own = folder_ / "c.yaml";
  const auto said = [&](const std::string& text) {
    return complaints(load_config(write("c.yaml", text), Keys::kLeave)).substr(own.size());
  };
  EXPECT_EQ(
      said(small() + "log: {file: " + (folder_ / "x") + "}\njournal: {path: " + (folder_ / "link/x") + "}\n"),
      ":17:17: journal.path: " + (folder_ / "link/x") +
          ": is the file of log.file in line 16 too; choose another one\n");
  EXPECT_EQ(said(small() + "log: {file: " + (folder_ / "link/k") + "}\n"),
            ":16:13: log.file: " + (folder_ / "link/k") +
                ": is the file of spans[0].peer.keys[0].file in line 15 too; choose another one\n")
      << "relative to the folder of the file";
  EXPECT_EQ(said(small() + "log: {file: " + own + "}\n"),
            ":16:13: log.file: " + own + ": is this configuration itself; choose another one\n");
}

TEST_F(Load, NoFile) {
  const std::string none = folder_ / "none";
  EXPECT_EQ(complaints(load_config(none)),
            none + ": no such file; name the configuration, or begin with config/examples/one-span.yaml\n");
  EXPECT_EQ(complaints(load_config(folder_.path().string())),
            folder_.path().string() + ": is a folder; name the file in it\n");
  if (::geteuid() == 0) return;  // root reads everything
  const std::string closed = write("closed", small(), 0);
  EXPECT_EQ(complaints(load_config(closed)),
            closed + ": cannot be opened: Permission denied; look at its owner and mode\n");
}

TEST(Examples, AreGoodAndSayWhatIsPrinted) {
  for (const std::string& name : test::examples()) {
    const ConfigResult r = load_config(test::example_path(name), Keys::kLeave);
    ASSERT_TRUE(r.ok()) << complaints(r);
    EXPECT_EQ(complaints(r), "") << name;
    const ConfigResult again = parse_config(print_config(*r.config), name + " printed");
    ASSERT_TRUE(again.ok()) << complaints(again) << print_config(*r.config);
    EXPECT_EQ(show_config(*again.config), show_config(*r.config)) << name;
    EXPECT_TRUE(restart_needed(*r.config, *again.config).empty());
  }
}

// Whatever one change does to a file: it is read, or there is an error with a line. Never both, never neither.
TEST(Examples, OneChangeIsReadOrTold) {
  Prng random(20);
  const std::string bytes = ":-[]{}#&*!|>'\"%@`,? \n\t\r\\0a9/.\x01\xff";
  for (const std::string& name : test::examples()) {
    const std::string good = test::file_content(test::example_path(name));
    for (int i = 0; i < 400; ++i) {
      std::string text = good;
      const size_t at = random.below(text.size());
      const char byte = bytes[random.below(bytes.size())];
      if (i % 3 == 0) text[at] = byte;
      if (i % 3 == 1) text.insert(at, 1, byte);
      if (i % 3 == 2) text.erase(at, 1 + random.below(40));
      const ConfigResult r = parse_config(text, name);
      EXPECT_EQ(r.ok(), r.errors.empty());
      for (const ConfigError& e : r.errors)
        EXPECT_TRUE(e.line >= 1 && e.column >= 1 && !e.text.empty()) << to_text(e);
    }
  }
}

}  // namespace
}  // namespace matchrdma
