// Bytes as the protocol writes them (P1, P2, P3): a writer that grows, a reader that never goes beyond its end, frames and runs.
#pragma once

#include <ambrosia/crc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ambrosia::inline v0 {

using bytes = std::vector<std::uint8_t>;

inline byte_span as_bytes(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
inline std::string_view as_text(byte_span data) { return {reinterpret_cast<const char*>(data.data()), data.size()}; }
inline bytes to_bytes(byte_span data) { return bytes(data.begin(), data.end()); }

// Whether this, behind a front that is ASCII, is UTF-8.
bool is_utf8_behind(const std::uint8_t* p, const std::uint8_t* end);
inline bool is_utf8(byte_span data) {
  const std::uint8_t *p = data.data(), *end = p + data.size();
  while (end - p >= 8 && (detail::load64(p) & 0x8080808080808080) == 0) p += 8;
  return p == end || is_utf8_behind(p, end);
}
// The front of a text, cut at the end of a character: what people read has a bound (P5.12, L5.12).
std::string_view shortened(std::string_view text, std::size_t most = 1'024);
// P1.5: ^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$
bool is_name(std::string_view text);

namespace detail {

inline void copy_few(std::uint8_t* to, const std::uint8_t* from, std::size_t count) {
  if (count >= 8) {
    std::uint64_t first = load64(from), last = load64(from + count - 8);
    store(to, first), store(to + count - 8, last);
  } else if (count >= 4) {
    auto first = load<std::uint32_t>(from), last = load<std::uint32_t>(from + count - 4);
    store(to, first), store(to + count - 4, last);
  } else if (count != 0) {
    to[0] = from[0];
    if (count > 1) to[1] = from[1], to[count - 1] = from[count - 1];
  }
}
inline void copy(std::uint8_t* to, byte_span from) { from.size() <= 16 ? copy_few(to, from.data(), from.size()) : void(std::memcpy(to, from.data(), from.size())); }
inline bool equal_few(std::string_view one, std::string_view other) {
  const std::uint8_t *a = as_bytes(one).data(), *b = as_bytes(other).data();
  std::size_t n = one.size();
  if (n != other.size() || n > 16 || n < 4) return one == other;
  if (n >= 8) return ((load64(a) ^ load64(b)) | (load64(a + n - 8) ^ load64(b + n - 8))) == 0;
  return ((load<std::uint32_t>(a) ^ load<std::uint32_t>(b)) | (load<std::uint32_t>(a + n - 4) ^ load<std::uint32_t>(b + n - 4))) == 0;
}

}  // namespace detail

// The varint of a number below 2^32, from the lowest byte on, without a loop: most are ids of methods, which are nearly always a hash with the top
// bit set (P4.5) and have five bytes. Where the compiler knows the number nothing is computed.
struct short_varint {
  constexpr short_varint(std::uint32_t number) : length((static_cast<std::uint32_t>(std::bit_width(number | 1)) + 6) / 7), number(number) {
    std::uint64_t n = number;
    word = (n & 0x7F) | (n & 0x3F80) << 1 | (n & 0x1FC000) << 2 | (n & 0xFE00000) << 3 | n >> 28 << 32;
    word |= 0x80808080u & ((1ull << (8 * (length - 1))) - 1);
  }
  std::uint64_t word = 0;
  std::uint32_t length, number;
};

// The id of a call, and its varint. Ids ascend, so the next one mostly has this varint plus one: where its lowest seven bits are not all 0.
struct call_varint {
  std::uint64_t id = UINT64_MAX, word = 0;  // UINT64_MAX: there is none, or it has more than eight bytes
  std::size_t length = 0;
  void set(std::uint64_t of, const std::uint8_t* varint, std::size_t bytes) {
    std::uint8_t front[8] = {};
    if (bytes <= 8) detail::copy_few(front, varint, bytes);
    id = bytes <= 8 ? of : UINT64_MAX, word = detail::load64(front), length = bytes;
  }
};

// A growing row of bytes. It keeps its memory when it is cleared, so a writer that is used again allocates nothing.
class writer {
 public:
  writer() = default;
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  ~writer() { std::free(_data); }

  std::uint8_t* data() { return _data; }
  std::size_t size() const { return _size; }
  byte_span view() const { return {_data, _size}; }
  byte_span view(std::size_t from) const { return {_data + from, _size - from}; }
  bytes take() const { return to_bytes(view()); }
  void resize(std::size_t size) { room(size > _size ? size - _size : 0), _size = size; }
  void clear() { _size = 0, bad = false; }

  // Room for so many more bytes, which `grow` then counts in.
  std::uint8_t* room(std::size_t more) {
    if (!has_room(more)) [[unlikely]] enlarge(more);
    return _data + _size;
  }
  void grow(std::size_t by) { _size += by; }
  // The lowest bytes of a word, so many, behind a gap. It may write, and not count, some bytes behind them.
  void put(std::uint64_t word, std::size_t count, std::size_t gap = 0) {
    std::size_t at = _size + gap;  // read once: what is written could be this number, as far as the compiler knows
    if (at + 8 > _capacity) [[unlikely]] enlarge(gap + 8);
    detail::store(_data + at, word);
    _size = at + count;
  }

  bool has_room(std::size_t more) const { return _size + more <= _capacity; }

  void raw(byte_span data) {
    detail::copy(room(data.size()), data);
    _size += data.size();
  }
  void u8(std::uint8_t value) { *room(1) = value, _size++; }
  void u16(std::uint16_t value) { fixed(value); }
  void u32(std::uint32_t value) { fixed(value); }
  void u64(std::uint64_t value) { fixed(value); }
  void i64(std::int64_t value) { fixed(static_cast<std::uint64_t>(value)); }
  void varint(std::uint64_t value) {
    if (value >> 32 != 0) return long_varint(value);
    short_varint number(static_cast<std::uint32_t>(value));
    put(number.word, number.length);
  }
  void string(std::string_view text) { varint(text.size()), raw(as_bytes(text)); }
  void byte_string(byte_span data) { varint(data.size()), raw(data); }

  // Set by a codec that met what cannot be written, such as a text that is no UTF-8: what was written then must not be sent.
  bool bad = false;
  // True while an image is written, in which only the tags of I4.4 may stand.
  bool image = false;

 private:
  template <class T>
  void fixed(T value) {
    detail::store(room(sizeof value), value);
    _size += sizeof value;
  }
  // Out of line, so that what appends stays small enough to be put where it is used.
  [[gnu::cold]] void enlarge(std::size_t more);
  void long_varint(std::uint64_t value);

  std::uint8_t* _data = nullptr;
  std::size_t _size = 0, _capacity = 0;
};

// Reads bytes from the front. After the first mistake `error` names the broken sentence, and everything that is read is 0 or empty.
class reader {
 public:
  explicit reader(byte_span data, const char* section = "P1.1") : p(data.data()), end(data.data() + data.size()), _section(section) {}

  bool ok() const { return error == nullptr; }
  std::size_t left() const { return static_cast<std::size_t>(end - p); }
  void fail(const char* sentence) {
    if (error == nullptr) error = sentence;
    p = end;
  }

  std::uint8_t u8() { return fixed<std::uint8_t>(); }
  std::uint16_t u16() { return fixed<std::uint16_t>(); }
  std::uint32_t u32() { return fixed<std::uint32_t>(); }
  std::uint64_t u64() { return fixed<std::uint64_t>(); }
  std::int64_t i64() { return static_cast<std::int64_t>(u64()); }
  std::uint64_t varint() {
    if (p != end && *p < 0x80) return *p++;
    return long_varint();
  }
  byte_span take(std::size_t count) {
    if (count > left()) return fail(_section), byte_span();
    p += count;
    return {p - count, count};
  }
  byte_span byte_string(std::uint64_t most) {
    std::uint64_t count = varint();
    if (ok() && (count > most || count > left())) fail(count > most ? "P1.3" : cut_off);
    return ok() ? take(static_cast<std::size_t>(count)) : byte_span();
  }
  std::string_view string(std::uint64_t most) {
    byte_span data = byte_string(most);
    if (ok() && !is_utf8(data)) fail("P1.3");
    return as_text(ok() ? data : byte_span());
  }
  std::string_view name() {
    std::string_view text = string(63);
    if (ok() && !is_name(text)) fail("P1.5");
    return ok() ? text : std::string_view();
  }
  // L2.1
  std::uint64_t lsn() {
    std::uint64_t value = u64();
    if (value >> 62 != 0) fail("L2.1");
    return ok() ? value : 0;
  }
  bool flag() {
    std::uint8_t value = u8();
    if (value > 1) fail("P1.6");
    return value == 1;
  }
  byte_span rest() { return take(left()); }
  // Nothing may stand behind the last field (P2.6).
  bool finish() {
    if (ok() && p != end) fail("P2.6");
    return ok();
  }

  const char* error = nullptr;
  const std::uint8_t *p, *end;
  const char* cut_off = "P1.3";  // of a string that is longer than what is there

 private:
  template <class T>
  T fixed() {
    if (left() < sizeof(T)) return fail(_section), T();
    p += sizeof(T);
    return detail::load<T>(p - sizeof(T));
  }
  std::uint64_t long_varint();

  const char* _section;
};

// P2.4
enum class frame_type : std::uint8_t {
  app_hello = 0x01, app_welcome, heartbeat, goodbye, hello, ready, client_hello, client_welcome, contract, build_methods,
  run = 0x10, destination, processed, image_begin, image_chunk, image_end, primary_ready, waiting, checkpoint_wanted,
  timer_set, timer_dropped, task_result, set_aside, released, query_answer, executing,
  deliver = 0x20, become_primary, impulse_logged, policy_ahead, query, rings, look, go, convert, seen, converted,
  ack = 0x30, client_logged,
};

inline constexpr std::size_t frame_header_bytes = 16;

struct frame_view {
  frame_type type{};
  byte_span payload;
  std::size_t consumed = 0;  // 0: the frame is not whole yet
};

// Takes one frame from the front of what was received. `link` frames carry a checksum of the payload. Returns the broken sentence or null.
const char* read_frame(byte_span data, bool link, std::uint32_t seed, std::uint64_t payload_most, frame_view& frame);
// Begins a frame in `out` whose payload the caller appends; `end_frame` fills in the header at the position that `begin_frame` returned.
std::size_t begin_frame(writer& out);
void end_frame(writer& out, std::size_t at, frame_type type, bool link = false, std::uint32_t seed = 0);

// P3.2
enum class run_kind : std::uint8_t { fork = 1, call, result, failure, impulse, request, answer, request_failure };

inline constexpr std::size_t run_header_bytes = 32;

struct run_view {
  run_kind kind{};
  bool keyed = false;
  std::uint16_t shard = 0;
  std::uint32_t peer = 0;
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  std::uint64_t hash = 0;
  byte_span extensions, messages;
};

struct message_view {
  std::uint32_t method = 0;
  std::uint64_t call = 0;  // of calls and their answers; the request's number of answers to callers outside
  byte_span key, arguments;
};

// Checks a whole run: its header, its blocks and every message. Returns the broken sentence or null.
const char* read_run(byte_span data, std::uint64_t message_most, run_view& run);
// The next message of a run that `read_run` has accepted, or that it is checking now; moves `at` behind it.
const char* read_message(const run_view& run, reader& at, std::uint64_t message_most, message_view& message);

}  // namespace ambrosia
