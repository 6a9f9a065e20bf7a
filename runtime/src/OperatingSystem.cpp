#include "OperatingSystem.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tracert::os {
namespace {

int errorOf(bool isGood) { return isGood ? 0 : errno; }

#if defined(__x86_64__)
uint64_t enabledState() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t(high) << 32) | low;
}

bool allSet(uint64_t bits, uint64_t wanted) { return (bits & wanted) == wanted; }
#endif

FileInfo infoOf(const struct stat &info) {
  FileKind kind = S_ISREG(info.st_mode)    ? FileKind::Regular
                  : S_ISDIR(info.st_mode)  ? FileKind::Folder
                  : S_ISLNK(info.st_mode)  ? FileKind::Link
                  : S_ISFIFO(info.st_mode) ? FileKind::Pipe
                  : S_ISSOCK(info.st_mode) ? FileKind::Socket
                                           : FileKind::Device;
  return {kind, static_cast<uint64_t>(info.st_size), info.st_mode, info.st_uid, info.st_gid};
}

} // namespace

Target detectTarget() {
#if defined(__x86_64__)
  unsigned eax, ebx, ecx, edx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) {
    return kPortable;
  }
  constexpr unsigned leaf1 = bit_SSE3 | bit_SSSE3 | bit_FMA | bit_CMPXCHG16B | bit_SSE4_1 |
                             bit_SSE4_2 | bit_MOVBE | bit_POPCNT | bit_OSXSAVE | bit_AVX | bit_F16C;
  // The operating system must save the ymm (bits 1, 2) and zmm registers (bits 5 to 7).
  if (!allSet(ecx, leaf1) || !allSet(enabledState(), 0x06)) {
    return kPortable;
  }
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) ||
      !allSet(ebx, bit_AVX2 | bit_BMI | bit_BMI2)) {
    return kPortable;
  }
  unsigned level7 = ebx;
  if (!__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) || !allSet(ecx, bit_LAHF_LM | bit_LZCNT)) {
    return kPortable;
  }
  constexpr unsigned avx512 =
      bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
  if (!allSet(level7, avx512) || !allSet(enabledState(), 0xE6)) {
    return kX86V3;
  }
  return kX86V4;
#elif defined(__aarch64__)
  // Linux needs floating point and NEON of every 64-bit ARM processor.
  return kAarch64Neon;
#endif
}

int usableProcessors() {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? std::max(1, CPU_COUNT(&cpus)) : 1;
}

void yieldProcessor() { sched_yield(); }

const char *environment(const char *name) { return std::getenv(name); }

bool startThread(Thread &thread, void *(*run)(void *), void *argument) {
  pthread_t started;
  if (pthread_create(&started, nullptr, run, argument) != 0) {
    return false;
  }
  static_assert(sizeof(started) <= sizeof(thread.handle));
  thread.handle = static_cast<uintptr_t>(started);
  return true;
}

void joinThread(Thread thread) { pthread_join(static_cast<pthread_t>(thread.handle), nullptr); }

void atFork(void (*before)(), void (*inParent)(), void (*inChild)()) {
  pthread_atfork(before, inParent, inChild);
}

void adviseHugePages(void *data, size_t size) { (void)madvise(data, size, MADV_HUGEPAGE); }

void *mapMemory(size_t size, int &error) {
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  error = errorOf(memory != MAP_FAILED);
  return error ? nullptr : memory;
}

void unmapMemory(void *data, size_t size) { munmap(data, size); }

int makeExecutable(void *data, size_t size) {
  // The caches of code and data are one on x86-64; elsewhere what was written is not code yet.
  char *begin = static_cast<char *>(data);
  __builtin___clear_cache(begin, begin + size);
  return errorOf(mprotect(data, size, PROT_READ | PROT_EXEC) == 0);
}

int fileInfo(const std::string &path, FileInfo &info) {
  struct stat found;
  int error = errorOf(::stat(path.c_str(), &found) == 0);
  info = error ? info : infoOf(found);
  return error;
}

int linkInfo(const std::string &path, FileInfo &info) {
  struct stat found;
  int error = errorOf(::lstat(path.c_str(), &found) == 0);
  info = error ? info : infoOf(found);
  return error;
}

int fileInfo(int descriptor, FileInfo &info) {
  struct stat found;
  int error = errorOf(::fstat(descriptor, &found) == 0);
  info = error ? info : infoOf(found);
  return error;
}

int readLink(const std::string &path, std::string &target) {
  char link[4096];
  ssize_t length = ::readlink(path.c_str(), link, sizeof link);
  if (length < 0 || static_cast<size_t>(length) == sizeof link) {
    return length < 0 ? errno : ENAMETOOLONG;
  }
  target.assign(link, static_cast<size_t>(length));
  return 0;
}

bool isProcessFolder(const std::string &path) {
  struct statfs system;
  return ::statfs(path.c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

int checkWritable(const std::string &path) { return errorOf(::access(path.c_str(), W_OK) == 0); }

int checkFolderWritable(const std::string &path) {
  return errorOf(::access(path.c_str(), W_OK | X_OK) == 0);
}

int openForReading(const std::string &path, int &descriptor) {
  descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return errorOf(descriptor >= 0);
}

int createFile(const std::string &path, uint32_t mode, int &descriptor) {
  descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  return errorOf(descriptor >= 0);
}

int closeFile(int descriptor) { return errorOf(::close(descriptor) == 0); }

int readAt(int descriptor, void *data, size_t size, uint64_t offset, size_t &done) {
  ssize_t count;
  do {
    count = ::pread(descriptor, data, size, static_cast<off_t>(offset));
  } while (count < 0 && errno == EINTR);
  done = count < 0 ? 0 : static_cast<size_t>(count);
  return errorOf(count >= 0);
}

int writeFile(int descriptor, const void *data, size_t size) {
  const char *bytes = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t written = ::write(descriptor, bytes, size);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return errno;
    }
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return 0;
}

int mapFile(int descriptor, size_t size, const void *&data) {
  void *memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  data = memory;
  return errorOf(memory != MAP_FAILED);
}

int setOwnerAndMode(int descriptor, const FileInfo &like) {
  // Only the superuser may give a file away; the mode comes after, since this clears bits.
  (void)!::fchown(descriptor, like.owner, like.group);
  return errorOf(::fchmod(descriptor, like.mode & 0777) == 0);
}

int syncFile(int descriptor) { return errorOf(::fsync(descriptor) == 0); }

void syncFolder(const std::string &path) {
  int handle = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle >= 0) {
    (void)::fsync(handle);
    ::close(handle);
  }
}

int renameFile(const std::string &from, const std::string &to) {
  return errorOf(::rename(from.c_str(), to.c_str()) == 0);
}

void removeFile(const std::string &path) { ::unlink(path.c_str()); }

int randomBits(uint64_t &bits) {
  return errorOf(::getrandom(&bits, sizeof bits, 0) == sizeof bits);
}

} // namespace tracert::os
