// The portable image (docs/image.md I4): writing changes nothing, and reading gives back a session that would write the same bytes.
#include "session.h"

namespace ambrosia::inline v0 {

namespace {

constexpr std::string_view format_name = "ambrosia";
constexpr std::uint64_t format_version = 1;

}  // namespace

// ---- Writing ----

void session::write_image(writer& to) const {
  to.image = true;
  cbor::put_array(to, 5);
  cbor::put_text(to, format_name);
  cbor::put_unsigned(to, format_version);
  write_session(to);
  cbor::put_array(to, 2);
  _app->write_state(to);
  cbor::put_array(to, 0);  // no object of C++ is shared
  std::size_t count = 0;
  for (const flow_core* flow = first_flow; flow != nullptr; flow = flow->behind) count++;
  cbor::put_array(to, count);
  for (const flow_core* flow = first_flow; flow != nullptr; flow = flow->behind) {
    const origin* caller = find_origin(flow->answers.origin);
    flow->write_image(to, caller != nullptr ? &caller->place : nullptr);
  }
}

void session::write_session(writer& to) const {
  cbor::put_map(to, 10);
  cbor::put_unsigned(to, 0), cbor::put_array(to, _origins.size() - 1);
  for (std::size_t i = 1; i < _origins.size(); i++) {
    const origin& of = _origins[i];
    of.is_known ? write_row(to, of.place.shard, of.place.name) : cbor::put_null(to);
  }
  write_waits(to);
  cbor::put_unsigned(to, 4), write_row(to, now, _key_time);
  cbor::put_unsigned(to, 5);
  writer random;
  random.u64(random_state);
  cbor::put_bytes(to, random.view());
  cbor::put_unsigned(to, 6);
  std::uint64_t owed = 0;
  for (const flow_core* flow = first_flow; flow != nullptr; flow = flow->behind) owed += flow->answers.who != reply_to::kind::nobody ? 1 : 0;
  write_row(to, suspended, owed);
  cbor::put_unsigned(to, 7), _window.write(to, *this);
  cbor::put_unsigned(to, 8), cbor::put_unsigned(to, _fork_policy);
  cbor::put_unsigned(to, 9), _quarantine.write(to, *this);
}

// Calls, timers and tasks.
void session::write_waits(writer& to) const {
  cbor::put_unsigned(to, 1), cbor::put_array(to, 2), encode(to, next_call);
  std::vector<call_table::row> awaited = calls.sorted();
  cbor::put_array(to, awaited.size());
  for (const call_table::row& call : awaited) {
    const place_name& place = out.name_of(call.destination);
    write_row(to, call.id, place.shard, place.name, call.method, call.flow->number, call.leaf);
  }
  cbor::put_unsigned(to, 2), cbor::put_array(to, 2), encode(to, next_timer);
  cbor::put_array(to, _timers.size());
  for (const auto& [number, timer] : _timers) {
    if (timer.flow != nullptr) {
      write_row(to, number, timer.due, timer.flow->number, timer.leaf);
    } else {
      write_row(to, number, timer.due, timer.method, timer.period, timer.arguments);
    }
  }
  cbor::put_unsigned(to, 3), cbor::put_array(to, 2), encode(to, next_task);
  cbor::put_array(to, _tasks.size());
  for (const auto& [number, task] : _tasks) {
    // Each is tried once, and none has a deadline.
    write_row(to, number, task.begun, task.body, task.arguments, 1, std::optional<std::int64_t>(), task.flow->number, task.leaf);
  }
}

// ---- Reading ----

bool session::restore(byte_span image) {
  cbor_reader in(image);
  in.images = true;
  std::string found = "no text";
  std::uint64_t version = 0;
  std::size_t items = in.read_array();
  if (in.next_is(cbor::major::text)) found = std::string(in.read_text());
  if (in.ok()) version = in.read_unsigned();
  if (!in.ok() || found != format_name || version != format_version) {
    return end_with(1, 2, "The image is of format " + found + " version " + std::to_string(version) + ", and this app reads " + std::string(format_name) +
                              " version " + std::to_string(format_version) + ": start the app that wrote it, or give the log's directory its own.");
  }
  if (items == 5 && read_image(in)) {
    _has_started = true;
    for (const auto& [number, timer] : _timers) say_timer(number, timer.due);
    for (const kept_message& kept : _quarantine.kept()) say_set_aside(kept, false);
    return true;
  }
  return end_with(1, 1, "image: it is damaged, no image of this format, or not of this state");
}

bool session::read_image(cbor_reader& in) {
  cbor_reader session_part(in.item(true));
  in.read_array_of(2);
  cbor_reader state(in.item(true));
  if (in.read_array() != 0) in.fail("OutOfRange");
  state.images = true;
  if (!in.ok() || !read_session(session_part) || !_app->read_state(state)) return false;
  return read_flows(in) && in.left() == 0;
}

bool session::read_session(cbor_reader& in) {
  auto key = [&](std::uint64_t expected) {
    if (in.read_unsigned() != expected) in.fail("OutOfRange");
  };
  if (in.read_map() != 10) in.fail("OutOfRange");
  key(0), read_origins(in);
  key(1), read_calls(in);
  key(2), read_timers(in);
  key(3), read_tasks(in);
  key(4), read_row(in, now, _key_time);
  _record_time = now;
  key(5);
  byte_span random = in.read_bytes();
  if (random.size() != 8) in.fail("OutOfRange");
  if (in.ok()) random_state = detail::load64(random.data());
  key(6);
  std::uint64_t waiting = 0, owed = 0;  // they follow from the flows
  read_row(in, waiting, owed);
  key(7), _window.read(in);
  _window.time = _key_time;
  key(8), _fork_policy = static_cast<std::uint8_t>(in.read_unsigned(2));
  key(9);
  return _quarantine.read(in) && in.left() == 0;
}

void session::read_origins(cbor_reader& in) {
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    origin& of = _origins.emplace_back();
    if (in.take_null()) continue;
    read_row(in, of.place.shard, of.place.name);
    of.is_known = true;
    of.destination = out.destination(of.place.shard, of.place.name);
    if (of.destination == no_destination) in.fail("OutOfRange");
  }
}

