#include <ambrosia/wire.h>

#include <algorithm>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ambrosia::inline v0 {

namespace detail {

#if defined(__x86_64__)
namespace {

// x to a power, modulo the polynomial of CRC-64, with its bits in the order of the checksum.
constexpr std::uint64_t power_of_x(int power) {
  std::uint64_t value = 1ull << 63;
  for (; power != 0; power--) value = (value & 1) != 0 ? (value >> 1) ^ crc64_tables[0][128] : value >> 1;
  return value;
}

// The quotient of x to the power of 128 by the polynomial, without its highest bit.
constexpr std::uint64_t quotient() {
  std::uint64_t value = 0, rest = crc64_tables[0][128];
  for (int bit = 0; bit < 64; bit++) {
    value |= (rest & 1) << bit;
    rest = (rest & 1) != 0 ? (rest >> 1) ^ crc64_tables[0][128] : rest >> 1;
  }
  return value;
}

// A product of two numbers in this order stands one bit too low, which the powers make good. The end is Barrett's reduction.
[[gnu::target("pclmul,sse2")]] std::uint64_t fold(const std::uint8_t* p, const std::uint8_t* end, std::uint64_t crc, std::uint8_t* folded) {
  const __m128i powers = _mm_set_epi64x(static_cast<long long>(power_of_x(127)), static_cast<long long>(power_of_x(191)));
  const __m128i divisor = _mm_set_epi64x(static_cast<long long>(crc64_tables[0][128]), static_cast<long long>(quotient()));
  auto block = [&] { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
  __m128i all = _mm_xor_si128(block(), _mm_cvtsi64_si128(static_cast<long long>(crc)));
  while ((p += 16) != end) {
    __m128i front = _mm_clmulepi64_si128(all, powers, 0x00), back = _mm_clmulepi64_si128(all, powers, 0x11);
    all = _mm_xor_si128(_mm_xor_si128(front, back), block());
  }
  if (folded != nullptr) return _mm_storeu_si128(reinterpret_cast<__m128i*>(folded), all), 0;
  all = _mm_xor_si128(_mm_clmulepi64_si128(all, powers, 0x10), _mm_srli_si128(all, 8));
  __m128i times = _mm_xor_si128(_mm_slli_epi64(_mm_clmulepi64_si128(all, divisor, 0x00), 1), all);
  __m128i whole = _mm_clmulepi64_si128(times, divisor, 0x10);
  auto low = static_cast<std::uint64_t>(_mm_cvtsi128_si64(whole)), high = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_srli_si128(whole, 8)));
  return (low >> 63 | high << 1) ^ static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_srli_si128(all, 8)));
}

const bool is_there = __builtin_cpu_supports("pclmul");

}  // namespace

std::size_t crc64_fold(const std::uint8_t* p, std::size_t n, std::uint64_t& crc, std::uint8_t* block) {
  if (!is_there) return 0;
  n -= n % 16;
  crc = fold(p, p + n, crc, block);
  return n;
}
#else
std::size_t crc64_fold(const std::uint8_t*, std::size_t, std::uint64_t&, std::uint8_t*) { return 0; }
#endif

}  // namespace detail

bool is_utf8_behind(const std::uint8_t* p, const std::uint8_t* end) {
  while (p != end) {
    if (*p < 0x80) {
      p++;
      continue;
    }
    std::uint8_t lead = *p;
    int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4 || end - p <= more) return false;
    // The second byte's range excludes overlong forms, surrogates and what is beyond Unicode.
    std::uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    std::uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < low || p[1] > high) return false;
    for (int i = 2; i <= more; i++) {
      if ((p[i] & 0xC0) != 0x80) return false;
    }
    p += more + 1;
  }
  return true;
}

std::string_view shortened(std::string_view text, std::size_t most) {
  text = text.substr(0, most);
  while (!is_utf8(as_bytes(text))) text.remove_suffix(1);
  return text;
}

bool is_name(std::string_view text) {
  auto plain = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= 63 && plain(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return plain(c) || c == '_' || c == '-'; });
}

