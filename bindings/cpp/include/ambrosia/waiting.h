// What a flow can wait for: calls, tasks and delays, alone or several together.
#pragma once

#include <ambrosia/flow_core.h>

namespace ambrosia::inline v0 {

// Waits for leaves of a flow: for all of them, or for the first. Leaves is an array or a vector of their numbers.
template <class Leaves>
struct leaves_awaiter {
  using waits_for_leaves = void;
  flow_core& at;
  Leaves leaves;
  bool all = true;
  bool await_ready() { return at.is_ready(leaves, all); }
  void await_suspend(std::coroutine_handle<> h) { at.wait(h, leaves, all); }
};
using leaf_list = std::vector<std::uint32_t>;

// What was begun and gives a T: a call, a task or a delay. It is under way already; co_await waits for it.
// co_await x gives T, and lets a failure through; co_await x.outcome() gives result<T>.
template <class T, bool Raw = false>
class [[nodiscard]] pending {
 public:
  using value_type = T;
  pending(flow_core& at, std::uint32_t leaf, std::uint32_t method, std::uint64_t task = 0) : _at(&at), _leaf(leaf), _method(method), _task(task) {}
  pending(pending&&) noexcept = default;
  pending& operator=(pending&&) noexcept = default;

  std::uint32_t leaf() const { return _leaf; }
  flow_core& core() const { return *_at; }

  // Waits for this leaf alone. Where there are no exceptions, a failure that is not taken ends the flow at its wait.
  template <bool GivesOutcome>
  struct leaf_awaiter {
    using waits_for_leaves = void;
    static constexpr bool takes_failures = GivesOutcome || has_exceptions;
    pending& of;
    bool await_ready() { return of._at->is_ready(of._leaf, takes_failures); }
    void await_suspend(std::coroutine_handle<> h) { of._at->wait(h, of._leaf, takes_failures); }
    std::conditional_t<GivesOutcome, result<T>, T> await_resume() {
      if constexpr (GivesOutcome) return of.take();
      if constexpr (!GivesOutcome) return of.take_value();
    }
  };
  leaf_awaiter<true> outcome() { return {*this}; }
  leaf_awaiter<false> value() { return {*this}; }

  // What is there already.
  result<T> take() {
    bool is_failure = false;
    byte_span data = _at->take(_leaf, is_failure);
    stored value{};
    if (is_failure || !read(data, value)) return why_not(data, is_failure);
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return value;
    }
  }

 private:
  using stored = typename result<T>::stored;
  // As `take`, without the room for a failure, which nearly no wait needs.
  T take_value() {
    bool is_failure = false;
    byte_span data = _at->take(_leaf, is_failure);
    stored value{};
    if (is_failure || !read(data, value)) [[unlikely]] let_through(data, is_failure);
    if constexpr (!std::is_void_v<T>) return value;
  }
  [[gnu::noinline]] void let_through(byte_span data, bool is_failure) const {
#if defined(__cpp_exceptions)
    throw called_failure(why_not(data, is_failure));
#else
    _at->doom(call_failed(why_not(data, is_failure)));
#endif
  }
  static bool read([[maybe_unused]] byte_span data, [[maybe_unused]] stored& value) {
    if constexpr (Raw) {
      value = to_bytes(data);
    } else if constexpr (!std::is_void_v<T>) {
      if constexpr (whole_number<T>) {
        if (codec<T>::read_byte(data, value)) return true;
      }
      cbor_reader in(data);
      decode(in, value);
      return in.ok();
    }
    return true;
  }
  // The failure that was given, or why the value cannot be read.
  [[gnu::noinline]] failure why_not(byte_span data, bool is_failure) const {
    failure what;
    if (is_failure) return read_failure(data, what) ? what : failures::bad_failure();
    cbor_reader in(data);
    if constexpr (!Raw && !std::is_void_v<T>) {
      stored value{};
      decode(in, value);
    }
    if (!in.union_name.empty()) return failures::unknown_case(in);
    return _task != 0 ? failures::bad_task_result(_task, false) : failures::bad_result(_method, false);
  }

  flow_core* _at;
  std::uint32_t _leaf, _method;
  std::uint64_t _task;
};

template <class T>
using call = pending<T>;

// co_await at.all(a, b): a tuple of outcomes, when all are there.
template <class... P>
struct all_awaiter : leaves_awaiter<std::array<std::uint32_t, sizeof...(P)>> {
  std::tuple<P&...> of;
  std::tuple<result<typename P::value_type>...> await_resume() {
    return std::apply([](P&... one) { return std::tuple<result<typename P::value_type>...>{one.take()...}; }, of);
  }
};
// The same of a list of calls of one type.
template <class P>
struct all_list_awaiter : leaves_awaiter<leaf_list> {
  std::vector<P>& of;
  std::vector<result<typename P::value_type>> await_resume() {
    std::vector<result<typename P::value_type>> values;
    for (P& one : of) values.push_back(one.take());
    return values;
  }
};
// The same of leaves of several types, which are taken behind it.
struct all_leaves_awaiter : leaves_awaiter<leaf_list> {
  void await_resume() {}
};

// co_await at.any(a, b): the place of the one that came first. The others stay under way.
template <class Leaves>
struct any_awaiter : leaves_awaiter<Leaves> {
  std::size_t await_resume() { return this->at.choose(this->leaves.data(), this->leaves.size()); }
};

// co_await at.within(call, time): its outcome, or Ambrosia.Timeout; what comes later has no effect.
template <class P>
struct within_awaiter : leaves_awaiter<std::array<std::uint32_t, 2>> {
  P of;
  result<typename P::value_type> await_resume() {
    std::size_t first = at.choose(leaves.data(), 2);
    at.give_up(leaves[1 - first]);
    if (first == 0) return of.take();
    bool is_failure = false;
    at.take(leaves[1], is_failure);
    return failures::timed_out();
  }
};

// co_return at.again(arguments): the flow begins anew with these, with an empty journal; its caller still waits.
struct again_with {
  bytes arguments;
};

}  // namespace ambrosia
