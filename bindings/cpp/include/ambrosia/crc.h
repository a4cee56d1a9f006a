// The two checksums of the protocol: CRC-32C of frame headers (P1.8) and CRC-64/NVME of images, arguments and operations (P1.9).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ambrosia::inline v0 {

using byte_span = std::span<const std::uint8_t>;

namespace detail {

// Table k holds the CRC of each byte followed by k zero bytes, so that several bytes are taken in one step.
template <class Word, std::size_t Tables>
constexpr std::array<std::array<Word, 256>, Tables> crc_tables(Word polynomial) {
  std::array<std::array<Word, 256>, Tables> tables{};
  for (unsigned byte = 0; byte < 256; byte++) {
    Word crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = (crc & 1) != 0 ? (crc >> 1) ^ polynomial : crc >> 1;
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < Tables; k++) {
    for (unsigned byte = 0; byte < 256; byte++) {
      Word before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 255];
    }
  }
  return tables;
}

// Both polynomials are reflected: 1EDC6F41 and AD93D23594C93659 with their bits in the other order.
inline constexpr auto crc32c_tables = crc_tables<std::uint32_t, 8>(0x82F63B78u);
inline constexpr auto crc64_tables = crc_tables<std::uint64_t, 8>(0x9A6C9329AC4BC9B5ull);

// Numbers are written with their lowest byte first (P1.1).
template <class T>
T load(const std::uint8_t* p) {
  T value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&value, p, sizeof value);
  } else {
    for (std::size_t i = sizeof value; i-- != 0;) value = static_cast<T>(static_cast<std::uint64_t>(value) << 8 | p[i]);
  }
  return value;
}
template <class T>
void store(std::uint8_t* p, T value) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(p, &value, sizeof value);
  } else {
    for (std::size_t i = 0; i < sizeof value; i++) p[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
}
inline std::uint64_t load64(const std::uint8_t* p) { return load<std::uint64_t>(p); }

}  // namespace detail

// crc32c(b, crc32c(a)) is the CRC of a followed by b; a seed of 0 is none.
inline std::uint32_t crc32c(byte_span data, std::uint32_t seed = 0) {
  const auto& t = detail::crc32c_tables;
  const std::uint8_t* p = data.data();
  std::size_t n = data.size();
  std::uint32_t crc = ~seed;
  for (; n >= 8; p += 8, n -= 8) {
    std::uint64_t word = detail::load64(p) ^ crc;
    crc = 0;
    for (int k = 0; k < 8; k++) crc ^= t[static_cast<std::size_t>(7 - k)][word >> (8 * k) & 255];
  }
  for (; n != 0; p++, n--) crc = t[0][(crc ^ *p) & 255] ^ (crc >> 8);
  return ~crc;
}

namespace detail {

// The state of CRC-64 behind the lowest `count` bytes of a word (1 to 8), which are looked up side by side. Both states are inverted.
inline std::uint64_t crc64_word(std::uint64_t crc, std::uint64_t word, std::size_t count) {
  std::uint64_t mixed = crc ^ word, after = count == 8 ? 0 : crc >> (8 * count);
  for (std::size_t k = 0; k < count; k++) after ^= crc64_tables[count - 1 - k][mixed >> (8 * k) & 255];
  return after;
}

// Takes whole blocks of 16 bytes, of which there is at least one, by carry-less multiplication, and gives the number of bytes that were taken; none where
// the processor has no such thing. The state is inverted. If there is a `block`, the state becomes 0, and the block stands for all: that costs less.
std::size_t crc64_fold(const std::uint8_t* p, std::size_t n, std::uint64_t& crc, std::uint8_t* block = nullptr);

}  // namespace detail

// The state is its value: crc64(b, crc64(a)) is the hash of a followed by b, and the hash of nothing is 0.
inline std::uint64_t crc64(byte_span data, std::uint64_t state = 0) {
  const std::uint8_t* p = data.data();
  std::size_t n = data.size();
  std::uint64_t crc = ~state;
  std::size_t folded = n >= 16 ? detail::crc64_fold(p, n, crc) : 0;
  p += folded, n -= folded;
  for (; n >= 8; p += 8, n -= 8) crc = detail::crc64_word(crc, detail::load64(p), 8);
  std::uint64_t last = 0;
  for (std::size_t k = 0; k < n; k++) last |= static_cast<std::uint64_t>(p[k]) << (8 * k);
  if (n != 0) crc = detail::crc64_word(crc, last, n);
  return ~crc;
}

}  // namespace ambrosia