// Which flow each call, timer and task belongs to is read with the flows: they say the same.
void session::read_calls(cbor_reader& in) {
  in.read_array_of(2);
  decode(in, next_call);
  std::size_t count = in.read_array();
  calls.reserve(std::min<std::size_t>(count, in.left() / 7));  // each has six items
  for (; count != 0 && in.ok(); count--) {
    call_table::row call;
    std::uint16_t shard = 0;
    std::string_view name;
    std::uint64_t flow = 0;
    read_row(in, call.id, shard, name, call.method, flow, call.leaf);
    call.destination = out.destination(shard, name);
    if (call.id == 0 || call.destination == no_destination || calls.find(call.id) != nullptr) in.fail("OutOfRange");
    if (in.ok()) calls.add(call.id) = call;
  }
}

void session::read_timers(cbor_reader& in) {
  in.read_array_of(2);
  decode(in, next_timer);
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    std::size_t items = in.read_array();
    timer_row& timer = _timers[in.read_unsigned()];
    std::uint64_t flow = 0;
    decode(in, timer.due);
    if (items == 4) {
      decode(in, flow), decode(in, timer.leaf);
    } else if (items == 5) {
      decode(in, timer.method), decode(in, timer.period), decode(in, timer.arguments);
    } else {
      in.fail("OutOfRange");
    }
  }
}

void session::read_tasks(cbor_reader& in) {
  in.read_array_of(2);
  decode(in, next_task);
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    std::uint64_t number = 0, attempts = 0, flow = 0;
    std::optional<std::int64_t> deadline;
    task_row task;
    read_row(in, number, task.begun, task.body, task.arguments, attempts, deadline, flow, task.leaf);
    if (deadline) in.fail("OutOfRange");
    _tasks[number] = std::move(task);
  }
}

std::uint32_t session::origin_of(std::uint64_t shard, std::string_view name) const {
  for (std::uint32_t i = 0; i < _origins.size(); i++) {
    if (_origins[i].is_known && _origins[i].place.shard == shard && _origins[i].place.name == name) return i;
  }
  return UINT32_MAX;
}

}  // namespace ambrosia
