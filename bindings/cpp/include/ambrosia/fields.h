// How a C++ type travels and stands in an image: one codec for each type of a contract (contract.md C2, C3), and `fields`, the list of an
// aggregate's members. A type without a codec (a pointer, a view, an unordered container) is neither sent nor kept.
#pragma once

#include <ambrosia/cbor.h>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <type_traits>

namespace ambrosia {
inline namespace v0 {

// ---- Types of contracts that C++ does not have ----

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
  boxed() = default;
  boxed(T value) : _value(std::make_shared<T>(std::move(value))) {}
  explicit operator bool() const { return _value != nullptr; }
  const T& operator*() const { return *_value; }
  const T* operator->() const { return _value.get(); }

 private:
  std::shared_ptr<const T> _value;
};

// ---- The codec's customisation point ----

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
template <>
struct codec<std::string> {
  static void write(writer& out, const std::string& value) {
    if (!is_utf8(as_bytes(value))) out.bad = true;
    cbor::put_text(out, value);
  }
  static void read(cbor_reader& in, std::string& value) { value = in.read_text(); }
};
// A view of the message: for parameters of plain handlers alone, which end before the message does.
template <>
struct codec<std::string_view> {
  static void write(writer& out, std::string_view value) {
    if (!is_utf8(as_bytes(value))) out.bad = true;
    cbor::put_text(out, value);
  }
  static void read(cbor_reader& in, std::string_view& value) { value = in.read_text(); }
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
  static void write(writer& out, const datetime& value) {
    cbor::put_array(out, 2), cbor::put_integer(out, value.ticks), cbor::put_unsigned(out, static_cast<std::uint8_t>(value.kind));
  }
  static void read(cbor_reader& in, datetime& value) {
    in.read_array_of(2);
    value.ticks = in.read_integer(0, ticks_most);
    value.kind = static_cast<clock_kind>(in.read_unsigned(2));
  }
};
template <>
struct codec<datetimeoffset> {
  static void write(writer& out, const datetimeoffset& value) {
    cbor::put_array(out, 2), cbor::put_integer(out, value.ticks), cbor::put_integer(out, value.offset_minutes);
  }
  static void read(cbor_reader& in, datetimeoffset& value) {
    in.read_array_of(2);
    value.ticks = in.read_integer(0, ticks_most);
    value.offset_minutes = static_cast<std::int16_t>(in.read_integer(-840, 840));
    std::int64_t utc = value.ticks - value.offset_minutes * 600'000'000LL;
    if (utc < 0 || utc > ticks_most) in.fail("OutOfRange");
  }
};
template <>
struct codec<timespan> {
  static void write(writer& out, timespan value) { cbor::put_integer(out, value.ticks); }
  static void read(cbor_reader& in, timespan& value) { value.ticks = in.read_integer(); }
};
template <>
struct codec<date> {
  static void write(writer& out, date value) { cbor::put_integer(out, value.days); }
  static void read(cbor_reader& in, date& value) { value.days = static_cast<std::int32_t>(in.read_integer(0, 3'652'058)); }
};
template <>
struct codec<time_of_day> {
  static void write(writer& out, time_of_day value) { cbor::put_integer(out, value.ticks); }
  static void read(cbor_reader& in, time_of_day& value) { value.ticks = in.read_integer(0, 863'999'999'999); }
};

// ---- Containers ----

template <class T>
struct codec<std::optional<T>> {
  static void write(writer& out, const std::optional<T>& value) { value ? encode(out, *value) : cbor::put_null(out); }
  static void read(cbor_reader& in, std::optional<T>& value) {
    value.reset();
    if (in.take_null()) return;
    T inner{};
    decode(in, inner);
    value = std::move(inner);
  }
};
template <class T>
struct codec<boxed<T>> {
  static void write(writer& out, const boxed<T>& value) { value ? encode(out, *value) : cbor::put_null(out); }
  static void read(cbor_reader& in, boxed<T>& value) {
    T inner{};
    if (in.take_null()) return void(value = {});
    decode(in, inner);
    value = std::move(inner);
  }
};

namespace detail {

template <class C>
void write_items(writer& out, const C& items) {
  cbor::put_array(out, items.size());
  for (const auto& item : items) encode<typename C::value_type>(out, item);
}
template <class C>
void read_items(cbor_reader& in, C& items) {
  items.clear();
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    typename C::value_type item{};
    decode(in, item);
    items.insert(items.end(), std::move(item));
  }
}
// C3.6: pairs in the order of the map; of a key that stands twice the last value counts.
template <class M>
void write_pairs(writer& out, const M& map) {
  cbor::put_array(out, map.size());
  for (const auto& [key, value] : map) cbor::put_array(out, 2), encode(out, key), encode(out, value);
}
template <class K, class V, class M>
void read_pairs(cbor_reader& in, M& map) {
  map = M();
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    K key{};
    V value{};
    in.read_array_of(2);
    decode(in, key);
    decode(in, value);
    if (in.ok()) map[key] = std::move(value);
  }
}

}  // namespace detail

template <class T>
struct codec<std::vector<T>> {
  static void write(writer& out, const std::vector<T>& value) { detail::write_items(out, value); }
  static void read(cbor_reader& in, std::vector<T>& value) { detail::read_items(in, value); }
};
template <class T>
struct codec<std::deque<T>> {
  static void write(writer& out, const std::deque<T>& value) { detail::write_items(out, value); }
  static void read(cbor_reader& in, std::deque<T>& value) { detail::read_items(in, value); }
};
template <class T>
struct codec<std::set<T>> {
  static void write(writer& out, const std::set<T>& value) { detail::write_items(out, value); }
  static void read(cbor_reader& in, std::set<T>& value) { detail::read_items(in, value); }
};
template <class K, class V>
struct codec<std::map<K, V>> {
  static void write(writer& out, const std::map<K, V>& value) { detail::write_pairs(out, value); }
  static void read(cbor_reader& in, std::map<K, V>& value) { detail::read_pairs<K, V>(in, value); }
};
template <class K, class V>
struct codec<ordered_map<K, V>> {
  static void write(writer& out, const ordered_map<K, V>& value) { detail::write_pairs(out, value); }
  static void read(cbor_reader& in, ordered_map<K, V>& value) { detail::read_pairs<K, V>(in, value); }
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
template <class... T>
struct codec<std::tuple<T...>> {
  static void write(writer& out, const std::tuple<T...>& value) {
    cbor::put_array(out, sizeof...(T));
    std::apply([&](const T&... item) { (encode(out, item), ...); }, value);
  }
  static void read(cbor_reader& in, std::tuple<T...>& value) {
    in.read_array_of(sizeof...(T));
    std::apply([&](T&... item) { (decode(in, item), ...); }, value);
  }
};
template <class A, class B>
struct codec<std::pair<A, B>> {
  static void write(writer& out, const std::pair<A, B>& value) { cbor::put_array(out, 2), encode(out, value.first), encode(out, value.second); }
  static void read(cbor_reader& in, std::pair<A, B>& value) { in.read_array_of(2), decode(in, value.first), decode(in, value.second); }
};

// ---- Aggregates: data of contracts, and the state ----

// One member of an aggregate: its key on the wire, a name or (of contracts) a number, and where it is.
template <class S, class T>
struct field {
  std::string_view name;
  std::int64_t number;  // -1: the name is the key
  T S::*member;
};

namespace detail {

constexpr std::string_view name_of(std::string_view name) { return name; }
constexpr std::string_view name_of(int) { return {}; }
constexpr std::int64_t number_of(std::string_view) { return -1; }
constexpr std::int64_t number_of(int number) { return number; }

struct anything {
  template <class T>
  constexpr operator T() const noexcept;
};
template <class T, class... A>
concept braces = requires { T{std::declval<A>()...}; };
// Whether the listed members, in their order, are all that can stand in the aggregate's braces. (An optional takes `nullopt`, and not
// `anything`, which it could take in two ways.)
template <class S, class... T>
consteval bool are_all(const std::tuple<field<S, T>...>&) {
  return braces<S, T...> && !braces<S, T..., anything> && !braces<S, T..., std::nullopt_t>;
}

}  // namespace detail

// The list of an aggregate's members: fields("balance", &Accounts::balance, 2, &Accounts::moved). A name or a number stands before each member.
template <class K, class S, class T, class... Rest>
constexpr auto fields(const K& key, T S::*member, const Rest&... rest) {
  std::tuple first(field<S, T>{detail::name_of(key), detail::number_of(key), member});
  if constexpr (sizeof...(Rest) == 0) {
    return first;
  } else {
    return std::tuple_cat(first, fields(rest...));
  }
}
constexpr std::tuple<> fields() { return {}; }

template <class T>
concept described = requires { std::tuple_size<std::remove_cvref_t<decltype(T::fields)>>::value; };

namespace detail {

// The places of the members in the bytewise order of their encoded keys (C3.7, I4.4): numbers by size, then texts, the shorter ones first.
template <described S>
consteval auto key_order() {
  constexpr std::size_t count = std::tuple_size_v<std::remove_cvref_t<decltype(S::fields)>>;
  std::array<std::size_t, count> order{};
  std::array<std::pair<std::int64_t, std::string_view>, count> keys{};
  std::apply([&](const auto&... f) { keys = {std::pair<std::int64_t, std::string_view>(f.number, f.name)...}; }, S::fields);
  auto before = [](const auto& a, const auto& b) {
    if ((a.first < 0) != (b.first < 0)) return b.first < 0;
    if (a.first >= 0) return a.first < b.first;
    return a.second.size() != b.second.size() ? a.second.size() < b.second.size() : a.second < b.second;
  };
  for (std::size_t i = 0; i < count; i++) {
    std::size_t at = i;
    for (; at != 0 && before(keys[i], keys[order[at - 1]]); at--) order[at] = order[at - 1];
    order[at] = i;
  }
  return order;
}

template <described S>
constexpr bool whole() {
  static_assert(std::is_aggregate_v<S>, "fields can be listed of an aggregate only: no constructors, no base classes, nothing private");
  static_assert(are_all(S::fields), "a field is missing in the list `fields`, or the list has another order than the declarations");
  return true;
}

template <class S, class F>
void write_field(writer& out, const S& value, const F& f) {
  if (f.number < 0) {
    cbor::put_text(out, f.name);
  } else {
    cbor::put_unsigned(out, static_cast<std::uint64_t>(f.number));
  }
  encode(out, value.*f.member);
}

}  // namespace detail

template <described S>
struct codec<S> {
  static void write(writer& out, const S& value) {
    static_assert(detail::whole<S>());
    static constexpr auto order = detail::key_order<S>();
    cbor::put_map(out, order.size());
    if (++depth > 64) out.bad = true;
    if (!out.bad) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (detail::write_field(out, value, std::get<order[I]>(S::fields)), ...);
      }(std::make_index_sequence<order.size()>());
    }
    depth--;
  }
  static void read(cbor_reader& in, S& value) {
    static_assert(detail::whole<S>());
    std::size_t count = in.read_map();
    if (++in.depth > 64) in.fail("TooDeep");
    for (; count != 0 && in.ok(); count--) read_pair(in, value);
    in.depth--;
  }

