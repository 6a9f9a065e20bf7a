/// A file that a tool writes because the user named it: an .npy file, the text of a stage.
///
///   OutputFile file("y.npy"); file.write(bytes); file.finish();
///
/// Written in place, so that links, modes, pipes and devices stay what they are. Throws UserError
/// naming the path; a file that it made is removed then.
#pragma once

#include <string>
#include <string_view>

namespace cli {

class OutputFile {
public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  void write(std::string_view bytes);
  void finish();

private:
  [[noreturn]] void fail(int error);

  std::string path;
  int descriptor = -1;
  bool isNew = false;
};

} // namespace cli
