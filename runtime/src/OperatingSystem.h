/// OperatingSystem: what the runtime asks of Linux and of the processor's registers. Another system
/// needs another OperatingSystem.cpp and nothing else.
///
///   void *memory = os::mapMemory(size);
///   if (int error = os::makeExecutable(memory, size)) { ... std::strerror(error) ... }
///
/// Functions that give an int give 0 or the system's error number. All are thread safe.
#pragma once

#include "tracert/Export.h"
#include "tracert/Target.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace tracert::os {

// ---- the processor and its threads -------------------------------------------------------------

/// The best level that the processor has and the system saves the registers of.
Target detectTarget();
/// Processors that this process may use.
int usableProcessors();
void yieldProcessor();
/// Null when it is not set.
const char *environment(const char *name);

struct Thread {
  uintptr_t handle = 0;
};
/// False when the system has no more threads.
bool startThread(Thread &thread, void *(*run)(void *), void *argument);
void joinThread(Thread thread);
/// Called around each fork: before, then in the parent, then in the child. Any may be null.
void atFork(void (*before)(), void (*inParent)(), void (*inChild)());

// ---- memory ------------------------------------------------------------------------------------

/// Advice only: without huge pages the memory works as well, slower.
void adviseHugePages(void *data, size_t size);
/// Readable and writable pages of zeros; null, with `error` set, when there are none.
TRACERT_API void *mapMemory(size_t size, int &error);
TRACERT_API void unmapMemory(void *data, size_t size);
/// From now on readable and executable, no longer writable, and seen by the processor as code.
TRACERT_API int makeExecutable(void *data, size_t size);

// ---- files -------------------------------------------------------------------------------------

enum class FileKind : uint8_t { Regular, Folder, Link, Pipe, Socket, Device };

struct FileInfo {
  FileKind kind = FileKind::Regular;
  uint64_t size = 0;
  uint32_t mode = 0;
  uint32_t owner = 0;
  uint32_t group = 0;
};

/// Of the file that a link names, or of the link itself.
TRACERT_API int fileInfo(const std::string &path, FileInfo &info);
TRACERT_API int linkInfo(const std::string &path, FileInfo &info);
TRACERT_API int fileInfo(int descriptor, FileInfo &info);
TRACERT_API int readLink(const std::string &path, std::string &target);
/// Whether the folder belongs to the kernel's view of processes.
TRACERT_API bool isProcessFolder(const std::string &path);
TRACERT_API int checkWritable(const std::string &path);
TRACERT_API int checkFolderWritable(const std::string &path);

TRACERT_API int openForReading(const std::string &path, int &descriptor);
/// EEXIST when there is one.
TRACERT_API int createFile(const std::string &path, uint32_t mode, int &descriptor);
TRACERT_API int closeFile(int descriptor);
/// `done`: bytes that were read, 0 at the end.
TRACERT_API int readAt(int descriptor, void *data, size_t size, uint64_t offset, size_t &done);
/// All of it.
TRACERT_API int writeFile(int descriptor, const void *data, size_t size);
/// The bytes of an open file as read-only memory.
TRACERT_API int mapFile(int descriptor, size_t size, const void *&data);
/// Owner, as far as allowed, and mode.
TRACERT_API int setOwnerAndMode(int descriptor, const FileInfo &like);
TRACERT_API int syncFile(int descriptor);
/// As far as possible.
TRACERT_API void syncFolder(const std::string &path);
TRACERT_API int renameFile(const std::string &from, const std::string &to);
TRACERT_API void removeFile(const std::string &path);
TRACERT_API int randomBits(uint64_t &bits);

} // namespace tracert::os