 private:
  static void read_pair(cbor_reader& in, S& value) {
    std::string_view name;
    std::int64_t key = -1;
    if (in.next_is(cbor::major::text)) {
      name = in.read_text();
    } else if (in.next_is(cbor::major::unsigned_number)) {
      std::uint64_t wide = in.read_unsigned();
      key = wide > INT64_MAX ? -2 : static_cast<std::int64_t>(wide);
    } else {
      in.skip();
      key = -2;
    }
    if (!in.ok()) return;
    bool known = std::apply(
        [&](const auto&... f) { return ((f.number == key && f.name == name ? (decode(in, value.*f.member), true) : false) || ...); }, S::fields);
    if (!known) in.skip();
  }
  static inline thread_local int depth = 0;
};

// ---- Unions ----

// One case of a union: its number in the contract, and its data.
template <std::uint32_t Number, class Data>
struct union_case {
  static constexpr std::uint32_t number = Number;
  using type = Data;
};
template <class... Case>
struct union_cases {};
namespace detail {
template <class T, class... C>
constexpr bool is_case(const union_cases<C...>*) {
  return (std::same_as<T, typename C::type> || ...);
}
// In a function of its own, so that the union's cases are looked up when it is whole.
template <class U, class T>
constexpr bool has_case() {
  return is_case<T>(static_cast<const typename U::cases*>(nullptr));
}
}  // namespace detail

