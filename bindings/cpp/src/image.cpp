// The portable image (docs/image.md I4): writing changes nothing, and reading gives back a session that would write the same bytes.
#include "session.h"

namespace ambrosia {
inline namespace v0 {

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
  auto unsigned_row = [&](std::initializer_list<std::uint64_t> values) {
    for (std::uint64_t value : values) cbor::put_unsigned(to, value);
  };
  cbor::put_map(to, 10);
  cbor::put_unsigned(to, 0);
  cbor::put_array(to, _origins.size() - 1);
  for (std::size_t i = 1; i < _origins.size(); i++) {
    if (!_origins[i].is_known) {
      cbor::put_null(to);
      continue;
    }
    cbor::put_array(to, 2), cbor::put_unsigned(to, _origins[i].place.shard), cbor::put_text(to, _origins[i].place.name);
  }
  cbor::put_unsigned(to, 1);
  cbor::put_array(to, 2), cbor::put_unsigned(to, next_call);
  std::vector<call_table::row> awaited = calls.sorted();
  cbor::put_array(to, awaited.size());
  for (const call_table::row& call : awaited) {
    const place_name& place = out.name_of(call.destination);
    cbor::put_array(to, 6), unsigned_row({call.id, place.shard}), cbor::put_text(to, place.name), unsigned_row({call.method, call.flow->number, call.leaf});
  }
  cbor::put_unsigned(to, 2);
  cbor::put_array(to, 2), cbor::put_unsigned(to, next_timer);
  cbor::put_array(to, _timers.size());
  for (const auto& [number, timer] : _timers) {
    cbor::put_array(to, timer.flow != nullptr ? 4 : 5), cbor::put_unsigned(to, number), cbor::put_integer(to, timer.due);
    if (timer.flow != nullptr) {
      unsigned_row({timer.flow->number, timer.leaf});
    } else {
      cbor::put_unsigned(to, timer.method), cbor::put_integer(to, timer.period), cbor::put_bytes(to, timer.arguments);
    }
  }
  cbor::put_unsigned(to, 3);
  cbor::put_array(to, 2), cbor::put_unsigned(to, next_task);
  cbor::put_array(to, _tasks.size());
  for (const auto& [number, task] : _tasks) {
    cbor::put_array(to, 8), cbor::put_unsigned(to, number), cbor::put_integer(to, task.begun), cbor::put_text(to, task.body);
    cbor::put_bytes(to, task.arguments), cbor::put_unsigned(to, 1), cbor::put_null(to), unsigned_row({task.flow->number, task.leaf});
  }
  cbor::put_unsigned(to, 4);
  cbor::put_array(to, 2), cbor::put_integer(to, now), cbor::put_integer(to, _key_time);
  cbor::put_unsigned(to, 5);
  writer random;
  random.u64(random_state);
  cbor::put_bytes(to, random.view());
  cbor::put_unsigned(to, 6);
  std::uint64_t owed = 0;
  for (const flow_core* flow = first_flow; flow != nullptr; flow = flow->behind) owed += flow->answers.who != reply_to::kind::nobody ? 1 : 0;
  cbor::put_array(to, 2), unsigned_row({suspended, owed});
  cbor::put_unsigned(to, 7);
  _window.write(to, *this);
  cbor::put_unsigned(to, 8);
  cbor::put_unsigned(to, _fork_policy);
  cbor::put_unsigned(to, 9);
  cbor::put_array(to, 4), unsigned_row({_decisions, _decisions_met});
  cbor::put_array(to, _kept.size());
  for (const kept_message& kept : _kept) {
    cbor::put_array(to, 11), unsigned_row({kept.lsn, kept.index, static_cast<std::uint64_t>(kept.kind), kept.caller.shard});
    cbor::put_text(to, kept.caller.name), cbor::put_unsigned(to, kept.method), cbor::put_bytes(to, kept.arguments);
    cbor::put_unsigned(to, kept.tries), cbor::put_integer(to, kept.time), cbor::put_text(to, kept.why), cbor::put_unsigned(to, kept.decision);
  }
  cbor::put_array(to, _held.size());
  for (const flow_core* flow = first_flow; flow != nullptr; flow = flow->behind) {
    auto held = _held.find(flow);
    if (held == _held.end()) continue;
    const held_message& of = held->second;
    cbor::put_array(to, 7), unsigned_row({flow->number, of.lsn, of.index, static_cast<std::uint64_t>(of.kind), of.caller.shard});
    cbor::put_text(to, of.caller.name), cbor::put_unsigned(to, of.tries);
  }
}

// ---- Reading ----

bool session::restore(byte_span image) {
  cbor_reader in(image);
  in.images = true;
  std::string found = "no text";
  std::uint64_t version = 0;
  in.read_array();
  if (in.next_is(cbor::major::text)) found = std::string(in.read_text());
  if (in.ok()) version = in.read_unsigned();
  if (!in.ok() || found != format_name || version != format_version) {
    return end_with(1, 2, "The image is of format " + found + " version " + std::to_string(version) + ", and this app reads " + std::string(format_name) +
                              " version " + std::to_string(format_version) + ": start the app that wrote it, or give the log's directory its own.");
  }
  cbor_reader whole(image);
  whole.skip(true);
  bool is_whole = whole.ok() && whole.left() == 0;
  if (is_whole && read_image(in)) {
    _has_started = true;
    for (const auto& [number, timer] : _timers) {
      out.frame(frame_type::timer_set, [&, number = number, due = timer.due](writer& to) { to.u64(number), to.i64(due); });
    }
    for (const kept_message& kept : _kept) say_set_aside(kept, false);
    return true;
  }
  return end_with(4, 1, "The image is damaged: it is no image of this format, or not of this state.");
}

bool session::read_image(cbor_reader& in) {
  cbor_reader session_part(in.item());
  in.read_array_of(2);
  cbor_reader state(in.item());
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
  key(0);
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    origin& of = _origins.emplace_back();
    if (in.take_null()) continue;
    in.read_array_of(2);
    of.place.shard = static_cast<std::uint16_t>(in.read_unsigned(UINT16_MAX));
    of.place.name = in.read_text();
    of.is_known = true;
    of.destination = out.destination(of.place.shard, of.place.name);
    if (of.destination == no_destination) in.fail("OutOfRange");
  }
  key(1);
  // Which flow each call, timer and task belongs to is read with the flows: they say the same.
  in.read_array_of(2);
  next_call = in.read_unsigned();
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    in.read_array_of(6);
    call_table::row call;
    call.id = in.read_unsigned();
    auto shard = static_cast<std::uint16_t>(in.read_unsigned(UINT16_MAX));
    call.destination = out.destination(shard, in.read_text());
    call.method = static_cast<std::uint32_t>(in.read_unsigned(UINT32_MAX));
    in.read_unsigned(), in.read_unsigned();
    if (call.id == 0 || call.destination == no_destination || calls.find(call.id) != nullptr) in.fail("OutOfRange");
    if (in.ok()) calls.add(call);
  }
  key(2);
  if (!read_timers(in)) return false;
  key(3);
  if (!read_tasks(in)) return false;
  key(4);
  in.read_array_of(2);
  now = _record_time = in.read_integer();
  _key_time = in.read_integer();
  key(5);
  byte_span random = in.read_bytes();
  if (random.size() != 8) in.fail("OutOfRange");
  if (in.ok()) random_state = detail::load64(random.data());
  key(6);
  in.read_array_of(2);
  in.read_unsigned(), in.read_unsigned();
  key(7);
  if (!_window.read(in)) return false;
  _window.time = _key_time;
  key(8);
  _fork_policy = static_cast<std::uint8_t>(in.read_unsigned(2));
  key(9);
  return read_quarantine_rows(in) && in.left() == 0;
}