void writer::enlarge(std::size_t more) {
  std::size_t capacity = std::bit_ceil(std::max<std::size_t>(_size + more, 64));
  auto* larger = static_cast<std::uint8_t*>(std::realloc(_data, capacity));
  if (larger == nullptr) std::abort();
  _data = larger;
  _capacity = capacity;
}

void writer::long_varint(std::uint64_t value) {
  std::uint8_t* p = room(10);
  std::size_t n = 0;
  for (; value >= 0x80; value >>= 7) p[n++] = static_cast<std::uint8_t>(value | 0x80);
  p[n++] = static_cast<std::uint8_t>(value);
  _size += n;
}

std::uint64_t reader::long_varint() {
  std::uint64_t value = 0;
  for (int shift = 0; p != end; shift += 7) {
    std::uint8_t byte = *p++;
    if (shift == 63 && byte > 1) return fail("P1.2"), 0;
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte >= 0x80) continue;
    if (byte == 0 && shift != 0) return fail("P1.2"), 0;
    return value;
  }
  return fail(_section), 0;
}

namespace {

bool is_known(std::uint8_t type) {
  return (type >= 0x01 && type <= 0x0A) || (type >= 0x10 && type <= 0x2A) || type == 0x30 || type == 0x31;
}

}  // namespace

const char* read_frame(byte_span data, bool link, std::uint32_t seed, std::uint64_t payload_most, frame_view& frame) {
  frame.consumed = 0;
  if (data.size() < frame_header_bytes) return nullptr;
  reader header(data.first(frame_header_bytes));
  std::uint32_t length = header.u32();
  std::uint8_t type = header.u8(), flags = header.u8();
  std::uint16_t reserved = header.u16();
  std::uint32_t payload_crc = header.u32(), header_crc = header.u32();
  if (header_crc != crc32c(data.first(12), seed)) return "P2.1";
  if (flags != 0 || reserved != 0) return "P1.6";
  if (!is_known(type)) return "P2.4";
  if (length > payload_most) return "P2.3";
  if (!link && payload_crc != 0) return "P2.5";
  if (data.size() - frame_header_bytes < length) return nullptr;
  frame.type = static_cast<frame_type>(type);
  frame.payload = data.subspan(frame_header_bytes, length);
  if (link && payload_crc != crc32c(frame.payload)) return "P2.5";
  frame.consumed = frame_header_bytes + length;
  return nullptr;
}

std::size_t begin_frame(writer& out) {
  std::size_t at = out.size();
  out.resize(at + frame_header_bytes);
  return at;
}

void end_frame(writer& out, std::size_t at, frame_type type, bool link, std::uint32_t seed) {
  std::size_t end = out.size();
  byte_span payload = out.view(at + frame_header_bytes);
  std::uint32_t payload_crc = link ? crc32c(payload) : 0;
  out.resize(at);
  out.u32(static_cast<std::uint32_t>(end - at - frame_header_bytes));
  out.u8(static_cast<std::uint8_t>(type));
  out.u8(0);
  out.u16(0);
  out.u32(payload_crc);
  out.u32(crc32c(out.view(at), seed));
  out.resize(end);
}

const char* read_message(const run_view& run, reader& at, std::uint64_t message_most, message_view& message) {
  std::uint64_t length = at.varint();
  if (!at.ok() || length == 0 || length > at.left()) return "P3.1";
  if (length > message_most) return "P3.4";
  reader in(at.take(static_cast<std::size_t>(length)), "P3.3");
  in.cut_off = "P3.3";
  std::uint64_t method = in.varint();
  if (!in.ok()) return in.error;
  if (method >> 32 != 0) return "P3.4";
  if (method == 0) return "P4.5";
  message.method = static_cast<std::uint32_t>(method);
  message.call = 0;
  message.key = {};
  if (run.kind != run_kind::fork && run.kind != run_kind::impulse && run.kind != run_kind::request) message.call = in.varint();
  if (run.keyed) {
    message.key = in.byte_string(UINT64_MAX);
    if (in.ok() && (message.key.empty() || message.key.size() > 128)) return "P3.3";
  }
  if (!in.ok()) return in.error;
  if (run.kind == run_kind::call && message.call == 0) return "P3.9";
  message.arguments = in.rest();
  return nullptr;
}

