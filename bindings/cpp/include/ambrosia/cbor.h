// Deterministic CBOR (RFC 8949 §4.2.1, contract.md C3.1): arguments, values, failures and images.
#pragma once

#include <ambrosia/wire.h>

namespace ambrosia::inline v0 {
namespace cbor {

enum class major : std::uint8_t { unsigned_number, negative_number, byte_string, text, array, map, tag, other };

void put_long_head(writer& out, major kind, std::uint64_t value);
inline void put_head(writer& out, major kind, std::uint64_t value) {
  if (value >= 24) return put_long_head(out, kind, value);
  out.u8(static_cast<std::uint8_t>(static_cast<std::uint64_t>(kind) << 5 | value));
}
inline void put_unsigned(writer& out, std::uint64_t value) { put_head(out, major::unsigned_number, value); }
inline void put_integer(writer& out, std::int64_t value) {
  if (value < 0) {
    put_head(out, major::negative_number, ~static_cast<std::uint64_t>(value));
  } else {
    put_head(out, major::unsigned_number, static_cast<std::uint64_t>(value));
  }
}
inline void put_bytes(writer& out, byte_span data) { put_head(out, major::byte_string, data.size()), out.raw(data); }
inline void put_text(writer& out, std::string_view text) {
  put_head(out, major::text, text.size());
  out.raw(as_bytes(text));
}
inline void put_array(writer& out, std::uint64_t count) { put_head(out, major::array, count); }
inline void put_map(writer& out, std::uint64_t count) { put_head(out, major::map, count); }
inline void put_tag(writer& out, std::uint64_t tag) { put_head(out, major::tag, tag); }
inline void put_bool(writer& out, bool value) { out.u8(value ? 0xF5 : 0xF4); }
inline void put_null(writer& out) { out.u8(0xF6); }
// C3.2: the shortest width whose value, widened again, has the same bits.
void put_double(writer& out, double value);

// Floats by their bits, so that a NaN keeps its payload on every processor.
std::uint64_t widen_half(std::uint16_t half);
std::uint64_t widen_single(std::uint32_t single);
bool narrow_to_single(std::uint64_t bits, std::uint32_t& single);
bool narrow_to_half(std::uint64_t bits, std::uint16_t& half);

}  // namespace cbor

// Reads items from the front. After the first mistake `error` says its kind (Truncated, Malformed, NotDeterministic, WrongType, OutOfRange,
// TooDeep, UnknownCase), and everything that is read is 0 or empty.
class cbor_reader {
 public:
  explicit cbor_reader(byte_span data) : p(data.data()), end(data.data() + data.size()) {}

  bool ok() const { return error == nullptr; }
  std::size_t left() const { return static_cast<std::size_t>(end - p); }
  void fail(const char* kind) {
    if (error == nullptr) error = kind;
    p = end;
  }
  bool next_is(cbor::major kind) const { return p != end && *p >> 5 == static_cast<int>(kind); }
  bool take_null() {
    if (p == end || *p != 0xF6) return false;
    return p++, true;
  }

  std::uint64_t read_unsigned(std::uint64_t most = UINT64_MAX) {
    std::uint64_t value = head_of(cbor::major::unsigned_number);
    if (value > most) fail("OutOfRange");
    return ok() ? value : 0;
  }
  std::int64_t read_integer(std::int64_t least = INT64_MIN, std::int64_t most = INT64_MAX) {
    // Numbers of one byte: 0x00 to 0x17, and 0x20 to 0x37 below zero.
    bool is_short = p != end && (*p & 0xDF) < 24;
    std::int64_t number = is_short ? (*p & 31) ^ -(*p >> 5) : 0;
    if (!is_short || number < least || number > most) return long_integer(least, most);
    return p++, number;
  }
  byte_span read_bytes() { return string_of(cbor::major::byte_string); }
  std::string_view read_text() {
    byte_span data = string_of(cbor::major::text);
    if (!is_utf8(data)) fail("Malformed");
    return as_text(ok() ? data : byte_span());
  }
  // The count is at most the number of bytes that are left, so it can be used as a size.
  std::size_t read_array() { return count_of(cbor::major::array, 1); }
  std::size_t read_map() { return count_of(cbor::major::map, 2); }
  void read_array_of(std::size_t count) {
    if (read_array() != count) fail("OutOfRange");
  }
  void read_tag(std::uint64_t tag) {
    if (head_of(cbor::major::tag) != tag) fail("WrongType");
  }
  bool read_bool();
  std::uint64_t read_double_bits();
  // Passes over one item of any kind, and checks its form. Keys of maps must ascend if `ordered`, as in images.
  void skip(bool ordered = false, int depth = 0);
  // The bytes of the next item, which is passed over.
  byte_span item(bool ordered = false) {
    const std::uint8_t* from = p;
    skip(ordered);
    return ok() ? byte_span(from, p) : byte_span();
  }
  // A case that this version of a union does not have (P4.6).
  void fail_case(std::string_view name, std::uint64_t number) {
    if (ok()) union_name = name, case_number = number;
    fail("UnknownCase");
  }

  const char* error = nullptr;
  std::string_view union_name;  // of the case that is not known; empty: there was none
  std::uint64_t case_number = 0;
  const std::uint8_t *p, *end;
  int depth = 0;        // of data (C3.8)
  bool images = false;  // true while an image is read (see writer::image)

 private:
  std::uint64_t head_of(cbor::major kind) {
    if (p != end && *p >> 5 == static_cast<int>(kind) && (*p & 31) < 24) return *p++ & 31;
    return long_head(kind);
  }
  std::uint64_t long_head(cbor::major kind);
  std::int64_t long_integer(std::int64_t least, std::int64_t most);
  byte_span string_of(cbor::major kind) {
    std::uint64_t count = head_of(kind);
    if (count > left()) fail("Truncated");
    if (!ok()) return {};
    p += count;
    return {p - count, static_cast<std::size_t>(count)};
  }
  std::size_t count_of(cbor::major kind, std::uint64_t each) {
    std::uint64_t count = head_of(kind);
    if (count > left() / each) fail("Truncated");
    return ok() ? static_cast<std::size_t>(count) : 0;
  }
  void skip_map(std::size_t count, bool ordered, int depth);
};

}  // namespace ambrosia
