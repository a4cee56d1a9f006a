// One flow as data: its journal, its operations, and what it waits for (docs/image.md I4). A suspended flow is brought back by executing it again:
// it is told the same, sends nothing, and stands where it stood.
#pragma once

#include <ambrosia/failure.h>
#include <ambrosia/outbound.h>

#include <coroutine>
#include <functional>

namespace ambrosia::inline v0 {

class runtime;
class immortal_base;

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

// The hash of a flow's operations, with destinations and arguments. The last ones are hashed together when somebody asks, or when they are many: most
// flows end before that.
class operation_hash {
 public:
  // `is_padded`: 16 bytes can be read where the arguments begin.
  void add(std::uint64_t word, std::size_t length, std::uint64_t destination, byte_span arguments, bool is_padded = false) {
    if (!_last.has_room(32)) [[unlikely]] make_room();
    if (arguments.size() > 16) [[unlikely]] return add_long(word, length, destination, arguments);
    std::uint8_t* to = _last.data() + _last.size();
    _last.grow(length + 8 + arguments.size());
    detail::store(to, word), detail::store(to + length, destination);
    is_padded ? void(std::memcpy(to + length + 8, arguments.data(), 16)) : detail::copy_few(to + length + 8, arguments.data(), arguments.size());
  }
  // The same of an operation whose arguments are written into what it gives; `undo` takes it back.
  writer& begin(std::uint64_t word, std::size_t length, std::uint64_t destination) {
    if (_last.size() > 4'096) [[unlikely]] set(value());
    _begun = _last.size();
    _last.put(word, length);
    _last.u64(destination);
    return _last;
  }
  void undo() { _last.resize(_begun), _last.bad = false; }
  bool is_bad() const { return _last.bad; }
  std::uint64_t value() const { return crc64(_last.view(), _before); }
  void set(std::uint64_t value) { _before = value, _last.clear(); }

 private:
  [[gnu::noinline]] void make_room();
  [[gnu::noinline]] void add_long(std::uint64_t word, std::size_t length, std::uint64_t destination, byte_span arguments);

  std::uint64_t _before = 0;
  std::size_t _begun = 0;
  writer _last;
};

// A result in a journal: [0, status, bytes]. False: another entry stands in front, or one of an unusual form.
inline bool take_result(cbor_reader& in, bool& is_failure, byte_span& value) {
  if (in.left() < 4 || in.p[0] != 0x83 || in.p[1] != 0 || in.p[2] > 1 || in.p[3] < 0x40 || in.p[3] >= 0x58) return false;
  std::size_t size = in.p[3] & 31u;
  if (in.left() - 4 < size) return false;
  is_failure = in.p[2] == 1;
  value = {in.p + 4, size};
  in.p += 4 + size;
  return true;
}

// What an image says of one suspended flow; it lasts as long as the image.
struct flow_image {
  std::uint64_t number = 0;
  std::uint32_t method = 0;
  byte_span arguments;
  reply_to answers;
  byte_span journal;  // the items, one behind another
  std::size_t entries = 0;
  byte_span operations;
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
    leaf_state state = leaf_state::taken;
    bool is_failure = false;
    std::uint64_t number = 0;
    bytes value;  // of what is done and not taken
  };

  // A core outlives its flow in a free list, so a flow that comes and goes allocates nothing.
  explicit flow_core(runtime& of);
  flow_core(const flow_core&) = delete;
  flow_core& operator=(const flow_core&) = delete;
  ~flow_core();

  // ---- Operations, as `context` makes them ----

  // Whether an operation may be done here; if not, `refused` says why.
  bool allow(bool noted) {
    if (in_step || !noted) [[unlikely]] disallow();
    return noted && !in_step;
  }
  std::unique_ptr<failure> refused;
  // Notes an operation. False: the flow is too long, or its re-execution has gone another way.
  bool note(operation what, short_varint method, std::uint64_t destination, byte_span arguments);
  // A call's arguments are written between the two, where they will be sent from.
  writer& begin_call(std::uint32_t destination, short_varint method);
  std::uint32_t end_call(std::uint32_t destination, short_varint method);
  std::uint32_t begin_timer(std::int64_t in_us);
  std::uint64_t number_of(std::uint32_t index) { return at(index).number; }
  std::uint32_t begin_task(std::string_view body, byte_span arguments, std::function<void(writer&, bool& failed)> work);
  void give_up(std::uint32_t leaf);
  // True while it is executed again from its journal: then nothing is sent, and `told` gives the next entry.
  bool is_replaying() const { return _replay != nullptr; }
  bool replay_failed() const { return _replay != nullptr && replay_has_failed(); }
  // An entry of the journal that no leaf gave: a value of a step, or with kind 2 a time. `told` is for re-execution.
  void tell(std::uint8_t kind, bool is_failure, byte_span value);
  void tell_time(std::int64_t time);
  bool told(std::uint8_t kind, bool& is_failure, byte_span& value, std::int64_t& time);

