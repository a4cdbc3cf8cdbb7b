#include "proxy/commands.h"

#include <iostream>

namespace matchrdma {

void stop(const std::string& sentence, int exit_code) {
  std::cout.flush();
  std::cerr << "matchrdma: " << sentence << '\n';
  throw CLI::RuntimeError(exit_code);  // CLI11 prints nothing for this one
}

}  // namespace matchrdma