bool session::read_timers(cbor_reader& in) {
  in.read_array_of(2);
  next_timer = in.read_unsigned();
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    std::size_t items = in.read_array();
    timer_row& timer = _timers[in.read_unsigned()];
    timer.due = in.read_integer();
    if (items == 4) {
      in.read_unsigned(), in.read_unsigned();
    } else if (items == 5) {
      timer.method = static_cast<std::uint32_t>(in.read_unsigned(UINT32_MAX));
      timer.period = in.read_integer();
      timer.arguments = to_bytes(in.read_bytes());
    } else {
      in.fail("OutOfRange");
    }
  }
  return in.ok();
}

bool session::read_tasks(cbor_reader& in) {
  in.read_array_of(2);
  next_task = in.read_unsigned();
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    in.read_array_of(8);
    task_row& task = _tasks[in.read_unsigned()];
    task.begun = in.read_integer();
    task.body = in.read_text();
    task.arguments = to_bytes(in.read_bytes());
    in.read_unsigned();
    if (!in.take_null()) in.fail("OutOfRange");
    in.read_unsigned(), in.read_unsigned();
  }
  return in.ok();
}

bool session::read_quarantine_rows(cbor_reader& in) {
  in.read_array_of(4);
  _decisions = in.read_unsigned();
  _decisions_met = in.read_unsigned();
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    in.read_array_of(11);
    kept_message& kept = _kept.emplace_back();
    kept.lsn = in.read_unsigned();
    kept.index = static_cast<std::uint32_t>(in.read_unsigned(UINT32_MAX));
    kept.kind = static_cast<run_kind>(in.read_unsigned(8));
    kept.caller.shard = static_cast<std::uint16_t>(in.read_unsigned(UINT16_MAX));
    kept.caller.name = in.read_text();
    kept.method = static_cast<std::uint32_t>(in.read_unsigned(UINT32_MAX));
    kept.arguments = to_bytes(in.read_bytes());
    kept.tries = static_cast<std::uint32_t>(in.read_unsigned(UINT32_MAX));
    kept.time = in.read_integer();
    kept.why = in.read_text();
    kept.decision = in.read_unsigned();
    _kept_bytes += kept.arguments.size();
  }
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    in.read_array_of(7);
    held_message& of = _held_by_number[in.read_unsigned()];
    of.lsn = in.read_unsigned();
    of.index = static_cast<std::uint32_t>(in.read_unsigned(UINT32_MAX));
    of.kind = static_cast<run_kind>(in.read_unsigned(8));
    of.caller.shard = static_cast<std::uint16_t>(in.read_unsigned(UINT16_MAX));
    of.caller.name = in.read_text();
    of.tries = static_cast<std::uint32_t>(in.read_unsigned(UINT32_MAX));
  }
  if (_decisions_met > _decisions || _decisions - _decisions_met > _kept.size()) in.fail("OutOfRange");
  if (!in.ok()) return false;
  // The decisions that were not met are the last ones, and messages are kept in the order of their decisions.
  for (const kept_message& kept : _kept) {
    if (kept.decision > _decisions_met) _unmet.emplace_back(kept.lsn, kept.index);
  }
  return true;
}

