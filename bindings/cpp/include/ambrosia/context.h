// How a flow reaches everything: the state in steps, other instances, time, chance, tasks.
#pragma once

#include <ambrosia/flow.h>
#include <ambrosia/runtime.h>

#include <chrono>

namespace ambrosia::inline v0 {

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

// What every flow of A has as its first parameter, `at`.
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
    if (_core->is_replaying()) return told<T>();
    return run_step<T>(std::forward<F>(f));
  }

  template <class I>
  auto get(std::string_view name, std::uint16_t shard = 0) const;

  // The time of the record that is executed, in µs since 1970.
  std::int64_t now() const {
    check(*_core, _core->note(operation::time, 0, 0, {}));
    if (_core->knows_time) return _core->time;
    bool is_failure = false;
    byte_span value;
    _core->time = _core->run.now;
    if (!_core->is_replaying()) {
      _core->tell_time(_core->time);
    } else if (!_core->told(2, is_failure, value, _core->time)) {
      raise(*_core, {});
    }
    _core->knows_time = true;
    return _core->time;
  }
  std::uint64_t random() const {
    check(*_core, _core->note(operation::chance, 0, 0, {}));
    return recorded<std::uint64_t>([&] { return _core->run.chance(); });
  }
  ambrosia::guid guid() const {
    check(*_core, _core->note(operation::chance, 1, 0, {}));
    return recorded<ambrosia::guid>([&] { return _core->run.chance_guid(); });
  }

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
    return all_awaiter<std::remove_cvref_t<P>...>{{*_core, {of.leaf()...}}, {of...}};
  }
  template <class P>
  auto all(std::vector<P>& of) const {
    return all_list_awaiter<P>{{*_core, leaves_of(of)}, of};
  }
  template <class... P>
  auto any(P&... of) const {
    return any_awaiter<std::array<std::uint32_t, sizeof...(P)>>{{*_core, {of.leaf()...}, false}};
  }
  template <class P>
  auto any(std::vector<P>& of) const {
    return any_of(leaves_of(of));
  }
  template <class P, class R, class D>
  auto within(P of, std::chrono::duration<R, D> time) const {
    std::uint32_t leaf = of.leaf();
    return within_awaiter<P>{{*_core, {leaf, timer_leaf(time)}, false}, std::move(of)};
  }
  // The instance's own name.
  const std::string& name() const { return _core->run.self.name; }
  void want_checkpoint() const {
    check(*_core, _core->note(operation::checkpoint, 0, 0, {}));
    if (!_core->is_replaying()) _core->run.want_checkpoint();
  }
  // A timer that executes a method of this instance, once or each `period`; its number, for drop_timer.
  template <class... X>
  std::uint64_t set_timer(std::uint32_t method, std::chrono::microseconds in, std::chrono::microseconds period, const X&... arguments) const {
    writer with;
    (encode(with, arguments), ...);
    check(*_core, _core->note(operation::timer_set, method, 0, with.view()));
    return recorded<std::uint64_t>([&] { return _core->run.set_timer(method, in.count(), period.count(), with.view()); });
  }
  void drop_timer(std::uint64_t timer) const {
    writer with;
    with.u64(timer);
    check(*_core, _core->note(operation::timer_dropped, 0, 0, with.view()));
    if (!_core->is_replaying()) _core->run.drop_timer(timer);
  }
  // Forgets what was begun: its result has no effect.
  template <class P>
  void give_up(P& of) const {
    _core->give_up(of.leaf());
    settle(*_core);
  }
  // As `all` and `any`, of leaves of several types: leaf() of what was begun. take() gives what is there.
  auto all_of(leaf_list leaves) const { return all_leaves_awaiter{{*_core, std::move(leaves)}}; }
  auto any_of(leaf_list leaves) const { return any_awaiter<leaf_list>{{*_core, std::move(leaves), false}}; }
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
  static leaf_list leaves_of(const std::vector<P>& of) {
    leaf_list leaves;
    for (const P& one : of) leaves.push_back(one.leaf());
    return leaves;
  }
  template <class D>
  std::uint32_t timer_leaf(D time) const {
    std::uint32_t leaf = _core->begin_timer(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
    settle(*_core);
    return leaf;
  }
  // What `make` gives now, or gave when the flow was here the first time.
  template <class T, class F>
  T recorded(F make) const {
    if (_core->is_replaying()) return told<T>();
    T value = make();
    tell(value);
    return value;
  }
  template <class T>
  void tell(const T& value) const {
    writer encoded;
    encode(encoded, value);
    _core->tell(1, false, encoded.view());
  }
  template <class T>
  T told() const {
    bool is_failure = false;
    byte_span data;
    std::int64_t time = 0;
    if (!_core->told(1, is_failure, data, time)) raise(*_core, {});
    if (is_failure) {
      failure what;
      read_failure(data, what);
      raise(*_core, std::move(what));
    }
    if constexpr (!std::is_void_v<T>) {
      T value{};
      cbor_reader in(data);
      if (!is_failure) decode(in, value);
      return value;
    }
  }
  template <class T, class F>
  T run_step(F&& f) const {
    auto& state = static_cast<A*>(_core->app)->state();
    _core->in_step = true;
#if defined(__cpp_exceptions)
    try {
#endif
      if constexpr (std::is_void_v<T>) {
        f(state);
        _core->in_step = false;
        return _core->tell(1, false, {});
      } else {
        T value = f(state);
        _core->in_step = false;
        tell(value);
        return value;
      }
#if defined(__cpp_exceptions)
    } catch (...) {
      _core->in_step = false;
      failure what = current_failure();
      writer encoded;
      write_failure(encoded, what);
      _core->tell(0, true, encoded.view());
      throw what;
    }
#endif
  }

  flow_core* _core;
};

}  // namespace ambrosia