// A value that is one of several data types (C3.11). A union derives from it and names itself and its cases:
//   struct Payment : ambrosia::one_of<Payment> { using one_of::one_of;
//     static constexpr std::string_view name = "Shop.Payment"; using cases = ambrosia::union_cases<ambrosia::union_case<0, Card>, …>; };
template <class U>
class one_of {
 public:
  one_of() = default;
  template <class T>
    requires(detail::has_case<U, T>())
  one_of(T value) : _number(number_of<T>(typename U::cases())), _value(std::make_shared<T>(std::move(value))) {}

  template <class T>
  const T* as() const {
    return _value != nullptr && _number == number_of<T>(typename U::cases()) ? static_cast<const T*>(_value.get()) : nullptr;
  }

 private:
  friend struct codec<U>;
  template <class T, class... C>
  static constexpr std::uint32_t number_of(union_cases<C...>) {
    static_assert((std::same_as<T, typename C::type> || ...), "this type is no case of the union");
    return ((std::same_as<T, typename C::type> ? C::number : 0) + ...);
  }

  std::uint32_t _number = 0;
  std::shared_ptr<const void> _value;  // null: the first case with all its fields missing (C3.9)
};

template <class U>
  requires std::derived_from<U, one_of<U>>
struct codec<U> {
  static void write(writer& out, const U& value) { write_case(out, value, typename U::cases()); }
  static void read(cbor_reader& in, U& value) {
    in.read_array_of(2);
    std::uint64_t number = in.read_unsigned();
    if (in.ok()) read_case(in, value, number, typename U::cases());
  }

 private:
  template <class First, class... C>
  static void write_case(writer& out, const U& value, union_cases<First, C...>) {
    cbor::put_array(out, 2);
    if (value._value == nullptr) return cbor::put_unsigned(out, First::number), encode(out, typename First::type());
    cbor::put_unsigned(out, value._number);
    auto one = [&](auto which) {
      using data = typename decltype(which)::type;
      if (which.number == value._number) encode(out, *static_cast<const data*>(value._value.get()));
    };
    (one(First()), ..., one(C()));
  }
  template <class... C>
  static void read_case(cbor_reader& in, U& value, std::uint64_t number, union_cases<C...>) {
    auto one = [&](auto which) {
      using data = typename decltype(which)::type;
      if (which.number != number) return false;
      data inner{};
      decode(in, inner);
      value = U(std::move(inner));
      return true;
    };
    if (!(one(C()) || ...)) in.fail_case(U::name, number);
  }
};

}  // namespace v0
}  // namespace ambrosia