std::uint32_t session::origin_of(const place_name& place) const {
  for (std::uint32_t i = 0; i < _origins.size(); i++) {
    if (_origins[i].is_known && _origins[i].place == place) return i;
  }
  return UINT32_MAX;
}

bool session::read_flow(cbor_reader& in, flow_image& of) {
  in.read_array_of(8);
  of.number = in.read_unsigned();
  of.method = static_cast<std::uint32_t>(in.read_unsigned(UINT32_MAX));
  of.arguments = to_bytes(in.read_bytes());
  if (!in.take_null()) {
    in.read_array_of(3);
    std::uint64_t first = in.read_unsigned();
    of.answers.method = of.method;
    if (in.next_is(cbor::major::text)) {
      of.answers.who = reply_to::kind::peer;
      of.answers.origin = origin_of({static_cast<std::uint16_t>(first), std::string(in.read_text())});
      if (of.answers.origin == UINT32_MAX) in.fail("OutOfRange");
    } else {
      of.answers.who = reply_to::kind::outside;
      of.answers.epoch = first;
      of.answers.session = in.read_unsigned();
    }
    of.answers.call = in.read_unsigned();
  }
  of.entries = in.read_array();
  const std::uint8_t* from = in.p;
  for (std::size_t i = 0; i < of.entries && in.ok(); i++) in.skip();
  if (in.ok()) of.journal.assign(from, in.p);
  of.operations = to_bytes(in.read_bytes());
  of.hash = in.read_unsigned();
  for (std::size_t count = in.read_array(); count != 0 && in.ok(); count--) {
    in.read_array_of(3);
    flow_image::wait one{};
    one.leaf = static_cast<std::uint32_t>(in.read_unsigned(UINT32_MAX));
    one.kind = static_cast<std::uint8_t>(in.read_unsigned(2));
    one.number = in.read_unsigned();
    of.waiting.push_back(one);
  }
  return in.ok();
}

