// How a C++ type travels and stands in an image: one codec for each type of a contract (contract.md C2, C3). A type without a codec (a pointer, a
// view, an unordered container) is neither sent nor kept.
#pragma once

#include <ambrosia/cbor.h>
#include <ambrosia/values.h>

#include <bit>
#include <concepts>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <type_traits>

namespace ambrosia::inline v0 {

template <class T>
struct codec {
  static_assert(!std::is_pointer_v<T>, "a pointer does not travel and is not kept: its address differs after a restore");
  static_assert(sizeof(T) == 0,
                "this type has no codec: what is sent or kept is a number, text, bytes, an aggregate with `fields`, or an ordered container of such; "
                "an unordered one would have another order after a restore");
};

template <class T>
void encode(writer& out, const T& value) {
  codec<T>::write(out, value);
}
template <class T>
void decode(cbor_reader& in, T& value) {
  codec<T>::read(in, value);
}

// An array with these items, and nothing else in it.
template <class... T>
void write_row(writer& out, const T&... items) {
  cbor::put_array(out, sizeof...(T));
  (encode(out, items), ...);
}
template <class... T>
void read_row(cbor_reader& in, T&... items) {
  in.read_array_of(sizeof...(T));
  (decode(in, items), ...);
}

// ---- Numbers, texts, bytes ----

template <class T>
concept whole_number = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                 !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

template <whole_number T>
struct codec<T> {
  static void write(writer& out, T value) {
    if constexpr (std::signed_integral<T>) {
      cbor::put_integer(out, value);
    } else {
      cbor::put_unsigned(out, value);
    }
  }
  static void read(cbor_reader& in, T& value) {
    if constexpr (std::signed_integral<T>) {
      value = static_cast<T>(in.read_integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    } else if constexpr (sizeof(T) < 8) {
      value = static_cast<T>(in.read_integer(0, std::numeric_limits<T>::max()));
    } else {
      value = in.read_unsigned();
    }
  }
  // The same of an item of one byte, as most numbers are, for which no reader is made. False: it is none.
  static bool read_byte(byte_span item, T& value) {
    if (item.size() != 1 || (item[0] & (std::signed_integral<T> ? 0xDF : 0xFF)) >= 24) return false;
    return value = static_cast<T>((item[0] & 31) ^ -(item[0] >> 5)), true;
  }
};
template <class T>
  requires std::is_enum_v<T>
struct codec<T> {
  using base = std::underlying_type_t<T>;
  static void write(writer& out, T value) { encode(out, static_cast<base>(value)); }
  static void read(cbor_reader& in, T& value) {
    base plain = 0;
    decode(in, plain);
    value = static_cast<T>(plain);
  }
};
template <>
struct codec<bool> {
  static void write(writer& out, bool value) { cbor::put_bool(out, value); }
  static void read(cbor_reader& in, bool& value) { value = in.read_bool(); }
};
template <>
struct codec<char16_t> {
  static void write(writer& out, char16_t value) { cbor::put_unsigned(out, value); }
  static void read(cbor_reader& in, char16_t& value) { value = static_cast<char16_t>(in.read_unsigned(0xFFFF)); }
};
template <>
struct codec<double> {
  static void write(writer& out, double value) { cbor::put_double(out, value); }
  static void read(cbor_reader& in, double& value) { value = std::bit_cast<double>(in.read_double_bits()); }
};
template <>
struct codec<float> {
  static void write(writer& out, float value) {
    cbor::put_double(out, std::bit_cast<double>(cbor::widen_single(std::bit_cast<std::uint32_t>(value))));
  }
  static void read(cbor_reader& in, float& value) {
    std::uint32_t single = 0;
    if (!cbor::narrow_to_single(in.read_double_bits(), single)) in.fail("OutOfRange");
    value = std::bit_cast<float>(single);
  }
};
// A view is one of the message: for parameters of plain handlers alone, which end before the message does.
template <class T>
  requires(std::same_as<T, std::string> || std::same_as<T, std::string_view>)
struct codec<T> {
  static void write(writer& out, std::string_view value) {
    if (!is_utf8(as_bytes(value))) out.bad = true;
    cbor::put_text(out, value);
  }
  static void read(cbor_reader& in, T& value) { value = in.read_text(); }
};
template <>
struct codec<byte_span> {
  static void write(writer& out, byte_span value) { cbor::put_bytes(out, value); }
  static void read(cbor_reader& in, byte_span& value) { value = in.read_bytes(); }
};
template <>
struct codec<bytes> {
  static void write(writer& out, const bytes& value) { cbor::put_bytes(out, value); }
  static void read(cbor_reader& in, bytes& value) { value = to_bytes(in.read_bytes()); }
};
template <>
struct codec<guid> {
  static void write(writer& out, const guid& value) {
    if (!out.image) cbor::put_tag(out, 37);  // I4.4 has no such tag
    cbor::put_bytes(out, value.value);
  }
  static void read(cbor_reader& in, guid& value) {
    bool plain = in.next_is(cbor::major::byte_string) && in.images;
    if (!plain) in.read_tag(37);
    byte_span data = in.read_bytes();
    if (in.ok() && data.size() != 16) in.fail("OutOfRange");
    if (in.ok()) std::copy(data.begin(), data.end(), value.value.begin());
  }
};
template <>
struct codec<decimal> {
  static void write(writer& out, const decimal& value) {
    cbor::put_array(out, 4);
    for (std::uint32_t word : value.words) cbor::put_integer(out, static_cast<std::int32_t>(word));
  }
  static void read(cbor_reader& in, decimal& value) {
    in.read_array_of(4);
    for (std::uint32_t& word : value.words) word = static_cast<std::uint32_t>(in.read_integer(INT32_MIN, INT32_MAX));
    std::uint32_t scale = value.words[3] >> 16 & 0xFF;
    if ((value.words[3] & 0x7F00FFFF) != 0 || scale > 28) in.fail("OutOfRange");
  }
};

inline constexpr std::int64_t ticks_most = 3'155'378'975'999'999'999;  // of a datetime (C3)

template <>
struct codec<datetime> {
  static void write(writer& out, const datetime& value) { write_row(out, value.ticks, value.kind); }
  static void read(cbor_reader& in, datetime& value) {
    in.read_array_of(2);
    value.ticks = in.read_integer(0, ticks_most);
    value.kind = static_cast<clock_kind>(in.read_unsigned(2));
  }
};
template <>
struct codec<datetimeoffset> {
  static void write(writer& out, const datetimeoffset& value) { write_row(out, value.ticks, value.offset_minutes); }
  static void read(cbor_reader& in, datetimeoffset& value) {
    in.read_array_of(2);
    value.ticks = in.read_integer(0, ticks_most);
    value.offset_minutes = static_cast<std::int16_t>(in.read_integer(-840, 840));
    std::int64_t utc = value.ticks - value.offset_minutes * 600'000'000LL;
    if (utc < 0 || utc > ticks_most) in.fail("OutOfRange");
  }
};
// One number in its own bounds.
template <class T, auto Member, std::int64_t Least, std::int64_t Most>
struct counted_codec {
  static void write(writer& out, const T& value) { cbor::put_integer(out, value.*Member); }
  static void read(cbor_reader& in, T& value) {
    value.*Member = static_cast<std::remove_reference_t<decltype(value.*Member)>>(in.read_integer(Least, Most));
  }
};
template <>
struct codec<timespan> : counted_codec<timespan, &timespan::ticks, INT64_MIN, INT64_MAX> {};
template <>
struct codec<date> : counted_codec<date, &date::days, 0, 3'652'058> {};
template <>
struct codec<time_of_day> : counted_codec<time_of_day, &time_of_day::ticks, 0, 863'999'999'999> {};

// ---- Containers ----

template <class T>
concept maybe_missing = std::same_as<T, std::optional<typename T::value_type>> || std::same_as<T, boxed<typename T::value_type>>;
template <class T>
concept sequence = std::same_as<T, std::vector<typename T::value_type>> || std::same_as<T, std::deque<typename T::value_type>> ||
                   std::same_as<T, std::set<typename T::value_type>>;
template <class T>
concept pairs_in_order = std::same_as<T, std::map<typename T::key_type, typename T::mapped_type>> ||
                         std::same_as<T, ordered_map<typename T::key_type, typename T::mapped_type>>;
template <class T>
concept row = requires { std::tuple_size<T>::value; } && !requires { typename T::value_type; };  // a pair or a tuple

template <maybe_missing T>
struct codec<T> {
  static void write(writer& out, const T& value) { value ? encode(out, *value) : cbor::put_null(out); }
  static void read(cbor_reader& in, T& value) {
    value = T();
    if (in.take_null()) return;
    typename T::value_type inner{};
    decode(in, inner);
    value = std::move(inner);
  }
};
template <sequence T>
struct codec<T> {
  static void write(writer& out, const T& items) {
    cbor::put_array(out, items.size());
    for (const auto& item : items) encode<typename T::value_type>(out, item);
  }
  static void read(cbor_reader& in, T& items) {
    items.clear();
    for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
      typename T::value_type item{};
      decode(in, item);
      items.insert(items.end(), std::move(item));
    }
  }
};
// C3.6: pairs in the order of the map; of a key that stands twice the last value counts.
template <pairs_in_order T>
struct codec<T> {
  static void write(writer& out, const T& map) {
    cbor::put_array(out, map.size());
    for (const auto& [key, value] : map) cbor::put_array(out, 2), encode(out, key), encode(out, value);
  }
  static void read(cbor_reader& in, T& map) {
    map = T();
    for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
      typename T::key_type key{};
      typename T::mapped_type value{};
      read_row(in, key, value);
      if (in.ok()) map[key] = std::move(value);
    }
  }
};
template <class T, std::size_t N>
struct codec<std::array<T, N>> {
  static void write(writer& out, const std::array<T, N>& value) {
    cbor::put_array(out, N);
    for (const T& item : value) encode(out, item);
  }
  static void read(cbor_reader& in, std::array<T, N>& value) {
    in.read_array_of(N);
    for (T& item : value) decode(in, item);
  }
};
template <row T>
struct codec<T> {
  static void write(writer& out, const T& value) {
    std::apply([&](const auto&... item) { write_row(out, item...); }, value);
  }
  static void read(cbor_reader& in, T& value) {
    std::apply([&](auto&... item) { read_row(in, item...); }, value);
  }
};

}  // namespace ambrosia
