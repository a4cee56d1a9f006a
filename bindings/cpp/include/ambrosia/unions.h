// Unions: values that are one of several data types (contract.md C3.11).
#pragma once

#include <ambrosia/fields.h>

namespace ambrosia::inline v0 {

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

}  // namespace ambrosia
