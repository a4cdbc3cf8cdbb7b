#pragma once
// Writes the files of a seed corpus.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace matchrdma {

class SeedWriter {
 public:
  explicit SeedWriter(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }
  void write(const std::string& name, const std::vector<uint8_t>& b) {
    std::ofstream out(folder_ / name, std::ios::binary);
    for (uint8_t byte : b) out.put(static_cast<char>(byte));
    ok_ = ok_ && out.good();
  }
  bool ok() const { return ok_; }

 private:
  std::filesystem::path folder_;
  bool ok_ = true;
};

}  // namespace matchrdma
