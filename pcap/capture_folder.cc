#include "pcap/capture_folder.h"

#include <filesystem>

namespace matchrdma {

CaptureFolder::CaptureFolder(const std::string& folder, const std::vector<std::string>& names) {
  std::error_code refused;
  std::filesystem::create_directories(folder, refused);
  for (const std::string& name : names) {
    auto w = CaptureWriter::open(folder + "/" + name + ".pcap");
    if (w.ok()) files_.push_back(std::move(w.value()));
  }
}

void CaptureFolder::write(size_t name, Instant at, Bytes frame) {
  if (name < files_.size()) static_cast<void>(files_[name].write(at, frame));
}

}  // namespace matchrdma
