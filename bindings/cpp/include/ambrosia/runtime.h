// What handlers and flows of one instance share: what is emitted, the log's time, the numbers that are given out, and the flows.
#pragma once

#include <ambrosia/flow_core.h>

namespace ambrosia::inline v0 {

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
  row& add(std::uint64_t id);  // the rest is the caller's to fill in
  row* find(std::uint64_t id);
  void remove(row* call);
  void reserve(std::size_t calls);
  std::size_t size() const { return _size; }
  std::vector<row> sorted() const;
  // Whether a flow waits for each.
  bool have_flows() const;

 private:
  // Eight ids that follow one another stand side by side, since they come and go together, and where the eight stand is as good as random.
  std::size_t place_of(std::uint64_t id) const { return static_cast<std::size_t>(((id >> 3) * 0x9E3779B97F4A7C15ull >> 32 << 3) | (id & 7)) & (_rows.size() - 1); }
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
  writer unsent;  // the arguments of calls that flows make again
  // Why the plain handler that runs will have failed, where it could not be told by an exception.
  std::unique_ptr<failure> refused;

  flow_core *first_flow = nullptr, *last_flow = nullptr;
  std::size_t suspended = 0;

 private:
  std::vector<flow_core*> _free_flows;
};

}  // namespace ambrosia
