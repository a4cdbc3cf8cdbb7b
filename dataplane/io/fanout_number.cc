#include "dataplane/io/fanout_number.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace {

thread_local pid_t mask = 0;

}  // namespace

// Stands in front of libc's, for this program and the drivers that it loads: the kernel offers the driver no
// other way to another number, and the driver offers us none.
extern "C" pid_t getpid() noexcept { return static_cast<pid_t>(syscall(SYS_getpid)) ^ mask; }

namespace matchrdma::io {

// Odd multiples of a large number spread over the 16 bits that count.
FanoutNumber::FanoutNumber(uint32_t attempt) { mask = static_cast<pid_t>((attempt * 0x9e37u) & 0xffffu); }
FanoutNumber::~FanoutNumber() { mask = 0; }

}  // namespace matchrdma::io
