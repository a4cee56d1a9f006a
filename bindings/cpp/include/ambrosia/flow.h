// Flows: handlers that may wait (docs/image.md I4). A flow is a static coroutine. It reaches the state only in at.step(…), and all that it is told
// is kept in its journal. So a suspended flow is data: after a restore it runs again from its beginning, is told the same, sends nothing,
// and stands where it stood.
#pragma once

#include <ambrosia/failure.h>
#include <ambrosia/outbound.h>

#include <chrono>
#include <coroutine>
#include <functional>

namespace ambrosia {
inline namespace v0 {

class runtime;
class immortal_base;
template <class T>
class flow;

#if defined(__cpp_exceptions)
inline constexpr bool has_exceptions = true;
#else
inline constexpr bool has_exceptions = false;
#endif

// What a flow does is written into its operations by these numbers, which never change their meaning.
enum class operation : std::uint8_t { call, timer, task, step, time, chance, fork, timer_set, timer_dropped, choice, given_up, checkpoint };

// Whom a handler answers.
struct reply_to {
  enum class kind : std::uint8_t { nobody, peer, outside } who = kind::nobody;
  std::uint32_t method = 0, origin = 0;  // the peer's origin number
  std::uint64_t call = 0;                // or the request's number
  std::uint64_t epoch = 0, session = 0;  // of the caller outside
};

// Memory of coroutine frames: free lists by size, for the one thread that executes.
void* take_frame(std::size_t size);
void give_frame(void* frame, std::size_t size);

// What an image says of one suspended flow.
struct flow_image {
  std::uint64_t number = 0;
  std::uint32_t method = 0;
  bytes arguments;
  reply_to answers;
  bytes journal;  // the items, one behind another
  std::size_t entries = 0;
  bytes operations;
  std::uint64_t hash = 0;
  struct wait {
    std::uint32_t leaf;
    std::uint8_t kind;
    std::uint64_t number;
  };
  std::vector<wait> waiting;
};

#if defined(__cpp_exceptions)
// Ends a re-execution that has gone another way than the journal; flows do not catch it, and it goes no further.
struct replay_stopped {};
#endif

// One flow: its journal, its operations, its leaves (what it has begun and waits for), and its frame. The thread that executes owns it.
class flow_core {
 public:
  enum class leaf_state : std::uint8_t { waiting, done, taken, given_up };
  struct leaf {
    std::uint8_t kind = 0;  // 0 call, 1 timer, 2 task
    leaf_state state = leaf_state::waiting;
    bool is_failure = false;
    std::uint64_t number = 0;
    bytes value;  // of what is done and not taken
  };

  explicit flow_core(runtime& of);
  flow_core(const flow_core&) = delete;
  flow_core& operator=(const flow_core&) = delete;
  ~flow_core();

  // ---- Operations, as `context` makes them ----

  // Whether an operation may be done here; if not, `refused` says why.
  bool allow(bool noted);
  std::unique_ptr<failure> refused;
  // Notes an operation. False: the flow is too long, or its re-execution has gone another way.
  bool note(operation what, std::uint32_t method, std::uint64_t destination, byte_span arguments);
  std::uint32_t begin_call(std::uint32_t destination, std::uint32_t method, byte_span arguments);
  std::uint32_t begin_timer(std::int64_t in_us);
  std::uint64_t number_of(std::uint32_t leaf) const { return _leaves[leaf].number; }
  std::uint32_t begin_task(std::string_view body, byte_span arguments, std::function<void(writer&, bool& failed)> work);
  void give_up(std::uint32_t leaf);
  // True while it is executed again from its journal: then nothing is sent, and `told` gives the next entry.
  bool is_replaying() const { return _replay != nullptr; }
  bool replay_failed() const;
  // An entry of the journal that no leaf gave: a value of a step, or with kind 2 a time. `told` is for re-execution.
  void tell(std::uint8_t kind, bool is_failure, byte_span value);
  void tell_time(std::int64_t time);
  bool told(std::uint8_t kind, bool& is_failure, byte_span& value, std::int64_t& time);

  // ---- Waiting ----

  bool is_ready(const std::uint32_t* leaves, std::size_t count, bool all, bool takes_failures);
  void wait(std::coroutine_handle<> at, const std::uint32_t* leaves, std::size_t count, bool all, bool takes_failures);
  // Which of several is there: the first of them that came.
  std::size_t choose(const std::uint32_t* leaves, std::size_t count);
  // Takes what a leaf gave into the journal, and gives it. The bytes are valid until the next operation.
  byte_span take(std::uint32_t leaf, bool& is_failure);

  // ---- Driving ----

  void start(std::coroutine_handle<> root);
  void complete(std::uint32_t leaf, bool is_failure, byte_span value);
  // The flow ends with this failure at its next wait, where exceptions are off.
  void doom(failure what) { _doom = std::make_unique<failure>(std::move(what)); }
  bool is_doomed() const { return _doom != nullptr; }

  void begin_replay(const flow_image& of, bool aside);
  // Null: it stands where it stood. Otherwise what it did instead.
  std::unique_ptr<std::string> end_replay();
  void write_image(writer& out, const place_name* caller) const;
  // Gives up all that it still waits for, when it has ended.
  void abandon();
  void clear();
  void drop_frame();

  runtime& run;
  immortal_base* app = nullptr;
  std::uint64_t number = 0;
  std::uint32_t method = 0;
  bytes arguments;
  reply_to answers;
  std::int64_t window_row = -1;  // the key under way that its answer belongs to, by its place in the log; -1: none
  bool in_step = false, is_suspended = false, knows_time = false;
  std::int64_t time = 0;
  // How it ended.
  bool has_ended = false, is_failed = false, goes_on = false;  // goes_on: with `again`, whose arguments stand in result
  failure error;
  writer result;

  flow_core *before = nullptr, *behind = nullptr;  // in the order of their numbers

 private:
  struct replay;
  std::uint32_t add_leaf(std::uint8_t kind, std::uint64_t number);
  void forget(leaf& of);
  void resume(std::coroutine_handle<> at);
  void stop_replay(std::string why);

  writer _journal, _operations;
  std::size_t _entries = 0, _operation_count = 0;
  std::uint64_t _hash = 0;
  std::vector<leaf> _leaves;
  std::coroutine_handle<> _root, _at;
  std::vector<std::uint32_t> _awaited;
  bool _awaits_all = false, _takes_failures = false;
  byte_span _told;  // the value of the leaf that it was just resumed for
  std::unique_ptr<failure> _doom;
  std::unique_ptr<replay> _replay;

 public:
  // A core outlives its frame in a free list, so a flow that comes and goes allocates nothing.
  std::size_t journal_bytes() const { return _journal.size(); }
};

// A failure in a flow or handler: thrown where there are exceptions, else it dooms the flow.
inline void raise(flow_core& at, failure what) {
#if defined(__cpp_exceptions)
  if (at.replay_failed()) throw replay_stopped();
  (void)at;
  throw what;
#else
  at.doom(std::move(what));
#endif
}

// Raises what the core has refused. Headers alone do so: the library is the same with and without exceptions.
inline void settle(flow_core& at) {
  if (at.refused != nullptr) raise(at, std::move(*std::exchange(at.refused, nullptr)));
}
inline void check(flow_core& at, bool noted) {
  if (!at.allow(noted)) settle(at);
}

// ---- What a flow can wait for ----

// What was begun and gives a T: a call, a task or a delay. It is under way already; co_await waits for it.
// co_await x gives T, and lets a failure through; co_await x.outcome() gives result<T>.
template <class T, bool Raw = false>
class [[nodiscard]] pending {
 public:
  using value_type = T;
  pending(flow_core& at, std::uint32_t leaf, std::uint32_t method, std::uint64_t task = 0) : _at(&at), _leaf(leaf), _method(method), _task(task) {}
  pending(pending&&) = default;
  pending& operator=(pending&&) = default;

  std::uint32_t leaf() const { return _leaf; }
  flow_core& core() const { return *_at; }

  struct outcome_awaiter {
    pending& of;
    bool await_ready() { return of._at->is_ready(&of._leaf, 1, true, true); }
    void await_suspend(std::coroutine_handle<> at) { of._at->wait(at, &of._leaf, 1, true, true); }
    result<T> await_resume() { return of.take(); }
  };
  struct value_awaiter {
    pending& of;
    bool await_ready() { return of._at->is_ready(&of._leaf, 1, true, has_exceptions); }
    void await_suspend(std::coroutine_handle<> at) { of._at->wait(at, &of._leaf, 1, true, has_exceptions); }
    T await_resume() { return value_of(of.take()); }
  };
  outcome_awaiter outcome() { return {*this}; }
  value_awaiter value() { return {*this}; }

  // What is there already.
  result<T> take() {
    bool is_failure = false;
    byte_span data = _at->take(_leaf, is_failure);
    if (is_failure) {
      failure what;
      return read_failure(data, what) ? what : failures::bad_failure();
    }
    if constexpr (std::is_void_v<T>) {
      return {};
    } else if constexpr (Raw) {
      return to_bytes(data);
    } else {
      T value{};
      cbor_reader in(data);
      decode(in, value);
      if (in.ok()) return value;
      if (!in.unknown_case.empty()) return failures::unknown_case(in.unknown_case);
      return _task != 0 ? failures::bad_task_result(_task) : failures::bad_result(_method, false);
    }
  }
  static T value_of(result<T> taken) {
#if defined(__cpp_exceptions)
    if (!taken) throw called_failure(taken.error());
#endif
    if constexpr (!std::is_void_v<T>) return std::move(*taken);
  }

 private:
  flow_core* _at;
  std::uint32_t _leaf, _method;
  std::uint64_t _task;
};

template <class T>
using call = pending<T>;

// co_await at.all(a, b): a tuple of outcomes, when all are there.
template <class... P>
struct all_awaiter {
  flow_core& at;
  std::tuple<P&...> of;
  std::array<std::uint32_t, sizeof...(P)> leaves;
  bool await_ready() { return at.is_ready(leaves.data(), leaves.size(), true, true); }
  void await_suspend(std::coroutine_handle<> h) { at.wait(h, leaves.data(), leaves.size(), true, true); }
  std::tuple<result<typename P::value_type>...> await_resume() {
    return std::apply([](P&... one) { return std::tuple<result<typename P::value_type>...>{one.take()...}; }, of);
  }
};

// The same of a list of calls of one type.
template <class P>
struct all_list_awaiter {
  flow_core& at;
  std::vector<P>& of;
  std::vector<std::uint32_t> leaves;
  bool await_ready() { return at.is_ready(leaves.data(), leaves.size(), true, true); }
  void await_suspend(std::coroutine_handle<> h) { at.wait(h, leaves.data(), leaves.size(), true, true); }
  std::vector<result<typename P::value_type>> await_resume() {
    std::vector<result<typename P::value_type>> values;
    for (P& one : of) values.push_back(one.take());
    return values;
  }
};

// co_await at.any(a, b): the place of the one that came first. The others stay under way.
struct all_leaves_awaiter {
  flow_core& at;
  std::vector<std::uint32_t> leaves;
  bool await_ready() { return at.is_ready(leaves.data(), leaves.size(), true, true); }
  void await_suspend(std::coroutine_handle<> h) { at.wait(h, leaves.data(), leaves.size(), true, true); }
  void await_resume() {}
};

struct any_awaiter {
  flow_core& at;
  std::vector<std::uint32_t> leaves;
  bool await_ready() { return at.is_ready(leaves.data(), leaves.size(), false, true); }
  void await_suspend(std::coroutine_handle<> h) { at.wait(h, leaves.data(), leaves.size(), false, true); }
  std::size_t await_resume() { return at.choose(leaves.data(), leaves.size()); }
};

// co_await at.within(call, time): its outcome, or Ambrosia.Timeout; what comes later has no effect.
template <class P>
struct within_awaiter {
  flow_core& at;
  P of;
  std::array<std::uint32_t, 2> leaves;
  bool await_ready() { return at.is_ready(leaves.data(), 2, false, true); }
  void await_suspend(std::coroutine_handle<> h) { at.wait(h, leaves.data(), 2, false, true); }
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

// ---- The coroutine ----

template <class T>
struct is_flow : std::false_type {};
template <class T>
struct is_flow<flow<T>> : std::true_type {};
template <class T>
struct is_pending : std::false_type {};
template <class T, bool Raw>
struct is_pending<pending<T, Raw>> : std::true_type {};
template <class T>
concept own_awaiter = requires(T a) { requires std::same_as<std::remove_cvref_t<decltype(a.at)>, flow_core>; } ||
                      requires(T a) { requires is_pending<std::remove_cvref_t<decltype(a.of)>>::value; };

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
      core->is_failed = true, core->error = std::move(what);
    } else if constexpr (!has_exceptions) {
      core->doom(std::move(what));
    } else {
      child_failure = std::move(what);
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

  failure child_failure;
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
    if (_of.promise().is_failed) throw _of.promise().child_failure;
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

}  // namespace v0
}  // namespace ambrosia

template <class T, class... P>
struct std::coroutine_traits<ambrosia::flow<T>, P...> : ambrosia::flow_traits<T, P...> {};

namespace ambrosia {
inline namespace v0 {

// Runs on a worker's thread of a primary.
template <class T, class F, class... X>
void run_task(F work, const std::tuple<X...>& arguments, writer& out, bool& failed) {
#if defined(__cpp_exceptions)
  try {
#endif
    if constexpr (std::is_void_v<T>) {
      std::apply(work, arguments);
    } else if constexpr (is_result<std::invoke_result_t<F, X...>>::value) {
      auto given = std::apply(work, arguments);
      failed = !given;
      given ? encode(out, *given) : write_failure(out, given.error());
    } else {
      encode<T>(out, std::apply(work, arguments));
    }
#if defined(__cpp_exceptions)
  } catch (...) {
    failed = true;
    out.clear();
    failure what = current_failure();
    if (!what.words.empty()) what.message = what.words;  // what a task fails with is an input, so it keeps its words (P4.7)
    write_failure(out, what);
  }
#endif
}

// How a flow of A reaches everything: the state, other instances, time, chance, tasks.
template <class A>
class context {
 public:
  explicit context(flow_core& of) : _core(&of) {}
  flow_core& core() const { return *_core; }

  // Runs f(state) now, and gives its value, which the journal keeps. It is not run again after a restore.
  template <class F>
  auto step(F&& f) const {
    using state = typename A::state_type;
    static_assert(std::invocable<F, state&>, "a step is a function of the state: at.step([&](State& s) { … })");
    using R = std::invoke_result_t<F, state&>;
    static_assert(!std::is_reference_v<R> && !std::is_pointer_v<R> && is_held_by_value<R>,
                  "a step returns a value that can be recorded, never a reference, pointer or view into the state");
    using T = std::remove_cvref_t<R>;
    check(*_core, _core->note(operation::step, 0, 0, {}));
    if (_core->is_replaying()) return told<T>(1);
    return run_step<T>(std::forward<F>(f));
  }

  template <class I>
  auto get(std::string_view name, std::uint16_t shard = 0) const;

  // The time of the record that is executed, in µs since 1970.
  std::int64_t now() const;
  std::uint64_t random() const;
  ambrosia::guid guid() const;

  template <class R, class P>
  pending<void> delay(std::chrono::duration<R, P> time) const {
    return {*_core, timer_leaf(time), 0};
  }
  // A function that may do anything (ask a clock, a file, a server) and runs beside the log, on a primary; its result is logged. It gets copies
  // of its arguments, and cannot reach the state.
  template <class F, class... X>
  auto task(std::string_view name, F work, X... arguments) const {
    static_assert((is_held_by_value<X> && ...), "a task takes its arguments by value: it runs on another thread");
    using T = value_in_result<std::invoke_result_t<F, X...>>;
    writer encoded;
    (encode(encoded, arguments), ...);
    std::tuple<X...> kept(std::move(arguments)...);
    std::uint32_t leaf = _core->begin_task(name, encoded.view(), [work, kept](writer& out, bool& failed) { run_task<T>(work, kept, out, failed); });
    settle(*_core);
    return pending<T>(*_core, leaf, 0, _core->number_of(leaf));
  }

  template <class... P>
  auto all(P&&... of) const {
    return all_awaiter<std::remove_cvref_t<P>...>{*_core, {of...}, {of.leaf()...}};
  }
  template <class P>
  auto all(std::vector<P>& of) const {
    return all_list_awaiter<P>{*_core, of, leaves_of(of)};
  }
  template <class... P>
  auto any(P&... of) const {
    return any_awaiter{*_core, {of.leaf()...}};
  }
  template <class P>
  auto any(std::vector<P>& of) const {
    return any_awaiter{*_core, leaves_of(of)};
  }
  template <class P, class R, class D>
  auto within(P of, std::chrono::duration<R, D> time) const {
    std::uint32_t leaf = of.leaf();
    return within_awaiter<P>{*_core, std::move(of), {leaf, timer_leaf(time)}};
  }
  // The instance's own name.
  const std::string& name() const;
  void want_checkpoint() const;
  // A timer that executes a method of this instance, once or each `period`; its number, for drop_timer.
  template <class... X>
  std::uint64_t set_timer(std::uint32_t method, std::chrono::microseconds in, std::chrono::microseconds period, const X&... arguments) const;
  void drop_timer(std::uint64_t timer) const;
  // Forgets what was begun: its result has no effect.
  template <class P>
  void give_up(P& of) const {
    _core->give_up(of.leaf());
    settle(*_core);
  }
  // As `all` and `any`, of leaves of several types: leaf() of what was begun. take() gives what is there.
  auto all_of(std::vector<std::uint32_t> leaves) const { return all_leaves_awaiter{*_core, std::move(leaves)}; }
  auto any_of(std::vector<std::uint32_t> leaves) const { return any_awaiter{*_core, std::move(leaves)}; }
  template <class... X>
  again_with again(const X&... arguments) const {
    writer encoded;
    (encode(encoded, arguments), ...);
    return {encoded.take()};
  }
  template <class... X>
  void restart(const X&... arguments) const {
    _core->goes_on = true;
    _core->result.clear();
    (encode(_core->result, arguments), ...);
  }

 private:
  template <class P>
  static std::vector<std::uint32_t> leaves_of(const std::vector<P>& of) {
    std::vector<std::uint32_t> leaves;
    for (const P& one : of) leaves.push_back(one.leaf());
    return leaves;
  }
  template <class D>
  std::uint32_t timer_leaf(D time) const {
    std::uint32_t leaf = _core->begin_timer(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
    settle(*_core);
    return leaf;
  }
  template <class T>
  T told(std::uint8_t kind) const;
  template <class T, class F>
  T run_step(F&& f) const;

  flow_core* _core;
};

}  // namespace v0
}  // namespace ambrosia
