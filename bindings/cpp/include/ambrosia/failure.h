// How a handler fails, and what a failed call gives (P4.4, P4.6, P4.7).
#pragma once

#include <ambrosia/unions.h>

#include <variant>
#if defined(__cpp_exceptions)
#include <exception>
#endif

namespace ambrosia::inline v0 {

// A failure travels as it stands: type, message and the failure behind it. `words` are those of the language's runtime, which may differ
// between two builds of it: they go into a block that no hash covers, and never into an image.
struct failure {
  failure() = default;
  failure(std::string type, std::string message) : type(std::move(type)), message(std::move(message)) {}

  std::string type, message;
  std::shared_ptr<const failure> inner;
  std::string words;
};

// The failure of a call or task that was awaited, as it is thrown in the flow that awaits.
struct called_failure : failure {
  explicit called_failure(failure of) : failure(std::move(of)) {}
};

void write_failure(writer& out, const failure& what);
bool read_failure(byte_span data, failure& what);
// What an awaiting handler that lets `what` through fails with (P4.6).
failure call_failed(failure what);
std::string method_text(std::uint32_t method);

namespace failures {

inline failure no_method(std::uint32_t method) { return {"Ambrosia.NoMethod", "Method 0x" + method_text(method) + " is not in the contract."}; }
inline failure bad_arguments(std::uint32_t method) {
  return {"Ambrosia.BadArguments", "The arguments of method 0x" + method_text(method) + " cannot be decoded."};
}
inline failure bad_result(std::uint32_t method, bool encoding) {
  return {"Ambrosia.BadResult", "The result of method 0x" + method_text(method) + " cannot be " + (encoding ? "encoded." : "decoded.")};
}
inline failure bad_task_result(std::uint64_t task, bool encoding) {
  return {"Ambrosia.BadResult", "The result of task " + std::to_string(task) + " cannot be " + (encoding ? "encoded." : "decoded.")};
}
inline failure bad_failure() { return {"Ambrosia.BadFailure", "The failure cannot be decoded."}; }
inline failure too_long(std::uint64_t limit) {
  return {"Ambrosia.TooLong", "The message is longer than the limit of " + std::to_string(limit) + " bytes."};
}
inline failure timed_out() { return {"Ambrosia.Timeout", "The result did not come in time."}; }
inline failure cancelled() { return {"Ambrosia.Cancelled", "The call was cancelled before its result came."}; }
inline failure misuse(std::string_view of) { return {"Ambrosia.Misuse", "The binding does not allow this use of " + std::string(of) + "."}; }
inline failure limit_reached(std::uint64_t count, std::string_view of) {
  return {"Ambrosia.LimitReached", "There are " + std::to_string(count) + " " + std::string(of) + ", which is the limit."};
}
inline failure no_destination(std::string_view name) { return is_name(name) ? limit_reached(1u << 20, "destinations") : misuse("a name"); }
inline failure unknown_case(const cbor_reader& of) {
  return {"Ambrosia.UnknownCase", std::string(of.union_name) + " has no case " + std::to_string(of.case_number) + " in this version of the contract."};
}
inline failure key_reused() {
  return {"Ambrosia.KeyReused", "The key was used for this method before, with other arguments. Nothing was done: give each request a key of its own."};
}
inline failure flow_too_long() { return {"Ambrosia.FlowTooLong", "The flow has done more than can be kept: go on with again(…)."}; }
// P4.7: what the app did not write does not travel.
inline failure unworded(const std::string& type, std::string words) {
  failure what(type, type + " was thrown.");
  what.words = std::move(words);
  return what;
}

}  // namespace failures

// A value or a failure: what a handler may return where exceptions are off, and what `outcome()` of a call gives.
template <class T>
class result {
 public:
  using stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
  result()
    requires std::is_void_v<T>
  = default;
  template <class U>
    requires(std::convertible_to<U, stored> && !std::derived_from<std::remove_cvref_t<U>, failure> && !std::same_as<std::remove_cvref_t<U>, result>)
  result(U&& value) : _is_failure(false), _value(std::forward<U>(value)) {}
  result(failure what) : _is_failure(true), _failure(std::move(what)) {}

  explicit operator bool() const { return !_is_failure; }
  stored& operator*() { return _value; }
  const stored& operator*() const { return _value; }
  stored* operator->() { return &_value; }
  const failure& error() const { return _failure; }

 private:
  bool _is_failure = false;
  stored _value{};
  failure _failure;
};

template <class T>
struct is_result : std::false_type {
  using inner = T;
};
template <class T>
struct is_result<result<T>> : std::true_type {
  using inner = T;
};
// T of result<T>, and T of any other T.
template <class T>
using value_in_result = typename is_result<T>::inner;

#if defined(__cpp_exceptions)
// What the exception that is being handled means outside; to be called in a catch block.
inline failure current_failure() {
  try {
    throw;
  } catch (const called_failure& what) {
    return call_failed(what);
  } catch (const failure& what) {
    return what;
  } catch (const std::exception& what) {
    return failures::unworded("Ambrosia.Failed", what.what());
  } catch (...) {
    return failures::unworded("Ambrosia.Failed", "");
  }
}
#endif

}  // namespace ambrosia
