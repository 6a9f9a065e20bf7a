#include "Codegen/CPU/FlatBlob.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace llvm;
using namespace llvm::object;
using tracert::Result;
using tracert::Status;

namespace tracec {

namespace {

class Flattener {
public:
  explicit Flattener(const ELF64LEObjectFile &file) : file(file) {}

  Status layOut();
  Status relocate();
  Result<uint64_t> addressOf(const ELFSymbolRef &symbol);
  std::vector<uint8_t> takeBytes() { return std::move(bytes); }

private:
  Status place(const ELFSectionRef &section);
  Status applyTo(uint64_t base, const ELFRelocationRef &relocation);

  const ELF64LEObjectFile &file;
  std::vector<uint8_t> bytes;
  /// Offset in `bytes` by section index.
  DenseMap<uint64_t, uint64_t> offsets;
};

} // namespace

static std::string text(Expected<StringRef> name) {
  if (name) {
    return name->str();
  }
  consumeError(name.takeError());
  return "?";
}

Status Flattener::place(const ELFSectionRef &section) {
  Expected<StringRef> contents = section.getContents();
  if (!contents) {
    return Status::compile("unreadable section: " + toString(contents.takeError()));
  }
  uint64_t alignment = section.getAlignment().value();
  if (alignment > kBlobAlignment) {
    return Status::compile("section " + text(section.getName()) + " wants alignment " +
                           std::to_string(alignment));
  }
  // Padding between code and data, and between code and code, traps when executed.
  bytes.resize(alignTo(bytes.size(), alignment),
               file.getELFFile().getHeader().e_machine == ELF::EM_X86_64 ? 0xCC : 0);
  offsets[section.getIndex()] = bytes.size();
  bytes.insert(bytes.end(), contents->begin(), contents->end());
  return {};
}

Status Flattener::layOut() {
  for (bool wantsText : {true, false}) {
    for (ELFSectionRef section : file.sections()) {
      uint64_t flags = section.getFlags();
      std::string name = text(section.getName());
      // Nothing unwinds through a kernel.
      bool isLoaded = (flags & ELF::SHF_ALLOC) && section.getSize() != 0 && name != ".eh_frame";
      if (!isLoaded || section.isText() != wantsText) {
        continue;
      }
      if (flags & ELF::SHF_WRITE) {
        return Status::compile("code has writable data in section " + name);
      }
      if (flags & ELF::SHF_TLS) {
        return Status::compile("code has thread-local data in section " + name);
      }
      if (Status status = place(section); !status.ok()) {
        return status;
      }
    }
  }
  return {};
}

Result<uint64_t> Flattener::addressOf(const ELFSymbolRef &symbol) {
  Expected<section_iterator> section = symbol.getSection();
  if (!section) {
    return Status::compile("unreadable symbol: " + toString(section.takeError()));
  }
  if (*section == file.section_end()) {
    return Status::compile("code needs the undefined symbol '" + text(symbol.getName()) + "'");
  }
  auto placed = offsets.find((*section)->getIndex());
  if (placed == offsets.end()) {
    return Status::compile("code refers to section " + text((*section)->getName()) +
                           ", which is not loaded");
  }
  Expected<uint64_t> value = symbol.getValue();
  if (!value) {
    return Status::compile("unreadable symbol: " + toString(value.takeError()));
  }
  return placed->second + *value;
}

/// Where a relative relocation puts its value: bits `shift` and up of the `bytes` at its place,
/// without the lowest `dropped` bits, which are zero. aarch64's ADR has its lowest two bits apart.
struct RelativeField {
  unsigned bytes;
  unsigned bits;
  unsigned shift = 0;
  unsigned dropped = 0;
  bool isAdr = false;
};

static std::optional<RelativeField> relativeField(uint16_t machine, uint64_t type) {
  if (machine == ELF::EM_X86_64) {
    switch (type) {
    case ELF::R_X86_64_PC32:
    case ELF::R_X86_64_PLT32:
      return RelativeField{4, 32};
    case ELF::R_X86_64_PC64:
      return RelativeField{8, 64};
    default:
      return std::nullopt;
    }
  }
  switch (type) {
  case ELF::R_AARCH64_PREL32:
    return RelativeField{4, 32};
  case ELF::R_AARCH64_PREL64:
    return RelativeField{8, 64};
  case ELF::R_AARCH64_CALL26:
  case ELF::R_AARCH64_JUMP26:
    return RelativeField{4, 26, 0, 2};
  case ELF::R_AARCH64_CONDBR19:
  case ELF::R_AARCH64_LD_PREL_LO19:
    return RelativeField{4, 19, 5, 2};
  case ELF::R_AARCH64_TSTBR14:
    return RelativeField{4, 14, 5, 2};
  case ELF::R_AARCH64_ADR_PREL_LO21:
    return RelativeField{4, 19, 5, 2, true};
  default:
    return std::nullopt;
  }
}

/// False when the value does not fit.
static bool writeField(uint8_t *place, const RelativeField &field, int64_t value) {
  if (field.bytes == 8) {
    support::endian::write64le(place, static_cast<uint64_t>(value));
    return true;
  }
  if (!isIntN(field.bits + field.dropped, value) ||
      (!field.isAdr && (value & ((1 << field.dropped) - 1)) != 0)) {
    return false;
  }
  uint32_t mask = maskTrailingOnes<uint32_t>(field.bits) << field.shift;
  uint32_t bits = static_cast<uint32_t>(value >> field.dropped) << field.shift;
  uint32_t word = (support::endian::read32le(place) & ~mask) | (bits & mask);
  if (field.isAdr) {
    word = (word & ~(3u << 29)) | (static_cast<uint32_t>(value) & 3) << 29;
  }
  support::endian::write32le(place, word);
  return true;
}

Status Flattener::applyTo(uint64_t base, const ELFRelocationRef &relocation) {
  uint64_t type = relocation.getType();
  std::optional<RelativeField> field = relativeField(file.getELFFile().getHeader().e_machine, type);
  if (!field) {
    SmallString<32> name;
    relocation.getTypeName(name);
    return Status::compile("code has a relocation of type " + name.str().str() +
                           ", which is not relative");
  }
  Expected<int64_t> addend = relocation.getAddend();
  if (!addend) {
    return Status::compile("unreadable relocation: " + toString(addend.takeError()));
  }
  Result<uint64_t> target = addressOf(*relocation.getSymbol());
  if (!target.ok()) {
    return target.status();
  }
  uint64_t place = base + relocation.getOffset();
  int64_t value = static_cast<int64_t>(*target) + *addend - static_cast<int64_t>(place);
  if (place + field->bytes > bytes.size() || !writeField(&bytes[place], *field, value)) {
    return Status::compile("relocation out of range");
  }
  return {};
}

Status Flattener::relocate() {
  for (ELFSectionRef section : file.sections()) {
    Expected<section_iterator> target = section.getRelocatedSection();
    if (!target) {
      return Status::compile("unreadable relocations: " + toString(target.takeError()));
    }
    if (*target == file.section_end()) {
      continue;
    }
    auto placed = offsets.find((*target)->getIndex());
    if (placed == offsets.end()) {
      continue;
    }
    for (RelocationRef relocation : section.relocations()) {
      if (Status status = applyTo(placed->second, relocation); !status.ok()) {
        return status;
      }
    }
  }
  return {};
}

Result<FlatBlob> flattenObject(ArrayRef<char> object, StringRef entryName) {
  MemoryBufferRef buffer(StringRef(object.data(), object.size()), "kernel object");
  Expected<ELF64LEObjectFile> file = ELF64LEObjectFile::create(buffer);
  if (!file) {
    return Status::compile("unreadable object: " + toString(file.takeError()));
  }
  Flattener flattener(*file);
  TRACERT_TRY(flattener.layOut());
  TRACERT_TRY(flattener.relocate());
  for (ELFSymbolRef symbol : file->symbols()) {
    if (text(symbol.getName()) == entryName) {
      TRACERT_ASSIGN(uint64_t entry, flattener.addressOf(symbol));
      return FlatBlob{flattener.takeBytes(), entry};
    }
  }
  return Status::compile("object has no entry '" + entryName.str() + "'");
}

} // namespace tracec
