#pragma once
#include "dataplane/base/result.h"

namespace matchrdma {

/// Makes every capability that this thread may have effective; call it before ports open and threads start. A
/// service manager or root has done so already; a container that runs us as another user has not: its file
/// capabilities are permitted only, so that the program starts where it is given none of them.
Result<void> raise_capabilities();

}  // namespace matchrdma
