#pragma once
// Several captures of one run, side by side in a folder.
#include <string>
#include <vector>

#include "pcap/capture_writer.h"

namespace matchrdma {

/// Duty: makes the folder and one file NAME.pcap for every name. For the reader of a failure: where the disk
/// refuses, there is less to read, and nothing else is wrong.
class CaptureFolder {
 public:
  CaptureFolder(const std::string& folder, const std::vector<std::string>& names);
  /// Into the file of the name with this number.
  void write(size_t name, Instant at, Bytes frame);

 private:
  std::vector<CaptureWriter> files_;
};

}  // namespace matchrdma
