// What handlers and flows of one instance share: what is emitted, the log's time, the numbers that are given out, and the flows.
#pragma once

#include <ambrosia/flow.h>

namespace ambrosia {
inline namespace v0 {

// The calls whose answers are awaited, by call id. Ids ascend and most are answered soon, so a table with open addresses holds them;
// it grows when it is half full, and allocates nothing else.
class call_table {
 public:
  struct row {
    std::uint64_t id = 0;  // 0: free, as no call has this id (P3.9)
    flow_core* flow = nullptr;
    std::uint32_t leaf = 0, destination = 0, method = 0;
  };
  call_table() : _rows(64) {}
  void add(const row& call);
  row* find(std::uint64_t id);
  void remove(row* call);
  std::size_t size() const { return _size; }
  std::vector<row> sorted() const;

 private:
  std::size_t place_of(std::uint64_t id) const { return static_cast<std::size_t>(id * 0x9E3779B97F4A7C15ull >> 32) & (_rows.size() - 1); }
  std::vector<row> _rows;
  std::size_t _size = 0;
};

class runtime {
 public:
  runtime() = default;
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  virtual ~runtime();

  // The next number of the instance's generator, whose state is a part of the image: the same on every replica.
  std::uint64_t chance() {
    std::uint64_t z = random_state += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
  }
  guid chance_guid();

  // A flow behind the last one. Its number follows from the flows that are there, so that an image need not hold how many there ever were.
  flow_core& add_flow();
  void remove_flow(flow_core& flow);
  flow_core* find_flow(std::uint64_t number) const;

  virtual void flow_ended(flow_core& flow) = 0;
  virtual void flow_suspended(flow_core& flow) = 0;
  virtual std::uint64_t begin_timer(flow_core& flow, std::uint32_t leaf, std::int64_t due) = 0;
  virtual std::uint64_t begin_task(flow_core& flow, std::uint32_t leaf, std::string_view body, byte_span arguments,
                                   std::function<void(writer&, bool&)> work) = 0;
  // What a flow that is re-executed would run, if it becomes primary.
  virtual void know_task(std::uint64_t task, std::function<void(writer&, bool&)> work) = 0;
  virtual void drop_timer(std::uint64_t timer) = 0;
  virtual void drop_task(std::uint64_t task) = 0;
  // A timer that executes a method, once or each `period`, with arguments that are kept. 0: there are 2^20 already.
  virtual std::uint64_t set_timer(std::uint32_t method, std::int64_t in_us, std::int64_t period_us, byte_span arguments) = 0;
  virtual void want_checkpoint() = 0;

  outbound out;
  place_name self;
  guid uuid;
  std::int64_t now = 0;
  std::uint64_t next_call = 1, next_timer = 1, next_task = 1, random_state = 0;
  call_table calls;
  bool is_primary = false;
  // Why the plain handler that runs will have failed, where it could not be told by an exception.
  std::unique_ptr<failure> refused;

  flow_core *first_flow = nullptr, *last_flow = nullptr;
  std::size_t suspended = 0;

 private:
  std::vector<flow_core*> _free_flows;
};

template <class A>
std::int64_t context<A>::now() const {
  check(*_core, _core->note(operation::time, 0, 0, {}));
  if (!_core->knows_time) {
    bool is_failure = false;
    byte_span value;
    _core->time = _core->run.now;
    if (_core->is_replaying()) {
      if (!_core->told(2, is_failure, value, _core->time)) raise(*_core, {});
    } else {
      _core->tell_time(_core->time);
    }
    _core->knows_time = true;
  }
  return _core->time;
}

template <class A>
const std::string& context<A>::name() const {
  return _core->run.self.name;
}

template <class A>
void context<A>::want_checkpoint() const {
  check(*_core, _core->note(operation::checkpoint, 0, 0, {}));
  if (!_core->is_replaying()) _core->run.want_checkpoint();
}

template <class A>
template <class... X>
std::uint64_t context<A>::set_timer(std::uint32_t method, std::chrono::microseconds in, std::chrono::microseconds period, const X&... arguments) const {
  writer with;
  (encode(with, arguments), ...);
  check(*_core, _core->note(operation::timer_set, method, 0, with.view()));
  if (_core->is_replaying()) return told<std::uint64_t>(1);
  std::uint64_t timer = _core->run.set_timer(method, in.count(), period.count(), with.view());
  writer encoded;
  encode(encoded, timer);
  _core->tell(1, false, encoded.view());
  return timer;
}

template <class A>
void context<A>::drop_timer(std::uint64_t timer) const {
  writer with;
  with.u64(timer);
  check(*_core, _core->note(operation::timer_dropped, 0, 0, with.view()));
  if (!_core->is_replaying()) _core->run.drop_timer(timer);
}

template <class A>
std::uint64_t context<A>::random() const {
  check(*_core, _core->note(operation::chance, 0, 0, {}));
  if (_core->is_replaying()) return told<std::uint64_t>(1);
  std::uint64_t value = _core->run.chance();
  writer encoded;
  encode(encoded, value);
  _core->tell(1, false, encoded.view());
  return value;
}

template <class A>
ambrosia::guid context<A>::guid() const {
  check(*_core, _core->note(operation::chance, 1, 0, {}));
  if (_core->is_replaying()) return told<ambrosia::guid>(1);
  ambrosia::guid value = _core->run.chance_guid();
  writer encoded;
  encode(encoded, value);
  _core->tell(1, false, encoded.view());
  return value;
}

template <class A>
template <class T>
T context<A>::told(std::uint8_t kind) const {
  bool is_failure = false;
  byte_span data;
  std::int64_t time = 0;
  if (!_core->told(kind, is_failure, data, time)) raise(*_core, {});
  if (is_failure) {
    failure what;
    read_failure(data, what);
    raise(*_core, std::move(what));
  }
  if constexpr (!std::is_void_v<T>) {
    T value{};
    cbor_reader in(data);
    if (_core->is_replaying() && !is_failure) decode(in, value);
    return value;
  }
}

template <class A>
template <class T, class F>
T context<A>::run_step(F&& f) const {
  auto& state = static_cast<A*>(_core->app)->state();
  writer encoded;
  _core->in_step = true;
#if defined(__cpp_exceptions)
  try {
#endif
    if constexpr (std::is_void_v<T>) {
      f(state);
      _core->in_step = false;
      _core->tell(1, false, {});
      return;
    } else {
      T value = f(state);
      _core->in_step = false;
      encode(encoded, value);
      _core->tell(1, false, encoded.view());
      return value;
    }
#if defined(__cpp_exceptions)
  } catch (...) {
    _core->in_step = false;
    failure what = current_failure();
    encoded.clear();
    write_failure(encoded, what);
    _core->tell(0, true, encoded.view());
    throw what;
  }
#endif
}

}  // namespace v0
}  // namespace ambrosia
