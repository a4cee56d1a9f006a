// What handlers and flows of one instance share: what is emitted, the log's time, the numbers that are given out, and the flows.
#pragma once

#include <ambrosia/flow_core.h>

namespace ambrosia::inline v0 {

// The calls whose answers are awaited, by call id. Ids ascend, so each has its place in a ring, and allocates nothing. Where another comes to the place
// of one that still waits, the ring grows if it is half full, and else that one moves to a map, once.
class call_table {
 public:
  struct row {
    std::uint64_t id = 0;  // 0: free, as no call has this id (P3.9)
    flow_core* flow = nullptr;
    std::uint32_t leaf = 0, destination = 0, method = 0;
  };
  call_table() : _ring(64), _mask(63) {}
  // The rest is the caller's to fill in.
  row& add(std::uint64_t id) {
    row* at = &_ring[id & _mask];
    if (at->id != 0) [[unlikely]] at = make_place(id);
    at->id = id;
    _size++;
    return *at;
  }
  row* find(std::uint64_t id) {
    row& at = _ring[id & _mask];
    if (at.id == id && id != 0) [[likely]] return &at;
    auto old = _old.find(id);
    return old != _old.end() ? &old->second : nullptr;
  }
  void remove(row* call) {
    _size--;
    std::uint64_t id = std::exchange(call->id, 0);
    if (!_old.empty()) [[unlikely]] _old.erase(id);
  }
  // Makes it a ring of so many rows at least.
  void reserve(std::size_t calls);
  std::size_t size() const { return _size; }
  std::vector<row> sorted() const;
  // Whether a flow waits for each.
  bool have_flows() const;

 private:
  row* make_place(std::uint64_t id);

  std::vector<row> _ring;
  std::map<std::uint64_t, row> _old;
  std::size_t _mask, _size = 0;  // of the ring; of both
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
  operation_hash repeated;  // the operations that a flow makes again
  // Why the plain handler that runs will have failed, where it could not be told by an exception.
  std::unique_ptr<failure> refused;

  flow_core *first_flow = nullptr, *last_flow = nullptr;
  std::size_t suspended = 0;

 private:
  std::vector<flow_core*> _free_flows;
};

// Why a message could not be ended (outbound::end).
inline failure not_sent(const outbound& out) { return out.was_bad() ? failures::misuse("a value") : failures::too_long(out.limit); }

// Throws in a plain handler; without exceptions the handler goes on, and fails when it returns.
inline void refuse([[maybe_unused]] runtime& of, failure what) {
#if defined(__cpp_exceptions)
  throw what;
#else
  if (of.refused == nullptr) of.refused = std::make_unique<failure>(std::move(what));
#endif
}

// Here, so that a proxy's method writes its own id.
inline writer& flow_core::begin_call(std::uint32_t destination, short_varint method_of) {
  if (_replay != nullptr) [[unlikely]] return begin_call_again(destination, method_of);
  outbound& out = run.out;
  out.begin(destination, run_kind::call, method_of, run.next_call);
  _arguments_at = out.position();
  return out.bytes_out();
}

}  // namespace ambrosia
