#include "proxy/commands.h"

#include <iostream>

namespace matchrdma {

void stop(const std::string& sentence, int exit_code) {
  std::cout.flush();
  // A sentence may hold what a file held: nothing of it may command a terminal.
  std::string plain = sentence;
  for (char& c : plain)
    if (static_cast<unsigned char>(c) < ' ' && c != '\n') c = '?';
  std::cerr << "matchrdma: " << plain << '\n';
  throw CLI::RuntimeError(exit_code);  // CLI11 prints nothing for this one
}

}  // namespace matchrdma
