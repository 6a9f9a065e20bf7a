/// TRACERT_API marks what the shared library libtracert exports; everything else is hidden.
///
///   TRACERT_API Status runKernel(...);
///   class TRACERT_API ThreadPool { ... };
#pragma once

#define TRACERT_API __attribute__((visibility("default")))
