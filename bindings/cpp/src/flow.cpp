#include <ambrosia/runtime.h>

#include <cstdio>

namespace ambrosia {
inline namespace v0 {

namespace {

constexpr std::size_t operations_most = 65'536, journal_most = 64 << 20;
constexpr std::size_t class_bytes = 64, classes = 32;
thread_local void* free_frames[classes];

const char* const operation_names[] = {"a call", "a delay", "a task", "a step", "now", "random", "a fork",
                                     "setting a timer", "dropping a timer", "any", "giving up", "a checkpoint"};

}  // namespace

void* take_frame(std::size_t size) {
  std::size_t index = (size + class_bytes - 1) / class_bytes;
  if (index < classes && free_frames[index] != nullptr) return std::exchange(free_frames[index], *static_cast<void**>(free_frames[index]));
  void* frame = std::malloc(index * class_bytes);
  if (frame == nullptr) std::abort();
  return frame;
}

void give_frame(void* frame, std::size_t size) {
  std::size_t index = (size + class_bytes - 1) / class_bytes;
  if (index >= classes) return std::free(frame);
  *static_cast<void**>(frame) = std::exchange(free_frames[index], frame);
}

// ---- Tables ----

void call_table::add(const row& call) {
  if (2 * (_size + 1) > _rows.size()) {
    std::vector<row> before(_rows.size() * 2);
    before.swap(_rows);
    _size = 0;
    for (const row& one : before) {
      if (one.id != 0) add(one);
    }
  }
  std::size_t at = place_of(call.id);
  while (_rows[at].id != 0) at = (at + 1) & (_rows.size() - 1);
  _rows[at] = call;
  _size++;
}

call_table::row* call_table::find(std::uint64_t id) {
  if (id == 0) return nullptr;
  for (std::size_t at = place_of(id); _rows[at].id != 0; at = (at + 1) & (_rows.size() - 1)) {
    if (_rows[at].id == id) return &_rows[at];
  }
  return nullptr;
}

void call_table::remove(row* call) {
  std::size_t mask = _rows.size() - 1, hole = static_cast<std::size_t>(call - _rows.data());
  for (std::size_t at = (hole + 1) & mask; _rows[at].id != 0; at = (at + 1) & mask) {
    // A row may move to the hole if its own place does not lie between the two.
    if (((at - place_of(_rows[at].id)) & mask) >= ((at - hole) & mask)) _rows[hole] = _rows[at], hole = at;
  }
  _rows[hole].id = 0;
  _size--;
}

std::vector<call_table::row> call_table::sorted() const {
  std::vector<row> rows;
  for (const row& one : _rows) {
    if (one.id != 0) rows.push_back(one);
  }
  std::sort(rows.begin(), rows.end(), [](const row& a, const row& b) { return a.id < b.id; });
  return rows;
}

runtime::~runtime() {
  while (first_flow != nullptr) remove_flow(*first_flow);
  for (flow_core* flow : _free_flows) delete flow;
}

guid runtime::chance_guid() {
  guid id;
  std::uint64_t high = chance(), low = chance();
  for (std::size_t i = 0; i < 8; i++) id.value[i] = static_cast<std::uint8_t>(high >> (8 * i)), id.value[8 + i] = static_cast<std::uint8_t>(low >> (8 * i));
  id.value[6] = static_cast<std::uint8_t>((id.value[6] & 0x0F) | 0x40);  // version 4
  id.value[8] = static_cast<std::uint8_t>((id.value[8] & 0x3F) | 0x80);
  return id;
}

flow_core& runtime::add_flow() {
  flow_core* flow;
  if (_free_flows.empty()) {
    flow = new flow_core(*this);
  } else {
    flow = _free_flows.back();
    _free_flows.pop_back();
  }
  flow->number = last_flow == nullptr ? 1 : last_flow->number + 1;
  flow->before = last_flow;
  flow->behind = nullptr;
  (last_flow == nullptr ? first_flow : last_flow->behind) = flow;
  last_flow = flow;
  return *flow;
}

void runtime::remove_flow(flow_core& flow) {
  (flow.before == nullptr ? first_flow : flow.before->behind) = flow.behind;
  (flow.behind == nullptr ? last_flow : flow.behind->before) = flow.before;
  flow.clear();
  if (_free_flows.size() < 4096) {
    _free_flows.push_back(&flow);
  } else {
    delete &flow;
  }
}

flow_core* runtime::find_flow(std::uint64_t number) const {
  flow_core* flow = first_flow;
  while (flow != nullptr && flow->number != number) flow = flow->behind;
  return flow;
}

// ---- Operations ----

struct flow_core::replay {
  cbor_reader told;
  std::size_t entries;
  byte_span operations;
  std::uint64_t hash;
  std::vector<flow_image::wait> waiting;
  bool aside;
  std::unique_ptr<std::string> why;
};

flow_core::flow_core(runtime& of) : run(of) {}
flow_core::~flow_core() { drop_frame(); }

bool flow_core::replay_failed() const { return _replay != nullptr && _replay->why != nullptr; }

void flow_core::stop_replay(std::string why) {
  if (_replay->why == nullptr) _replay->why = std::make_unique<std::string>(std::move(why));
}

bool flow_core::note(operation what, std::uint32_t method_of, std::uint64_t destination, byte_span with) {
  std::size_t from = _operations.size();
  _operations.u8(static_cast<std::uint8_t>(what));
  _operations.varint(method_of);
  std::uint8_t front[16];
  std::size_t length = _operations.size() - from;
  std::memcpy(front, _operations.data() + from, length);
  std::memcpy(front + length, &destination, 8);
  _hash = crc64(with, crc64({front, length + 8}, _hash));
  _operation_count++;
  if (_replay != nullptr) {
    byte_span recorded = _replay->operations;
    bool agrees = _operations.size() <= recorded.size() && std::memcmp(recorded.data() + from, front, length) == 0;
    if (agrees) return _replay->why == nullptr;
    std::string before = from < recorded.size() && recorded[from] < std::size(operation_names) ? operation_names[recorded[from]] : "waiting";
    stop_replay("operation " + std::to_string(_operation_count) + " was " + before + " and is " + operation_names[static_cast<std::size_t>(what)] + " now");
    return false;
  }
  return _operation_count <= operations_most && _journal.size() <= journal_most;
}

bool flow_core::allow(bool noted) {
  if (in_step) refused = std::make_unique<failure>(failures::misuse("a call"));
  if (!noted && refused == nullptr) refused = std::make_unique<failure>(failures::flow_too_long());
  return refused == nullptr;
}

std::uint32_t flow_core::add_leaf(std::uint8_t kind, std::uint64_t number_of) {
  leaf& added = _leaves.emplace_back();
  added.kind = kind;
  added.number = number_of;
  auto index = static_cast<std::uint32_t>(_leaves.size() - 1);
  if (_replay == nullptr) return index;
  // What the image does not say to be waiting had come before it was taken.
  added.state = leaf_state::done;
  for (const auto& one : _replay->waiting) {
    if (one.leaf != index) continue;
    added.state = leaf_state::waiting;
    added.number = one.number;
    if (one.kind != kind) stop_replay("leaf " + std::to_string(index) + " is of another kind");
  }
  return index;
}

std::uint32_t flow_core::begin_call(std::uint32_t destination, std::uint32_t method_of, byte_span with) {
  bool is_allowed = allow(note(operation::call, method_of, run.out.hash_of(destination), with));
  if (_replay != nullptr) return add_leaf(0, 0);
  std::uint64_t id = run.next_call;
  run.out.begin(destination, run_kind::call, method_of, id);
  run.out.bytes_out().raw(with);
  std::uint32_t index = add_leaf(0, id);
  if (!is_allowed) run.out.bytes_out().bad = true;
  if (run.out.end()) {
    run.next_call++;
    run.calls.add({id, this, index, destination, method_of});
    return index;
  }
  writer what;
  write_failure(what, run.out.was_bad() ? failures::misuse("a value") : failures::too_long(run.out.limit));
  _leaves[index] = {0, leaf_state::done, true, 0, what.take()};
  return index;
}

std::uint32_t flow_core::begin_timer(std::int64_t in_us) {
  writer with;
  with.i64(in_us);
  bool is_allowed = allow(note(operation::timer, 0, 0, with.view()));
  std::uint32_t index = add_leaf(1, 0);
  if (_replay == nullptr && is_allowed) _leaves[index].number = run.begin_timer(*this, index, run.now + std::max<std::int64_t>(in_us, 0));
  return index;
}

std::uint32_t flow_core::begin_task(std::string_view body, byte_span with, std::function<void(writer&, bool&)> work) {
  writer all;
  all.string(body);
  all.raw(with);
  std::uint64_t number_of = run.next_task;
  if (_replay != nullptr) {
    // The task's number stands in its operation, since a failure to read its result names it.
    reader recorded(_replay->operations.subspan(std::min(_operations.size() + 1, _replay->operations.size())));
    number_of = recorded.varint();
  }
  bool is_allowed = allow(note(operation::task, static_cast<std::uint32_t>(number_of), 0, all.view()));
  std::uint32_t index = add_leaf(2, number_of);
  _leaves[index].number = number_of;
  if (_replay == nullptr && is_allowed) {
    run.begin_task(*this, index, body, with, std::move(work));
  } else if (_replay != nullptr && _leaves[index].state == leaf_state::waiting && !_replay->aside) {
    run.know_task(number_of, std::move(work));
  }
  return index;
}

void flow_core::give_up(std::uint32_t index) {
  allow(note(operation::given_up, index, 0, {}));
  leaf& of = _leaves[index];
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
  cbor::put_array(_journal, kind == 0 ? 3 : 2);
  cbor::put_unsigned(_journal, kind);
  if (kind == 0) cbor::put_unsigned(_journal, is_failure ? 1 : 0);
  cbor::put_bytes(_journal, value);
  _entries++;
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
  const std::uint8_t* begin = from.told.p;
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
  _journal.raw({begin, from.told.p});
  _entries++;
  return true;
}

byte_span flow_core::take(std::uint32_t index, bool& is_failure) {
  leaf& of = _leaves[index];
  knows_time = false;
  if (of.state != leaf_state::done) {
    writer what;
    write_failure(what, of.state == leaf_state::given_up ? failures::cancelled() : failures::misuse("a call"));
    is_failure = true;
    of.value = what.take();
    return of.value;
  }
  of.state = leaf_state::taken;
  if (_replay != nullptr) {
    byte_span value;
    std::int64_t none = 0;
    told(0, is_failure, value, none);
    return value;
  }
  is_failure = of.is_failure;
  byte_span value = _told.data() != nullptr ? std::exchange(_told, {}) : byte_span(of.value);
  tell(0, is_failure, value);
  return value;
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
  while (first + 1 < count && _leaves[leaves[first]].state == leaf_state::waiting) first++;
  // What it was resumed with must last until it is taken, which may be later.
  if (_told.data() != nullptr) _leaves[leaves[first]].value = to_bytes(std::exchange(_told, {}));
  writer encoded;
  encode(encoded, static_cast<std::uint64_t>(first));
  tell(1, false, encoded.view());
  knows_time = false;
  return first;
}

// ---- Waiting ----

bool flow_core::is_ready(const std::uint32_t* leaves, std::size_t count, bool all, bool takes_failures) {
  if (_doom != nullptr || replay_failed()) return false;
  std::size_t there = 0;
  for (std::size_t i = 0; i < count; i++) there += _leaves[leaves[i]].state != leaf_state::waiting ? 1 : 0;
  bool is_there = all ? there == count : there != 0 || count == 0;
  if (is_there && !takes_failures && _replay == nullptr && _leaves[leaves[0]].state == leaf_state::done && _leaves[leaves[0]].is_failure) {
    failure what;
    doom(call_failed(read_failure(_leaves[leaves[0]].value, what) ? what : failures::bad_failure()));
    return false;
  }
  return is_there;
}

void flow_core::wait(std::coroutine_handle<> at, const std::uint32_t* leaves, std::size_t count, bool all, bool takes_failures) {
  _at = at;
  _awaited.assign(leaves, leaves + count);
  _awaits_all = all;
  _takes_failures = takes_failures;
}

void flow_core::start(std::coroutine_handle<> root) {
  _root = root;
  resume(root);
}

void flow_core::resume(std::coroutine_handle<> at) {
  _at = {};
  at.resume();
  if (_replay != nullptr) return;
  if (!_root.done() && _doom == nullptr) {
    if (!is_suspended) is_suspended = true, run.flow_suspended(*this);
    return;
  }
  if (_doom != nullptr) is_failed = true, error = std::move(*_doom);
  has_ended = true;
  run.flow_ended(*this);
}

void flow_core::complete(std::uint32_t index, bool is_failure, byte_span value) {
  leaf& of = _leaves[index];
  of.state = leaf_state::done;
  of.is_failure = is_failure;
  bool is_awaited = false;
  std::size_t there = 0;
  for (std::uint32_t one : _awaited) {
    is_awaited |= one == index;
    there += _leaves[one].state != leaf_state::waiting ? 1 : 0;
  }
  bool goes = _at && is_awaited && (!_awaits_all || there == _awaited.size());
  if (!goes || _awaited.size() > 1) of.value = to_bytes(value);
  if (!goes) return;
  if (is_failure && !_takes_failures) {
    failure what;
    doom(call_failed(read_failure(value, what) ? what : failures::bad_failure()));
    _at = {};
    is_failed = has_ended = true, error = std::move(*_doom);
    return run.flow_ended(*this);
  }
  // An empty value still has an address, which says that there is one.
  static const std::uint8_t nothing = 0;
  if (_awaited.size() == 1) _told = value.empty() ? byte_span(&nothing, std::size_t{0}) : value;
  resume(_at);
}

// ---- Images ----

void flow_core::begin_replay(const flow_image& of, bool aside) {
  _replay.reset(new replay{cbor_reader(of.journal), of.entries, of.operations, of.hash, of.waiting, aside, nullptr});
  is_suspended = true;
}

std::unique_ptr<std::string> flow_core::end_replay() {
  replay& from = *_replay;
  if (from.why == nullptr && (_root.done() || !_at)) stop_replay("it ends where it waited");
  if (from.why == nullptr && (_operations.size() != from.operations.size() || _hash != from.hash)) {
    stop_replay("it does the same operations with other arguments, or fewer");
  }
  // What came and was not taken yet stands behind what was told, in the order of the leaves.
  for (leaf& one : _leaves) {
    if (from.why != nullptr || one.state != leaf_state::done) continue;
    one.is_failure = from.told.read_array() == 3 && from.told.read_unsigned(0) == 0 && from.told.read_unsigned(1) == 1;
    one.value = to_bytes(from.told.read_bytes());
    if (from.entries-- == 0 || !from.told.ok()) stop_replay("it waits for what had come");
  }
  std::size_t waits = 0;
  for (leaf& one : _leaves) waits += one.state == leaf_state::waiting ? 1 : 0;
  if (from.why == nullptr && (from.entries != 0 || waits != from.waiting.size())) stop_replay("it was told more than it asks for");
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
  cbor::put_unsigned(out, _hash);
  cbor::put_array(out, waits);
  for (std::size_t i = 0; i < _leaves.size(); i++) {
    if (_leaves[i].state != leaf_state::waiting) continue;
    cbor::put_array(out, 3), cbor::put_unsigned(out, i), cbor::put_unsigned(out, _leaves[i].kind), cbor::put_unsigned(out, _leaves[i].number);
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
  in_step = is_suspended = knows_time = has_ended = is_failed = goes_on = false;
  if (!error.type.empty()) error = {};
  result.clear();
  _journal.clear();
  _operations.clear();
  _entries = _operation_count = 0;
  _hash = 0;
  _leaves.clear();
  _awaited.clear();
  _told = {};
  _doom.reset();
  refused.reset();
  _replay.reset();
}

}  // namespace v0
}  // namespace ambrosia