  // ---- Waiting ----

  // Whether the leaf that is awaited is there. A failure that is not taken ends the flow instead.
  bool is_ready(std::uint32_t leaf, bool takes_failures) {
    if (at(leaf).state == leaf_state::waiting) [[likely]] return false;
    return _doom == nullptr && !replay_failed() && (takes_failures || !dooms(leaf));
  }
  // The same of several: whether all of them are there, or one.
  bool is_ready(std::span<const std::uint32_t> leaves, bool all);
  // What comes for one leaf alone is taken as soon as the flow goes on, so nothing keeps it.
  void wait(std::coroutine_handle<> where, std::uint32_t leaf, bool takes_failures) { _at = where, _awaited_leaf = leaf, _takes_failures = takes_failures; }
  // The list of several stays where it is until the flow goes on: in the frame of its coroutine.
  void wait(std::coroutine_handle<> where, std::span<const std::uint32_t> leaves, bool all) {
    wait(where, several, true);
    _awaited = leaves;
    _awaits_all = all;
  }
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

  void begin_replay(const flow_image& of, bool aside);  // `of` must last until the end
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
  bool goes_on = false;  // with `again`, whose arguments stand in result
  std::unique_ptr<failure> error;
  writer result;

  flow_core *before = nullptr, *behind = nullptr;  // in the order of their numbers

 private:
  struct replay;
  // Leaves are numbered through the life of the flow. Those before the first one that is kept were taken.
  leaf& at(std::uint32_t index) { return index >= _first_leaf ? _leaves[index - _first_leaf] : s_taken_leaf; }
  bool replay_has_failed() const;
  static std::uint64_t word_of(operation what, short_varint method) { return static_cast<std::uint64_t>(what) | method.word << 8; }
  bool note_new(operation what, short_varint method, std::uint64_t destination, byte_span arguments, bool is_padded);
  bool note_again(operation what, short_varint method);
  writer& begin_call_again(std::uint32_t destination, short_varint method);
  std::uint32_t end_call_again(short_varint method);
  std::uint32_t refuse_call();
  // Out of line, so that what is done at each call saves no registers for them.
  [[gnu::noinline]] byte_span take_slowly(std::uint32_t leaf, bool& is_failure);
  [[gnu::noinline]] void complete_among(std::uint32_t index, bool is_failure, byte_span value);
  [[gnu::noinline]] void stop();
  [[gnu::noinline]] void end_with(byte_span value);
  byte_span take_again(bool& is_failure);
  byte_span take_none(leaf_state state, bool& is_failure);
  void disallow();
  bool dooms(std::uint32_t index);
  bool has_all_it_awaits(std::uint32_t index);
  static failure failure_of(byte_span value);
  std::uint32_t add_leaf(std::uint8_t kind, std::uint64_t number);
  leaf& new_leaf(std::uint32_t index, std::uint8_t kind, std::uint64_t number);
  std::uint32_t add_failed_call();
  void find_again(leaf& of, std::uint32_t index);
  void forget(leaf& of);
  void resume(std::coroutine_handle<> at);
  void stop_replay(std::string why);

  std::size_t _arguments_at = 0;  // of the call that is begun
  writer _journal, _operations;
  std::size_t _entries = 0, _operation_count = 0;
  operation_hash _hash;
  static leaf s_taken_leaf;
  std::vector<leaf> _leaves;  // one at least, also where the flow has none
  std::uint32_t _first_leaf = 0, _next_leaf = 0, _taken = 0;  // so many of those in _leaves were taken
  std::coroutine_handle<> _root, _at;
  static constexpr std::uint32_t several = UINT32_MAX;
  std::uint32_t _awaited_leaf = several;  // then they stand in _awaited; one stands here until it is taken
  byte_span _told;                        // the value of that one, for which it was just resumed
  bool _is_told_failure = false;
  std::span<const std::uint32_t> _awaited;
  bool _awaits_all = false, _takes_failures = false;
  bytes _mistake;  // what is given in place of a leaf that cannot be taken
  std::unique_ptr<failure> _doom;
  std::unique_ptr<replay> _replay;
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

}  // namespace ambrosia
