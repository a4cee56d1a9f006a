#include <ambrosia/runtime.h>

namespace ambrosia::inline v0 {

namespace {

constexpr std::size_t operations_most = 65'536, journal_most = 64 << 20;

const char* const operation_names[] = {"a call", "a delay", "a task", "a step", "now", "random", "a fork",
                                     "setting a timer", "dropping a timer", "any", "giving up", "a checkpoint"};

}  // namespace

flow_core::leaf flow_core::s_taken_leaf;

struct flow_core::replay {
  const flow_image& of;
  bool aside;
  cbor_reader told;
  std::size_t entries;               // of the journal, that are still to be told
  std::size_t operation_bytes = 0;   // so many of the operations were done again
  std::size_t next_waiting = 0;      // of the list of the image, which is in the order of the leaves
  std::unique_ptr<std::string> why;
};

// One block takes the place of many, so that _last takes no more than 128 bytes. What is behind them is less than a block.
void operation_hash::make_room() {
  if (_last.size() < 80) return void(_last.room(32));
  std::uint64_t crc = ~_before;
  std::size_t folded = detail::crc64_fold(_last.data(), _last.size(), crc, _last.data()), rest = _last.size() - folded;
  if (folded == 0) return set(value());
  _before = ~crc;
  detail::copy_few(_last.data() + 16, _last.data() + folded, rest);
  _last.resize(16 + rest);
}

void operation_hash::add_long(std::uint64_t word, std::size_t length, std::uint64_t destination, byte_span arguments) {
  add(word, length, destination, {});
  set(crc64(arguments, value()));
}

flow_core::flow_core(runtime& of) : run(of), _leaves(1) {}
flow_core::~flow_core() { drop_frame(); }

bool flow_core::replay_has_failed() const { return _replay->why != nullptr; }

void flow_core::stop_replay(std::string why) {
  if (_replay->why == nullptr) _replay->why = std::make_unique<std::string>(std::move(why));
}

// ---- Operations ----

bool flow_core::note(operation what, short_varint method_of, std::uint64_t destination, byte_span with) {
  if (_replay == nullptr) [[likely]] return note_new(what, method_of, destination, with, false);
  run.repeated.add(word_of(what, method_of), method_of.length + 1, destination, with);
  return note_again(what, method_of);
}

[[gnu::always_inline]] inline bool flow_core::note_new(operation what, short_varint method_of, std::uint64_t destination, byte_span with, bool is_padded) {
  std::uint64_t word = word_of(what, method_of);
  _operations.put(word, method_of.length + 1);
  _hash.add(word, method_of.length + 1, destination, with, is_padded);
  return ++_operation_count <= operations_most && _journal.size() <= journal_most;
}

// Whether the next operation of the image is this one.
bool flow_core::note_again(operation what, short_varint method_of) {
  std::size_t length = method_of.length + 1;
  byte_span recorded = _replay->of.operations.subspan(_replay->operation_bytes);
  std::uint8_t front[8] = {};
  if (recorded.size() < 8) detail::copy_few(front, recorded.data(), recorded.size());
  std::uint64_t then = detail::load64(recorded.size() < 8 ? front : recorded.data());
  _operation_count++;
  if (length <= recorded.size() && (then ^ word_of(what, method_of)) << (64 - 8 * length) == 0) [[likely]] {
    _replay->operation_bytes += length;
    return _replay->why == nullptr;
  }
  std::string before = !recorded.empty() && recorded[0] < std::size(operation_names) ? operation_names[recorded[0]] : "waiting";
  stop_replay("operation " + std::to_string(_operation_count) + " was " + before + " and is " + operation_names[static_cast<std::size_t>(what)] + " now");
  return false;
}

void flow_core::disallow() {
  if (refused == nullptr || in_step) refused = std::make_unique<failure>(in_step ? failures::misuse("a call") : failures::flow_too_long());
}

[[gnu::always_inline]] inline flow_core::leaf& flow_core::new_leaf(std::uint32_t index, std::uint8_t kind, std::uint64_t number_of) {
  leaf& added = index == _first_leaf ? _leaves.front() : _leaves.emplace_back();
  added.kind = kind;
  added.state = leaf_state::waiting;
  added.number = number_of;
  return added;
}

[[gnu::always_inline]] inline std::uint32_t flow_core::add_leaf(std::uint8_t kind, std::uint64_t number_of) {
  std::uint32_t index = _next_leaf++;
  leaf& added = new_leaf(index, kind, number_of);
  if (_replay != nullptr) find_again(added, index);
  return index;
}

// What the image does not say to be waiting had come before it was taken.
void flow_core::find_again(leaf& of, std::uint32_t index) {
  const auto& waiting = _replay->of.waiting;
  of.state = leaf_state::done;
  while (_replay->next_waiting < waiting.size() && waiting[_replay->next_waiting].leaf < index) _replay->next_waiting++;
  if (_replay->next_waiting == waiting.size() || waiting[_replay->next_waiting].leaf != index) return;
  const flow_image::wait& found = waiting[_replay->next_waiting];
  of.state = leaf_state::waiting;
  of.number = found.number;
  if (found.kind != of.kind) stop_replay("leaf " + std::to_string(index) + " is of another kind");
}

std::uint32_t flow_core::end_call(std::uint32_t destination, short_varint method_of) {
  if (_replay != nullptr) [[unlikely]] return end_call_again(method_of);
  runtime& to = run;
  if (to.out.bytes_out().bad) [[unlikely]] return to.out.end(), refuse_call();
  byte_span with = to.out.arguments(_arguments_at);
  if (!allow(note_new(operation::call, method_of, to.out.hash_of(destination), with, true))) [[unlikely]] to.out.bytes_out().bad = true;
  if (!to.out.end()) [[unlikely]] return add_failed_call();
  std::uint64_t id = to.next_call++;
  std::uint32_t index = _next_leaf++;
  new_leaf(index, 0, id);
  to.calls.add(id) = {id, this, index, destination, method_of.number};
  return index;
}

// The arguments of a call that is made again go where they are hashed, and nowhere else.
writer& flow_core::begin_call_again(std::uint32_t destination, short_varint method_of) {
  return run.repeated.begin(word_of(operation::call, method_of), method_of.length + 1, run.out.hash_of(destination));
}

std::uint32_t flow_core::end_call_again(short_varint method_of) {
  if (run.repeated.is_bad()) [[unlikely]] return run.repeated.undo(), refuse_call();
  allow(note_again(operation::call, method_of));
  return add_leaf(0, 0);
}

// What cannot be written is no operation: it is refused at once, here as in a replay.
std::uint32_t flow_core::refuse_call() {
  refused = std::make_unique<failure>(failures::misuse("a value"));
  std::uint32_t index = add_leaf(0, 0);
  at(index).state = leaf_state::given_up;
  return index;
}

std::uint32_t flow_core::add_failed_call() {
  writer what;
  write_failure(what, not_sent(run.out));
  std::uint32_t index = add_leaf(0, 0);
  at(index) = {0, leaf_state::done, true, 0, what.take()};
  return index;
}

std::uint32_t flow_core::begin_timer(std::int64_t in_us) {
  writer with;
  with.i64(in_us);
  bool is_allowed = allow(note(operation::timer, 0, 0, with.view()));
  std::uint32_t index = add_leaf(1, 0);
  if (_replay == nullptr && is_allowed) at(index).number = run.begin_timer(*this, index, run.now + std::max<std::int64_t>(in_us, 0));
  return index;
}

std::uint32_t flow_core::begin_task(std::string_view body, byte_span with, std::function<void(writer&, bool&)> work) {
  writer all;
  all.string(body);
  all.raw(with);
  std::uint64_t number_of = run.next_task;
  if (_replay != nullptr) {
    // The task's number stands in its operation, since a failure to read its result names it.
    byte_span operations = _replay->of.operations;
    reader recorded(operations.subspan(std::min(_replay->operation_bytes + 1, operations.size())));
    number_of = recorded.varint();
  }
  bool is_allowed = allow(note(operation::task, static_cast<std::uint32_t>(number_of), 0, all.view()));
  std::uint32_t index = add_leaf(2, number_of);
  if (_replay == nullptr && is_allowed) {
    run.begin_task(*this, index, body, with, std::move(work));
  } else if (_replay != nullptr && at(index).state == leaf_state::waiting && !_replay->aside) {
    run.know_task(number_of, std::move(work));
  }
  return index;
}

void flow_core::give_up(std::uint32_t index) {
  allow(note(operation::given_up, index, 0, {}));
  leaf& of = at(index);
  if (of.state == leaf_state::taken) return;
  if (_replay == nullptr) forget(of);
  of.state = leaf_state::given_up;
  of.value.clear();
}

void flow_core::forget(leaf& of) {
  if (of.state != leaf_state::waiting) return;
  call_table::row* waiting = of.kind == 0 ? run.calls.find(of.number) : nullptr;
  if (waiting != nullptr) run.calls.remove(waiting);
  if (of.kind == 1) run.drop_timer(of.number);
  if (of.kind == 2) run.drop_task(of.number);
}

void flow_core::abandon() {
  for (leaf& one : _leaves) forget(one);
}

// ---- The journal ----

void flow_core::tell(std::uint8_t kind, bool is_failure, byte_span value) {
  _entries++;
  cbor::put_array(_journal, kind == 0 ? 3 : 2);
  cbor::put_unsigned(_journal, kind);
  if (kind == 0) cbor::put_unsigned(_journal, is_failure ? 1 : 0);
  cbor::put_bytes(_journal, value);
}

void flow_core::tell_time(std::int64_t time_us) {
  cbor::put_array(_journal, 2);
  cbor::put_unsigned(_journal, 2);
  cbor::put_integer(_journal, time_us);
  _entries++;
}

bool flow_core::told(std::uint8_t kind, bool& is_failure, byte_span& value, std::int64_t& time_us) {
  replay& from = *_replay;
  is_failure = false;
  if (from.why != nullptr) return false;
  if (from.entries == 0) return stop_replay("it goes on where it waited"), false;
  std::size_t items = from.told.read_array();
  std::uint64_t found = from.told.read_unsigned(2);
  if (items == 3 && found == 0) is_failure = from.told.read_unsigned(1) == 1;
  bool fits = found == kind || (found == 0 && kind == 1 && is_failure);
  if (!from.told.ok() || !fits) return stop_replay("it asks for another thing than it was told"), false;
  if (found == 2) {
    time_us = from.told.read_integer();
  } else {
    value = from.told.read_bytes();
  }
  from.entries--;
  return true;
}

byte_span flow_core::take(std::uint32_t index, bool& is_failure) {
  knows_time = false;
  bool is_alone = index == _awaited_leaf && _next_leaf - _first_leaf == 1;
  byte_span value = _told;
  if (!is_alone || value.size() > 16 || !_journal.has_room(4 + 16)) [[unlikely]] return take_slowly(index, is_failure);
  _awaited_leaf = several;
  _first_leaf = _next_leaf;
  _leaves.front().state = leaf_state::taken;
  is_failure = _is_told_failure;
  // As `tell` writes it, in one piece.
  std::uint8_t* to = _journal.data() + _journal.size();
  _journal.grow(4 + value.size());
  _entries++;
  detail::store(to, 0x40000083u | static_cast<std::uint32_t>(_is_told_failure) << 16 | static_cast<std::uint32_t>(value.size()) << 24);
  detail::copy_few(to + 4, value.data(), value.size());
  return value;
}

byte_span flow_core::take_slowly(std::uint32_t index, bool& is_failure) {
  leaf& of = at(index);
  bool is_told = index == std::exchange(_awaited_leaf, several);
  if (!is_told && of.state != leaf_state::done) return take_none(of.state, is_failure);
  byte_span value = is_told ? _told : of.value;
  is_failure = is_told ? _is_told_failure : of.is_failure;
  of.state = leaf_state::taken;
  // What was taken is needed no longer, so a flow that waits for one thing behind another keeps one leaf: this one, whose value is still to be read.
  if (++_taken == _next_leaf - _first_leaf) {
    if (&of != &_leaves[0]) std::swap(of, _leaves[0]);
    _leaves.resize(1);
    _first_leaf = _next_leaf;
    _taken = 0;
  }
  if (_replay != nullptr) return take_again(is_failure);
  tell(0, is_failure, value);
  return value;
}

byte_span flow_core::take_again(bool& is_failure) {
  replay& from = *_replay;
  byte_span value;
  std::int64_t none = 0;
  if (from.why == nullptr && from.entries != 0 && take_result(from.told, is_failure, value)) return from.entries--, value;
  told(0, is_failure, value, none);
  return value;
}

byte_span flow_core::take_none(leaf_state state, bool& is_failure) {
  writer what;
  write_failure(what, state == leaf_state::given_up ? failures::cancelled() : failures::misuse("a call"));
  is_failure = true;
  return _mistake = what.take();
}

std::size_t flow_core::choose(const std::uint32_t* leaves, std::size_t count) {
  allow(note(operation::choice, 0, 0, {}));
  bool is_failure = false;
  byte_span value;
  std::int64_t none = 0;
  if (_replay != nullptr) {
    if (!told(1, is_failure, value, none)) return 0;
    cbor_reader in(value);
    return static_cast<std::size_t>(std::min<std::uint64_t>(in.read_unsigned(), count - 1));
  }
  std::size_t first = 0;
  while (first + 1 < count && at(leaves[first]).state == leaf_state::waiting) first++;
  writer encoded;
  encode(encoded, static_cast<std::uint64_t>(first));
  tell(1, false, encoded.view());
  knows_time = false;
  return first;
}

// ---- Waiting ----

bool flow_core::is_ready(std::span<const std::uint32_t> leaves, bool all) {
  if (_doom != nullptr || replay_failed()) return false;
  std::size_t there = 0;
  for (std::uint32_t one : leaves) there += at(one).state != leaf_state::waiting ? 1 : 0;
  return all ? there == leaves.size() : there != 0 || leaves.empty();
}

bool flow_core::dooms(std::uint32_t index) {
  leaf& of = at(index);
  if (_replay != nullptr || of.state != leaf_state::done || !of.is_failure) return false;
  return doom(failure_of(of.value)), true;
}

// What a flow fails with that lets the failure of what it awaited through.
failure flow_core::failure_of(byte_span value) {
  failure what;
  return call_failed(read_failure(value, what) ? std::move(what) : failures::bad_failure());
}

void flow_core::start(std::coroutine_handle<> root) {
  _root = root;
  resume(root);
}

void flow_core::resume(std::coroutine_handle<> where) {
  _at = {};
  where.resume();
  bool waits_again = _at && is_suspended && _doom == nullptr;
  if (!waits_again) [[unlikely]] stop();
}

// It waits for the first time, or has ended.
void flow_core::stop() {
  if (_replay != nullptr) return;
  if (!_root.done() && _doom == nullptr) {
    if (!is_suspended) is_suspended = true, run.flow_suspended(*this);
    return;
  }
  if (_doom != nullptr) error = std::move(_doom);
  run.flow_ended(*this);
}

void flow_core::complete(std::uint32_t index, bool is_failure, byte_span value) {
  if (index != _awaited_leaf) [[unlikely]] return complete_among(index, is_failure, value);
  _told = value;
  _is_told_failure = is_failure;
  if (is_failure && !_takes_failures) [[unlikely]] return end_with(value);
  resume(_at);
}

// One of several, or one that comes before it is awaited.
void flow_core::complete_among(std::uint32_t index, bool is_failure, byte_span value) {
  leaf& of = at(index);
  of.state = leaf_state::done;
  of.is_failure = is_failure;
  of.value = to_bytes(value);
  if (_at && _awaited_leaf == several && has_all_it_awaits(index)) resume(_at);
}

// It ends with a failure that it awaited and does not take.
void flow_core::end_with(byte_span value) {
  _at = {};
  error = std::make_unique<failure>(failure_of(value));
  run.flow_ended(*this);
}

bool flow_core::has_all_it_awaits(std::uint32_t index) {
  bool is_awaited = false;
  std::size_t there = 0;
  for (std::uint32_t one : _awaited) {
    is_awaited |= one == index;
    there += at(one).state != leaf_state::waiting ? 1 : 0;
  }
  return is_awaited && (!_awaits_all || there == _awaited.size());
}

// ---- Images ----

void flow_core::begin_replay(const flow_image& of, bool aside) {
  _replay.reset(new replay{of, aside, cbor_reader(of.journal), of.entries, 0, 0, nullptr});
  is_suspended = true;
  run.repeated.set(0);
}

std::unique_ptr<std::string> flow_core::end_replay() {
  replay& from = *_replay;
  if (from.why == nullptr && (_root.done() || !_at)) stop_replay("it ends where it waited");
  if (from.why == nullptr && (from.operation_bytes != from.of.operations.size() || run.repeated.value() != from.of.hash)) {
    stop_replay("it does the same operations with other arguments, or fewer");
  }
  // It was told what stands in front, and has done all of the operations.
  _journal.raw({from.of.journal.data(), from.told.p});
  _entries = from.of.entries - from.entries;
  _operations.raw(from.of.operations);
  _hash.set(from.of.hash);
  // What came and was not taken yet stands behind what was told, in the order of the leaves.
  for (leaf& one : _leaves) {
    if (from.why != nullptr || one.state != leaf_state::done) continue;
    one.is_failure = from.told.read_array() == 3 && from.told.read_unsigned(0) == 0 && from.told.read_unsigned(1) == 1;
    one.value = to_bytes(from.told.read_bytes());
    if (from.entries-- == 0 || !from.told.ok()) stop_replay("it waits for what had come");
  }
  std::size_t waits = 0;
  for (leaf& one : _leaves) waits += one.state == leaf_state::waiting ? 1 : 0;
  if (from.why == nullptr && (from.entries != 0 || waits != from.of.waiting.size())) stop_replay("it was told more than it asks for");
  auto why = std::move(from.why);
  _replay.reset();
  return why;
}

void flow_core::write_image(writer& out, const place_name* caller) const {
  cbor::put_array(out, 8);
  cbor::put_unsigned(out, number);
  cbor::put_unsigned(out, method);
  cbor::put_bytes(out, arguments);
  if (answers.who == reply_to::kind::peer && caller != nullptr) {
    cbor::put_array(out, 3), cbor::put_unsigned(out, caller->shard), cbor::put_text(out, caller->name), cbor::put_unsigned(out, answers.call);
  } else if (answers.who == reply_to::kind::outside) {
    cbor::put_array(out, 3), cbor::put_unsigned(out, answers.epoch), cbor::put_unsigned(out, answers.session), cbor::put_unsigned(out, answers.call);
  } else {
    cbor::put_null(out);
  }
  std::size_t untaken = 0, waits = 0;
  for (const leaf& one : _leaves) untaken += one.state == leaf_state::done ? 1 : 0, waits += one.state == leaf_state::waiting ? 1 : 0;
  cbor::put_array(out, _entries + untaken);
  out.raw(_journal.view());
  for (const leaf& one : _leaves) {
    if (one.state != leaf_state::done) continue;
    cbor::put_array(out, 3), cbor::put_unsigned(out, 0), cbor::put_unsigned(out, one.is_failure ? 1 : 0), cbor::put_bytes(out, one.value);
  }
  cbor::put_bytes(out, _operations.view());
  cbor::put_unsigned(out, _hash.value());
  cbor::put_array(out, waits);
  for (std::size_t i = 0; i < _leaves.size(); i++) {
    if (_leaves[i].state != leaf_state::waiting) continue;
    cbor::put_array(out, 3), cbor::put_unsigned(out, _first_leaf + i), cbor::put_unsigned(out, _leaves[i].kind), cbor::put_unsigned(out, _leaves[i].number);
  }
}

void flow_core::drop_frame() {
  if (_root) std::exchange(_root, {}).destroy();
  _at = {};
}

void flow_core::clear() {
  drop_frame();
  arguments.clear();
  answers = {};
  window_row = -1;
  in_step = is_suspended = knows_time = goes_on = false;
  result.clear();
  _journal.clear();
  _operations.clear();
  _entries = _operation_count = 0;
  _hash.set(0);
  _leaves.resize(1), _leaves[0] = {};
  _first_leaf = _next_leaf = _taken = 0;
  _awaited_leaf = several;
  error.reset();
  refused.reset();
  _doom.reset();
  _replay.reset();
}

}  // namespace ambrosia
