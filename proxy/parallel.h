#pragma once
// The same kind of work many times over, on several threads.
#include <cstddef>
#include <functional>

namespace matchrdma {

/// Calls work(i) once for each i below `count`, in their order as threads become free. The caller's thread is
/// one of `jobs`; `work` is called by several at once.
void in_parallel(size_t count, unsigned jobs, const std::function<void(size_t)>& work);

}  // namespace matchrdma