bool session::restore_flow(const flow_image& of, bool aside, std::string& why) {
  std::unique_ptr<flow_core> beside;
  flow_core* flow;
  if (aside) {
    beside = std::make_unique<flow_core>(*this);
    flow = beside.get();
  } else {
    flow = &add_flow();
  }
  flow->number = of.number;
  flow->answers = of.answers;
  flow->arguments = of.arguments;
  flow->begin_replay(of, aside);
  incoming in(*this, of.method, of.arguments);
  in.app = _app.get();
  in.restoring = flow;
  in.result = &flow->result;
  _app->dispatch(in);
  if (in.what != incoming::fate::flow) {
    why = in.what == incoming::fate::failed ? in.error->message : "no flow of this method is there";
    return false;
  }
  auto different = flow->end_replay();
  if (different != nullptr) return why = *different, false;
  if (aside) return true;
  for (const flow_image::wait& one : of.waiting) {
    call_table::row* call = one.kind == 0 ? calls.find(one.number) : nullptr;
    auto timer = one.kind == 1 ? _timers.find(one.number) : _timers.end();
    auto task = one.kind == 2 ? _tasks.find(one.number) : _tasks.end();
    if (call != nullptr) {
      call->flow = flow, call->leaf = one.leaf;
    } else if (timer != _timers.end()) {
      timer->second.flow = flow, timer->second.leaf = one.leaf;
    } else if (task != _tasks.end()) {
      task->second.flow = flow, task->second.leaf = one.leaf;
    } else {
      return why = "the session does not know what it waits for", false;
    }
  }
  suspended++;
  return true;
}

bool session::read_flows(cbor_reader& in) {
  std::string refused_flows;
  std::uint64_t before = 0;
  for (std::size_t count = in.read_array(); count != 0; count--) {
    flow_image of;
    std::string why;
    if (!read_flow(in, of) || of.number <= before) return false;
    before = of.number;
    if (!restore_flow(of, false, why)) {
      refused_flows += "\n  flow " + std::to_string(of.number) + " of method 0x" + method_text(of.method) + ": " + why;
      if (last_flow != nullptr && last_flow->number == of.number) last_flow->drop_frame();
    }
  }
  if (!refused_flows.empty()) {
    return end_with(1, 2, "This build cannot continue what the image's flows were doing:" + refused_flows), false;
  }
  for (auto& [number, held] : std::exchange(_held_by_number, {})) {
    flow_core* flow = find_flow(number);
    if (flow == nullptr) return false;
    _held[flow] = held;
  }
  for (const call_table::row& call : calls.sorted()) {
    if (call.flow == nullptr) return false;
  }
  for (const auto& [number, task] : _tasks) {
    if (task.flow == nullptr) return false;
  }
  return _window.each_under_way([&](std::uint64_t number, std::int64_t place) {
    flow_core* flow = find_flow(number);
    if (flow != nullptr) flow->window_row = place;
    return flow != nullptr;
  });
}

}  // namespace v0
}  // namespace ambrosia
