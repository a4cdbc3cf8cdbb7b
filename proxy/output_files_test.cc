#include "proxy/output_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace matchrdma {
namespace {

namespace fs = std::filesystem;

struct OutputFiles : testing::Test {
  OutputFiles() {
    fs::create_directories(folder);
    std::ofstream(in) << "capture";
  }
  ~OutputFiles() override { fs::remove_all(folder); }
  std::string complaint(const std::vector<OutputFile>& o) const {
    const auto r = check_outputs(in, o);
    return r ? "" : r.error();
  }
  const fs::path folder = fs::path(testing::TempDir()) / "output_files";
  const std::string in = (folder / "in.pcap").string();
  const std::string out = (folder / "out.pcap").string();
};

TEST_F(OutputFiles, InputUnderEveryNameIsRefused) {
  const fs::path soft = folder / "soft.pcap", hard = folder / "hard.pcap";
  fs::create_symlink(in, soft);
  fs::create_hard_link(in, hard);
  for (const std::string& name : {in, soft.string(), hard.string(), (folder / "." / "in.pcap").string(),
                                  (folder / "x/../in.pcap").string()}) {
    EXPECT_NE(complaint({{"--json", name}}).find("is the capture that is read"), std::string::npos) << name;
  }
  std::string text;
  std::ifstream(in) >> text;
  EXPECT_EQ(text, "capture");
}

TEST_F(OutputFiles, TwoOutputsIntoOneFileAreRefused) {
  EXPECT_NE(complaint({{"--write-lan-a", out}, {"--json", (folder / "y/../out.pcap").string()}})
                .find("--write-lan-a"),
            std::string::npos);
  EXPECT_FALSE(complaint({{"--write-lan-a", "-"}, {"--json", "-"}}).empty());
  EXPECT_TRUE(complaint({{"--write-lan-a", out}, {"--json", "-"}, {"--write-wan", ""}}).empty());
}

TEST_F(OutputFiles, WhatCannotBeWrittenIsSaidAtOnce) {
  for (const std::string& path : {std::string("/no-such-folder/x"), folder.string()}) {
    const auto r = check_writable({{"--json", path}});
    ASSERT_FALSE(r.ok()) << path;
    EXPECT_NE(r.error().find("--json " + path + ": cannot be created"), std::string::npos);
  }
  EXPECT_TRUE(check_writable({{"--json", out}, {"--write-wan", in}, {"--write-lan-a", "-"}}).ok());
  EXPECT_FALSE(fs::exists(out));  // a run that fails later leaves nothing
  EXPECT_EQ(fs::file_size(in), 7u);
}

TEST_F(OutputFiles, AFileIsReplacedWholeOrNotAtAll) {
  ASSERT_TRUE(write_file(out, [](std::ostream& o) { o << "first"; }).ok());
  const auto r = write_file(out, [](std::ostream& o) {
    o << "half of the second";
    o.setstate(std::ios::badbit);  // as a full disk would
  });
  EXPECT_FALSE(r.ok());
  std::string text;
  std::ifstream(out) >> text;
  EXPECT_EQ(text, "first");
  EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(out).parent_path()), {}), 2) << "it and the input";
  EXPECT_FALSE(write_file("/dev/full", [](std::ostream& o) { o << "x"; }).ok());
  EXPECT_TRUE(fs::exists("/dev/full"));
}

}  // namespace
}  // namespace matchrdma
