#include <ambrosia/cbor.h>

#include <algorithm>
#include <bit>

namespace ambrosia::inline v0 {
namespace cbor {

// Out of line, so that a head saves no registers for it.
[[gnu::noinline, gnu::cold]] static void put_elsewhere(writer& out, major kind, std::uint64_t value) { out.room(9), put_long_head(out, kind, value); }

void put_long_head(writer& out, major kind, std::uint64_t value) {
  if (!out.has_room(9)) [[unlikely]] return put_elsewhere(out, kind, value);
  int power = value < 0x100 ? 0 : value < 0x10000 ? 1 : value >> 32 == 0 ? 2 : 3;
  int size = 1 << power;
  std::uint8_t* p = out.data() + out.size();
  *p = static_cast<std::uint8_t>(static_cast<int>(kind) << 5 | (24 + power));
  detail::store(p + 1, __builtin_bswap64(value << (64 - 8 * size)));
  out.grow(static_cast<std::size_t>(size) + 1);
}

std::uint64_t widen_single(std::uint32_t single) {
  std::uint64_t sign = static_cast<std::uint64_t>(single >> 31) << 63, fraction = single & 0x7FFFFF;
  std::uint32_t exponent = single >> 23 & 0xFF;
  if (exponent == 0xFF) return sign | 0x7FFull << 52 | fraction << 29;
  if (exponent != 0) return sign | static_cast<std::uint64_t>(exponent + 896) << 52 | fraction << 29;
  if (fraction == 0) return sign;
  int shift = std::countl_zero(fraction) - 40;  // to the place of the hidden bit, which is bit 23
  return sign | static_cast<std::uint64_t>(897 - shift) << 52 | (fraction << shift & 0x7FFFFF) << 29;
}

std::uint64_t widen_half(std::uint16_t half) {
  std::uint64_t sign = static_cast<std::uint64_t>(half >> 15) << 63, fraction = half & 0x3FF;
  std::uint32_t exponent = half >> 10 & 0x1F;
  if (exponent == 0x1F) return sign | 0x7FFull << 52 | fraction << 42;
  if (exponent != 0) return sign | static_cast<std::uint64_t>(exponent + 1008) << 52 | fraction << 42;
  if (fraction == 0) return sign;
  int shift = std::countl_zero(fraction) - 53;  // the hidden bit is bit 10
  return sign | static_cast<std::uint64_t>(1009 - shift) << 52 | (fraction << shift & 0x3FF) << 42;
}

namespace {

// The float of fewer bits whose widening has the same bits, if there is one: `width` bits of fraction, exponents from `least` to `most`.
bool narrow(std::uint64_t bits, int width, int least, int most, std::uint32_t& exponent, std::uint64_t& fraction) {
  int wide = static_cast<int>(bits >> 52 & 0x7FF);
  fraction = bits & 0xFFFFFFFFFFFFFull;
  int drop = 52 - width;
  if (wide == 0x7FF) {
    exponent = static_cast<std::uint32_t>(most - least + 2);
  } else if (wide == 0 && fraction == 0) {
    exponent = 0;
  } else if (int e = wide - 1023; e > most) {
    return false;
  } else if (e >= least) {
    exponent = static_cast<std::uint32_t>(e - least + 1);
  } else {
    drop += least - e;
    exponent = 0;
    fraction |= 1ull << 52;
    if (drop > 52 || wide == 0) return false;
  }
  if ((fraction & ((1ull << drop) - 1)) != 0) return false;
  fraction >>= drop;
  return true;
}

}  // namespace

bool narrow_to_single(std::uint64_t bits, std::uint32_t& single) {
  std::uint32_t exponent;
  std::uint64_t fraction;
  if (!narrow(bits, 23, -126, 127, exponent, fraction)) return false;
  single = static_cast<std::uint32_t>(bits >> 63 << 31) | exponent << 23 | static_cast<std::uint32_t>(fraction);
  return true;
}

bool narrow_to_half(std::uint64_t bits, std::uint16_t& half) {
  std::uint32_t exponent;
  std::uint64_t fraction;
  if (!narrow(bits, 10, -14, 15, exponent, fraction)) return false;
  half = static_cast<std::uint16_t>(bits >> 63 << 15 | exponent << 10 | fraction);
  return true;
}

void put_double(writer& out, double value) {
  std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  std::uint16_t half;
  std::uint32_t single;
  int size = 8;
  if (narrow_to_half(bits, half)) {
    bits = half, size = 2;
  } else if (narrow_to_single(bits, single)) {
    bits = single, size = 4;
  }
  out.u8(size == 2 ? 0xF9 : size == 4 ? 0xFA : 0xFB);
  for (int i = size - 1; i >= 0; i--) out.u8(static_cast<std::uint8_t>(bits >> (8 * i)));
}

}  // namespace cbor

namespace {

// What the head of one item says. Of a float or simple value `kind` is other, and `value` its bits.
std::uint64_t take_head(cbor_reader& in, cbor::major& kind, int& info) {
  if (in.p == in.end) return in.fail("Truncated"), 0;
  kind = static_cast<cbor::major>(*in.p >> 5);
  info = *in.p++ & 31;
  if (info < 24) return static_cast<std::uint64_t>(info);
  if (info == 31 && kind != cbor::major::other && kind != cbor::major::tag && kind > cbor::major::negative_number) {
    return in.fail("NotDeterministic"), 0;
  }
  if (info > 27) return in.fail("Malformed"), 0;
  std::size_t size = 1u << (info - 24);
  if (in.left() < size) return in.fail("Truncated"), 0;
  // The lowest bytes of a word whose bytes stand the other way round.
  std::uint64_t value = info == 24 ? *in.p : info == 25 ? detail::load<std::uint16_t>(in.p) : info == 26 ? detail::load<std::uint32_t>(in.p) : detail::load64(in.p);
  value = __builtin_bswap64(value) >> (64 - 8 * size);
  in.p += size;
  std::uint64_t least = info == 24 ? 24 : info == 25 ? 0x100 : info == 26 ? 0x10000 : 1ull << 32;
  if (kind != cbor::major::other && value < least) return in.fail("NotDeterministic"), 0;
  if (kind == cbor::major::other && info == 24 && value < 32) return in.fail("Malformed"), 0;
  return value;
}

std::uint64_t float_bits(cbor_reader& in, int info, std::uint64_t value) {
  std::uint64_t bits = info == 25   ? cbor::widen_half(static_cast<std::uint16_t>(value))
                       : info == 26 ? cbor::widen_single(static_cast<std::uint32_t>(value))
                                    : value;
  std::uint16_t half;
  std::uint32_t single;
  bool shorter = info != 25 && (cbor::narrow_to_half(bits, half) || (info == 27 && cbor::narrow_to_single(bits, single)));
  if (shorter) in.fail("NotDeterministic");
  return bits;
}

}  // namespace

std::uint64_t cbor_reader::long_head(cbor::major kind) {
  cbor::major found;
  int info;
  std::uint64_t value = take_head(*this, found, info);
  if (ok() && found != kind) fail("WrongType");
  return ok() ? value : 0;
}

std::int64_t cbor_reader::long_integer(std::int64_t least, std::int64_t most) {
  auto kind = cbor::major::unsigned_number;
  int info = 0;
  std::uint64_t value = take_head(*this, kind, info);
  if (ok() && kind > cbor::major::negative_number) fail("WrongType");
  auto number = static_cast<std::int64_t>(kind == cbor::major::negative_number ? ~value : value);
  if (value >> 63 != 0 || number < least || number > most) fail("OutOfRange");
  return ok() ? number : 0;
}

bool cbor_reader::read_bool() {
  cbor::major kind;
  int info;
  std::uint64_t value = take_head(*this, kind, info);
  if (ok() && (kind != cbor::major::other || info > 23 || (value != 20 && value != 21))) fail("WrongType");
  return ok() && value == 21;
}

std::uint64_t cbor_reader::read_double_bits() {
  cbor::major kind;
  int info;
  std::uint64_t value = take_head(*this, kind, info);
  if (ok() && (kind != cbor::major::other || info < 25)) fail("WrongType");
  std::uint64_t bits = ok() ? float_bits(*this, info, value) : 0;
  return ok() ? bits : 0;
}

void cbor_reader::skip(bool ordered, int depth) {
  auto kind = cbor::major::other;
  int info = 0;
  std::uint64_t value = 0;
  if (p != end && (*p & 31) < 24) {
    kind = static_cast<cbor::major>(*p >> 5);
    value = static_cast<std::uint64_t>(info = *p++ & 31);
  } else {
    value = take_head(*this, kind, info);
  }
  if (!ok() || kind <= cbor::major::negative_number) return;
  bool nests = kind == cbor::major::array || kind == cbor::major::map || kind == cbor::major::tag;
  if (nests && depth == 64) return fail("TooDeep");
  switch (kind) {
    case cbor::major::byte_string:
    case cbor::major::text:
      if (value > left()) return fail("Truncated");
      if (kind == cbor::major::text && !is_utf8({p, static_cast<std::size_t>(value)})) return fail("Malformed");
      p += value;
      return;
    case cbor::major::array:
      if (value > left()) return fail("Truncated");
      for (; value != 0 && ok(); value--) skip(ordered, depth + 1);
      return;
    case cbor::major::map:
      if (value > left() / 2) return fail("Truncated");
      return skip_map(static_cast<std::size_t>(value), ordered, depth);
    case cbor::major::tag: return skip(ordered, depth + 1);
    case cbor::major::other:
      if (info > 24) float_bits(*this, info, value);
      return;
    default: return;
  }
}

void cbor_reader::skip_map(std::size_t count, bool ordered, int depth) {
  byte_span before;
  for (; count != 0 && ok(); count--) {
    const std::uint8_t* from = p;
    skip(ordered, depth + 1);
    byte_span key(from, p);
    if (ordered && ok() && !before.empty() && !std::lexicographical_compare(before.begin(), before.end(), key.begin(), key.end())) {
      return fail("NotDeterministic");
    }
    before = key;
    skip(ordered, depth + 1);
  }
}

}  // namespace ambrosia
