/// FileKit: .trc files made by hand, right in every checksum, for tests of what the loader refuses.
///
///   std::string bytes = fileOf([](flatbuffers::FlatBufferBuilder &builder) {
///     return schema::CreateProgramDef(builder, ...);
///   }, {{SegmentKind::Weights, std::string(4096, '\0')}});
///   EXPECT_EQ(loadBytes(bytes).status().code(), StatusCode::CorruptFile);
#pragma once

#include "src/FileFormat.h"
#include "tracert/Executor.h"
#include "tracert/schema/program_generated.h"

#include <string>
#include <utility>
#include <vector>

namespace tracert::test {

using Segments = std::vector<std::pair<SegmentKind, std::string>>;

/// The graph's FlatBuffer and the other segments in a container.
std::string containerOf(const std::string &graph, const Segments &segments = {});

/// Recomputes what a change of the bytes broke, so that the change itself is what the loader sees.
void fixSums(std::string &bytes);

template <class Build> std::string fileOf(Build build, const Segments &segments = {}) {
  flatbuffers::FlatBufferBuilder builder;
  schema::FinishProgramDefBuffer(builder, build(builder));
  return containerOf(
      {reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize()}, segments);
}

/// Loads a copy of exactly this size, so that reading beyond the end is seen by the sanitizer.
Result<std::shared_ptr<const Program>> loadBytes(const std::string &bytes,
                                                 LoadOptions options = {.verifyAll = true});

/// A folder of the test's own, removed at the end.
class Folder {
public:
  Folder();
  ~Folder();
  std::vector<std::string> names() const;
  std::string path;
};

} // namespace tracert::test
