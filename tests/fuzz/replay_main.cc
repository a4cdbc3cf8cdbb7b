// Runs a fuzz target over files, without libFuzzer: replay [file or folder]...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

/// Every regular file under `path`, or `path` itself, in an order that is the same on every machine.
std::vector<fs::path> files_of(const fs::path& path) {
  std::vector<fs::path> files;
  if (!fs::is_directory(path)) return {path};
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool run(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    return false;
  }
  const std::vector<char> content{std::istreambuf_iterator<char>(in), {}};
  // A buffer of exact size: AddressSanitizer sees a read one byte too far.
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[content.size()]);
  std::copy(content.begin(), content.end(), exact.get());
  LLVMFuzzerTestOneInput(exact.get(), content.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const fs::path& file : files_of(argv[i])) {
      if (!run(file)) return 1;
      ++count;
    }
  }
  std::printf("%zu inputs replayed\n", count);
  if (count == 0) std::fprintf(stderr, "nothing to replay: name at least one file or a folder with files\n");
  return count == 0 ? 1 : 0;
}