namespace {

const char* check_blocks(byte_span blocks) {
  reader in(blocks, "P3.7");
  while (in.left() != 0 && in.ok()) {
    in.varint(), in.varint();
    in.byte_string(in.left());
  }
  return in.error;
}

// How many of the messages at the front are whole ones of the usual form: less than 16 KiB, with the method's id in one byte or in five, the call's in
// at most eight, and without a key. `p` moves behind them. Any other, and the last ones, are looked at byte by byte.
std::uint32_t pass_usual_messages(const std::uint8_t*& p, const std::uint8_t* end, bool has_call, std::uint32_t count) {
  std::uint32_t passed = 0;
  const std::uint8_t* message = p;
  // All of the numbers stand in the first 16 bytes.
  for (; passed != count && end - message >= 16; passed++) {
    const std::uint8_t* at = message + 1;
    std::size_t length = *message;
    if (length - 1 >= 0x7F) {
      if (length == 0 || *at == 0 || *at >= 0x80) break;
      length = (length & 0x7F) | static_cast<std::size_t>(*at++) << 7;
    }
    if (length > static_cast<std::size_t>(end - at)) break;
    const std::uint8_t* behind = at + length;
    std::uint8_t method = *at++;
    if (method - 1u >= 0x7F) {
      bool is_hash = length >= 5 && method != 0 && (detail::load<std::uint32_t>(at) & 0x808080u) == 0x808080u && at[3] != 0 && at[3] < 0x10;
      if (!is_hash) break;
      at += 4;
    }
    if (has_call) {
      // The last byte of a number is the first one without the highest bit, and none but 0 ends with a zero, which no call has as its id (P3.9).
      std::uint64_t ends = ~detail::load64(at) & 0x8080808080808080;
      if (ends == 0) break;
      at += static_cast<std::size_t>(std::countr_zero(ends)) / 8;
      if (at >= behind || *at == 0) break;
    }
    message = behind;
  }
  p = message;
  return passed;
}

}  // namespace

const char* read_run(byte_span data, std::uint64_t message_most, run_view& run) {
  if (data.size() < run_header_bytes) return "P3.1";
  reader in(data, "P3.1");
  std::uint8_t kind = in.u8(), flags = in.u8();
  run.shard = in.u16();
  run.peer = in.u32();
  run.first = in.u64();
  run.count = in.u32();
  std::uint32_t extension_bytes = in.u32();
  run.hash = in.u64();
  if (kind < 1 || kind > 8) return "P3.2";
  run.kind = static_cast<run_kind>(kind);
  bool can_have_keys = run.kind == run_kind::impulse || run.kind == run_kind::request;
  if (flags > 1 || (flags == 1 && !can_have_keys)) return "P1.6";
  run.keyed = flags == 1;
  if (run.count == 0 || extension_bytes > in.left()) return "P3.1";
  if (data.size() > 262'144 && run.count > 1) return "P3.5";
  if (run.first > 0x7FFFFFFFFFFFFFFFull - (run.count - 1)) return "P3.8";
  run.extensions = in.take(extension_bytes);
  run.messages = in.rest();
  if (const char* broken = check_blocks(run.extensions)) return broken;
  reader at(run.messages, "P3.1");
  message_view message;
  bool is_usual = !run.keyed && run.kind <= run_kind::impulse && message_most >= 1 << 14;
  bool has_call = run.kind != run_kind::fork && run.kind != run_kind::impulse;
  for (std::uint32_t i = 0;; i++) {
    if (is_usual) i += pass_usual_messages(at.p, at.end, has_call, run.count - i);
    if (i == run.count) break;
    if (const char* broken = read_message(run, at, message_most, message)) return broken;
  }
  return at.left() == 0 ? nullptr : "P3.1";
}

}  // namespace ambrosia
