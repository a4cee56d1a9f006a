// Aggregates: data of contracts, and the state. `fields` is the list of an aggregate's members, by which it is written and read.
#pragma once

#include <ambrosia/codec.h>

namespace ambrosia::inline v0 {

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

}  // namespace ambrosia
