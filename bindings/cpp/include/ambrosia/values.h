// Types of contracts that C++ does not have (contract.md C3).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ambrosia::inline v0 {

struct guid {
  std::array<std::uint8_t, 16> value{};  // in the order of RFC 9562
  auto operator<=>(const guid&) const = default;
};
// Digits of 96 bits, lowest word first, then a word with the sign in bit 31 and the scale in bits 16 to 20 (C3.3).
struct decimal {
  std::array<std::uint32_t, 4> words{};
  bool operator==(const decimal&) const = default;
};
enum class clock_kind : std::uint8_t { not_stated, utc, local };
struct datetime {
  std::int64_t ticks = 0;  // of 100 ns since 1 January of year 1
  clock_kind kind = clock_kind::not_stated;
  auto operator<=>(const datetime&) const = default;
};
struct datetimeoffset {
  std::int64_t ticks = 0;
  std::int16_t offset_minutes = 0;
  auto operator<=>(const datetimeoffset&) const = default;
};
struct timespan {
  std::int64_t ticks = 0;
  auto operator<=>(const timespan&) const = default;
};
struct date {
  std::int32_t days = 0;  // since 1 January of year 1
  auto operator<=>(const date&) const = default;
};
struct time_of_day {
  std::int64_t ticks = 0;  // since midnight
  auto operator<=>(const time_of_day&) const = default;
};

// A map whose pairs keep the order in which they came, which is part of the value (C3.6).
template <class K, class V>
class ordered_map {
 public:
  using key_type = K;
  using mapped_type = V;
  V& operator[](const K& key) {
    if (V* found = find(key)) return *found;
    return _pairs.emplace_back(key, V()).second;
  }
  V* find(const K& key) {
    for (auto& pair : _pairs) {
      if (pair.first == key) return &pair.second;
    }
    return nullptr;
  }
  auto begin() const { return _pairs.begin(); }
  auto end() const { return _pairs.end(); }
  std::size_t size() const { return _pairs.size(); }
  bool operator==(const ordered_map&) const = default;

 private:
  std::vector<std::pair<K, V>> _pairs;
};

// A value that may be missing, of a type that leads back to itself.
template <class T>
class boxed {
 public:
  using value_type = T;
  boxed() = default;
  boxed(T value) : _value(std::make_shared<T>(std::move(value))) {}
  explicit operator bool() const { return _value != nullptr; }
  const T& operator*() const { return *_value; }
  const T* operator->() const { return _value.get(); }

 private:
  std::shared_ptr<const T> _value;
};

}  // namespace ambrosia
