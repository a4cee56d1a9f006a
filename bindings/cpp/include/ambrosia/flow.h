// The coroutine of a flow: a static function whose first parameter is a context, which waits only for what the log completes.
#pragma once

#include <ambrosia/waiting.h>

namespace ambrosia::inline v0 {

template <class T>
class flow;

template <class T>
struct is_flow : std::false_type {};
template <class T>
struct is_flow<flow<T>> : std::true_type {};
template <class T>
struct is_pending : std::false_type {};
template <class T, bool Raw>
struct is_pending<pending<T, Raw>> : std::true_type {};
template <class T>
concept own_awaiter = requires { typename T::waits_for_leaves; };

template <class T>
inline constexpr bool is_held_by_value = !std::is_reference_v<T> && !std::is_pointer_v<T> && !std::same_as<T, std::string_view> && !std::same_as<T, byte_span>;

struct flow_promise_base {
  flow_core* core = nullptr;
  std::coroutine_handle<> parent;
  bool is_failed = false, is_child = false;

  static void* operator new(std::size_t size) { return take_frame(size); }
  static void operator delete(void* frame, std::size_t size) { give_frame(frame, size); }

  std::suspend_always initial_suspend() noexcept { return {}; }
  struct final_awaiter {
    bool await_ready() noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<>) noexcept { return next; }
    void await_resume() noexcept {}
    std::coroutine_handle<> next;
  };
  final_awaiter final_suspend() noexcept {
    bool goes_up = is_child && parent != nullptr && !core->is_doomed();
    return {goes_up ? parent : std::noop_coroutine()};
  }
  void fail(failure what) {
    is_failed = true;
    if (!is_child) {
      core->error = std::make_unique<failure>(std::move(what));
    } else if constexpr (!has_exceptions) {
      core->doom(std::move(what));
    } else {
      child_failure = std::make_unique<failure>(std::move(what));
    }
  }
  void unhandled_exception() {
#if defined(__cpp_exceptions)
    if (is_child) {
      is_failed = true, thrown = std::current_exception();
      return;
    }
    if (!core->replay_failed()) fail(current_failure());
#endif
  }

  template <class A>
  decltype(auto) await_transform(A&& awaited) {
    using plain = std::remove_cvref_t<A>;
    static_assert(is_pending<plain>::value || is_flow<plain>::value || own_awaiter<plain>,
                  "a flow waits only for what the log completes: a call, a task, at.delay(…), at.all(…), at.any(…), at.within(…) or another flow");
    if constexpr (is_pending<plain>::value) {
      return awaited.value();
    } else {
      return std::forward<A>(awaited);
    }
  }

  std::unique_ptr<failure> child_failure;
#if defined(__cpp_exceptions)
  std::exception_ptr thrown;
#endif
};

template <class T>
struct flow_promise : flow_promise_base {
  template <class At, class... A>
  explicit flow_promise(At& at, A&...) {
    this->core = &at.core();
  }
  flow<T> get_return_object() { return flow<T>(std::coroutine_handle<flow_promise>::from_promise(*this)); }
  template <class V>
  void return_value(V&& value) {
    using plain = std::remove_cvref_t<V>;
    if constexpr (std::same_as<plain, again_with>) {
      core->goes_on = true, core->result.clear(), core->result.raw(value.arguments);
    } else if constexpr (std::derived_from<plain, failure>) {
      fail(std::forward<V>(value));
    } else if constexpr (std::same_as<plain, result<T>>) {
      value ? give(std::move(*value)) : fail(value.error());
    } else {
      give(T(std::forward<V>(value)));
    }
  }
  void give(T value) {
    if (is_child) {
      child_value.emplace(std::move(value));
    } else {
      encode(core->result, value);
    }
  }
  std::optional<T> child_value;
};

template <>
struct flow_promise<void> : flow_promise_base {
  template <class At, class... A>
  explicit flow_promise(At& at, A&...) {
    this->core = &at.core();
  }
  inline flow<void> get_return_object();
  // C++ allows `co_return;` or `co_return value;`, not both: a flow without a result goes on anew with at.restart(…) and `co_return;`.
  void return_void() {}
};

template <class T>
class [[nodiscard]] flow {
 public:
  using promise_type = flow_promise<T>;
  using value_type = T;
  explicit flow(std::coroutine_handle<promise_type> of) : _of(of) {}
  flow(flow&& other) noexcept : _of(std::exchange(other._of, {})) {}
  flow& operator=(flow&&) = delete;
  ~flow() {
    if (_of) _of.destroy();
  }
  std::coroutine_handle<promise_type> release() { return std::exchange(_of, {}); }

  // A flow that another one waits for runs inside it, with its journal.
  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) {
    _of.promise().is_child = true;
    _of.promise().parent = parent;
    return _of;
  }
  T await_resume() {
#if defined(__cpp_exceptions)
    if (_of.promise().thrown) std::rethrow_exception(_of.promise().thrown);
    if (_of.promise().is_failed) throw std::move(*_of.promise().child_failure);
#endif
    if constexpr (!std::is_void_v<T>) return std::move(*_of.promise().child_value);
  }

 private:
  std::coroutine_handle<promise_type> _of;
};

inline flow<void> flow_promise<void>::get_return_object() { return flow<void>(std::coroutine_handle<flow_promise>::from_promise(*this)); }

template <class A>
class context;
template <class T>
struct is_context : std::false_type {};
template <class A>
struct is_context<context<A>> : std::true_type {};

template <class T, class First = void, class... P>
struct flow_traits {
  static_assert(is_context<First>::value,
                "a flow is a static function whose first parameter is ambrosia::context<A>: it reaches the state in at.step(…) only, so it has no `this`");
  static_assert((is_held_by_value<P> && ...), "a flow takes its arguments by value: it outlives the message that brought them");
  using promise_type = flow_promise<T>;
};

}  // namespace ambrosia

template <class T, class... P>
struct std::coroutine_traits<ambrosia::flow<T>, P...> : ambrosia::flow_traits<T, P...> {};
