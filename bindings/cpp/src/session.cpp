#include "session.h"

#include <cstdio>
#include <unistd.h>

namespace ambrosia {
inline namespace v0 {

namespace {

constexpr std::int64_t patience_us = 10'000'000, hour_us = 3'600'000'000;
constexpr std::size_t timers_most = 1u << 20, kept_most = 1'000;
constexpr std::uint64_t kept_bytes_most = 64 << 20;

std::string_view shortened(std::string_view text, std::size_t most = 1'024) {
  if (text.size() > most) text = text.substr(0, most);
  while (!is_utf8(as_bytes(text))) text.remove_suffix(1);
  return text;
}

std::string runtime_name() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

// The next message of a run that was checked.
inline void next_message(const run_view& run, reader& at, message_view& message) {
  std::uint64_t length = at.varint();
  const std::uint8_t* end = at.p + length;
  message.method = static_cast<std::uint32_t>(at.varint());
  if (run.kind != run_kind::fork && run.kind != run_kind::impulse) message.call = at.varint();
  if (run.keyed) message.key = at.byte_string(UINT64_MAX);
  message.arguments = {at.p, end};
  at.p = end;
}

constexpr const char* cpu_name =
#if defined(__x86_64__)
    "x64";
#elif defined(__aarch64__)
    "arm64";
#else
    "other";
#endif

}  // namespace

session::session(std::unique_ptr<immortal_base> app, std::function<void()> wake) : _app(std::move(app)), _wake(std::move(wake)), _origins(1), _in(*this, 0, {}) {
  _in.app = _app.get();
  _in.result = &_result;
  _app->attach(*this);
}

// ---- Beginning and end ----

void session::greet(byte_span token) {
  out.frame(frame_type::app_hello, [&](writer& to) {
    to.u16(1), to.u16(1);
    to.byte_string(token);
    to.u32(_app->version());
    to.u32(1);  // the version of the image's format (I4.1)
    to.string("cpp 0.1");
    to.string(shortened(runtime_name(), 128));
    to.string("");
    to.string(cpu_name);
    to.u64(_app->contract_hash());
    to.u32(static_cast<std::uint32_t>(getpid()));
    to.varint(0);
  });
}

bool session::end_with(std::uint8_t goodbye, int code, std::string why) {
  if (_has_ended) return false;
  _has_ended = true;
  _end = {code, std::move(why)};
  if (goodbye == 4 || goodbye == 3) out.frame(frame_type::executing, [&](writer& to) { to.u64(executing_lsn), to.u32(executing_index); });
  out.frame(frame_type::goodbye, [&](writer& to) { to.u8(goodbye), to.string(shortened(_end.why)); });
  return false;
}

bool session::fail_with(const char* sentence, std::string_view about) {
  return end_with(2, 74, "The coordinator broke " + std::string(sentence) + ": " + std::string(about) + ".");
}

bool session::diverged(std::string why) { return end_with(3, 70, std::move(why)); }

bool session::take(frame_type type, byte_span payload) {
  if (_has_ended) return false;
  bool is_image = type == frame_type::image_begin || type == frame_type::image_chunk || type == frame_type::image_end;
  switch (type) {
    case frame_type::heartbeat: return payload.empty() || fail_with("P2.6", "a heartbeat with content");
    case frame_type::goodbye: return take_goodbye(payload);
    case frame_type::app_welcome: return take_welcome(payload);
    case frame_type::rings: {
      reader in(payload, "P5.19");
      rings_frame rings;
      if (_is_welcome || !read_rings(in, rings)) return fail_with(in.ok() ? "P2.4" : in.error, "Rings");
      _ring_path = rings.path, _ring_bytes = rings.capacity;
      return true;
    }
    default: break;
  }
  if (!_is_welcome || (_stage == stage::image) != is_image) return fail_with("P2.4", "a frame out of its place");
  switch (type) {
    case frame_type::image_begin:
    case frame_type::image_chunk:
    case frame_type::image_end: return take_image(type, payload);
    case frame_type::deliver: return deliver(payload);
    case frame_type::become_primary: return become_primary(payload);
    case frame_type::query: return take_query(payload);
    case frame_type::impulse_logged: {
      reader in(payload, "P5.9");
      impulse_logged logged;
      return read_impulse_logged(in, logged) || fail_with(in.error, "ImpulseLogged");
    }
    case frame_type::policy_ahead: {
      reader in(payload, "P5.17");
      _ahead.clear();
      return read_policy_ahead(in, _ahead) || fail_with(in.error, "PolicyAhead");
    }
    case frame_type::look:
    case frame_type::go: return end_with(1, 2, "This binding does not execute views.");
    default: return fail_with("P2.4", "a frame that no app is sent");
  }
}

bool session::take_goodbye(byte_span payload) {
  reader in(payload, "P5.12");
  goodbye_frame goodbye;
  if (!read_goodbye(in, goodbye)) return fail_with(in.error, "Goodbye");
  _has_ended = true;
  _end = {goodbye.code == 0 ? 0 : goodbye.code == 1 ? 2 : 74, std::string(goodbye.why)};
  return false;
}

bool session::take_welcome(byte_span payload) {
  reader in(payload, "P5.3");
  app_welcome welcome;
  if (_is_welcome || !read_welcome(in, welcome)) return fail_with(in.ok() ? "P2.4" : in.error, "AppWelcome");
  if (welcome.version != 1) return fail_with("P5.2", "another version of the protocol");
  _is_welcome = true;
  self = {welcome.shard, std::string(welcome.instance)};
  uuid = welcome.uuid;
  _replica = welcome.replica;
  _epoch = welcome.epoch;
  _is_view = welcome.is_view;
  out.limit = welcome.message_bytes_most;
  _executed = _reported = welcome.checkpoint;
  _origins[0] = {self, true, out.destination(self.shard, self.name)};
  _stage = welcome.has_image ? stage::image : stage::ready;
  for (std::string_view manifest : _app->manifests()) {
    if (!manifest.empty()) out.frame(frame_type::contract, [&](writer& to) { to.raw(as_bytes(manifest)); });
  }
  return true;
}

bool session::take_image(frame_type type, byte_span payload) {
  reader in(payload, "P5.7");
  if (type == frame_type::image_begin) {
    image_begin begin;
    if (!read_image_begin(in, begin)) return fail_with(in.error, "ImageBegin");
    _image_lsn = begin.lsn;
    _image.clear();
    return true;
  }
  if (type == frame_type::image_chunk) {
    if (payload.empty() || payload.size() > 1'048'576) return fail_with("P5.7", "a chunk of an image");
    _image.insert(_image.end(), payload.begin(), payload.end());
    return true;
  }
  image_end end;
  if (!read_image_end(in, end)) return fail_with(in.error, "ImageEnd");
  if (end.length != _image.size() || end.hash != crc64(_image)) return fail_with("P5.7", "an image of another length or hash");
  _stage = stage::ready;
  bool is_restored = restore(_image);
  _image = {};
  return is_restored;
}

bool session::become_primary(byte_span payload) {
  reader in(payload, "P5.10");
  std::uint64_t lsn = in.lsn();
  if (!in.finish()) return fail_with(in.error, "BecomePrimary");
  if (is_primary || _is_view) return fail_with("P5.10", "a second BecomePrimary");
  is_primary = true;
  failure error;
  if (!_app->run_hook(true, error)) return end_with(4, 1, "Becoming primary failed: " + error.type + ": " + error.message);
  out.frame(frame_type::primary_ready, [&](writer& to) { to.u64(lsn); });
  for (const kept_message& one : _kept) {
    if (one.decision > _decisions_met) say_set_aside(one, true);
  }
  for (auto& [number, task] : _tasks) start_task(number, task);
  return true;
}

void session::processed(std::uint64_t lsn) {
  out.frame(frame_type::processed, [&](writer& to) { to.u64(lsn); });
  _reported = std::max(_reported, lsn);
}

void session::run_dry() {
  if (!_has_ended && _executed > _reported) processed(_executed);
  out.close();
}

// ---- Delivery ----

bool session::deliver(byte_span payload) {
  reader in(payload, "P5.4");
  deliver_frame frame;
  if (!read_deliver(in, frame)) return fail_with(in.error, "Deliver");
  if (frame.lsn < _executed) return fail_with("P5.4", "records that were delivered before");
  _executed = frame.lsn;
  _frame_time = frame.time;
  std::uint64_t mark = frame.mark;
  reader records(frame.records);
  for (;;) {
    if (mark != 0 && (mark <= _executed || records.left() == 0)) processed(std::exchange(mark, 0));
    if (records.left() == 0) break;
    record_view record;
    if (const char* broken = read_record(records, _executed, record)) {
      std::string kind = records.left() >= 5 || broken[0] == 'L' ? " of the record at Lsn " + std::to_string(_executed) : "";
      return fail_with(broken, "a record" + kind);
    }
    now = std::max(now, frame.time);
    advance();
    out.lsn = record.lsn;
    executing_index.store(0, std::memory_order_relaxed);
    executing_lsn.store(record.lsn, std::memory_order_relaxed);
    if (!execute(record)) return false;
    _executed = record.end;
    // An image stands in place of the report of its position (P5.7).
    record_boundary();
    bool is_marked = mark != 0 && mark <= _executed;
    if (is_marked && _reported < mark) processed(mark);
    if (is_marked) mark = 0;
    // At least once for each MiB delivered (P5.6).
    if (_executed - _reported >= 1 << 19) processed(_executed);
  }
  out.lsn = 0;
  executing_lsn.store(0, std::memory_order_relaxed);
  return true;
}

// In time for keys at most an hour passes from one record to the next (P10.8).
void session::advance() {
  if (_record_time != 0) _key_time += std::clamp<std::int64_t>(now - _record_time, 0, hour_us);
  _record_time = now;
  _window.trim(_key_time);
}

void session::record_boundary() {
  _window.trim(_key_time);
  if (_duty.empty() || !_has_started) return;
  duty& of = _duty.front();
  if (suspended == 0 || (of.latest != 0 && _executed >= of.latest)) return send_image();
  if (_frame_time - of.time <= patience_us) return;
  std::string why = std::to_string(suspended) + " flows wait; the oldest is of method 0x" + method_text(first_flow->method);
  out.frame(frame_type::waiting, [&](writer& to) { to.u64(of.mark), to.string(why); });
  _duty.clear();
}

void session::send_image() {
  _duty.clear();
  writer image;
  write_image(image);
  out.frame(frame_type::image_begin, [&](writer& to) { to.u64(_executed), to.u32(1); });
  _reported = std::max(_reported, _executed);
  for (std::size_t at = 0; at < image.size(); at += 1'048'576) {
    byte_span rest = image.view(at);
    out.frame(frame_type::image_chunk, [&](writer& to) { to.raw(rest.first(std::min<std::size_t>(rest.size(), 1'048'576))); });
  }
  out.frame(frame_type::image_end, [&](writer& to) { to.u64(image.size()), to.u64(crc64(image.view())); });
}

bool session::execute(const record_view& record) {
  bool needs_state = record.kind != record_kind::first_start && record.kind != record_kind::peer && record.kind != record_kind::policy &&
                     record.kind != record_kind::trim && record.kind != record_kind::digest && record.kind != record_kind::build &&
                     record.kind != record_kind::state_hash && record.kind != record_kind::checkpoint_mark && record.kind != record_kind::upgrade;
  if (needs_state && !_has_started) return fail_with("P5.4", "a record before the first start or an image");
  switch (record.kind) {
    case record_kind::run:
    case record_kind::impulse_run: return execute_run(record);
    case record_kind::first_start: return first_start(record.body);
    case record_kind::peer: return add_peer(record.body);
    case record_kind::checkpoint_mark: return take_mark(record);
    case record_kind::nondet_result: return take_nondet(record.body);
    case record_kind::timer_fired: return take_timer(record);
    case record_kind::client_request: return take_request(record);
    case record_kind::policy: return take_policy(record.body);
    case record_kind::quarantine: return take_quarantine(record.body);
    case record_kind::forget: return forget(record);
    case record_kind::upgrade: {
      reader in(record.body);
      upgrade_record upgrade;
      if (!read_upgrade(in, upgrade)) return fail_with(in.error, "an Upgrade record");
      return upgrade.to == _app->version() || fail_with("P5.25", "an upgrade to another version than the app's");
    }
    default: return true;  // Trim, Digest, Build and StateHash are none of an app's business
  }
}

bool session::first_start(byte_span body) {
  reader in(body);
  first_start_record start;
  if (!read_first_start(in, start)) return fail_with(in.error, "a FirstStart record");
  if (_has_started) return fail_with("P5.4", "a second first start");
  _has_started = true;
  uuid = start.uuid;
  random_state = detail::load64(uuid.value.data()) ^ detail::load64(uuid.value.data() + 8);
  failure error;
  if (_app->run_hook(false, error)) return true;
  return end_with(4, 1, "The first start failed: " + error.type + ": " + error.message);
}

bool session::add_peer(byte_span body) {
  reader in(body);
  peer_record peer;
  if (!read_peer(in, peer)) return fail_with(in.error, "a Peer record");
  if (peer.origin > _origins.size()) return fail_with("L5.4", "an origin that is not the next");
  if (peer.origin == _origins.size()) _origins.emplace_back();
  origin& of = _origins[peer.origin];
  if (of.is_known) return true;
  of = {{peer.shard, std::string(peer.name)}, true, out.destination(peer.shard, peer.name)};
  return true;
}

bool session::forget(const record_view& record) {
  reader in(record.body);
  forget_record which;
  if (!read_forget(in, which)) return fail_with(in.error, "a Forget record");
  if (find_origin(which.origin) == nullptr) return fail_with("L5.14", "a Forget of an origin that is not known");
  processed(record.end);
  origin old = std::exchange(_origins[which.origin], {});
  for (flow_core* flow = first_flow; flow != nullptr; flow = flow->behind) {
    if (flow->answers.who == reply_to::kind::peer && flow->answers.origin == which.origin) flow->answers.who = reply_to::kind::nobody;
  }
  set_message(nullptr, 0, run_kind::failure, nullptr, 0, {});
  writer what;
  write_failure(what, {"Ambrosia.PeerForgotten", "An operator has given up " + old.place.name + " (" + guid_text(which.uuid) +
                                                     "): its answer will not come, and whether the call took effect there is unknown."});
  for (const call_table::row& call : calls.sorted()) {
    call_table::row* still = calls.find(call.id);
    if (call.destination != old.destination || still == nullptr) continue;
    calls.remove(still);
    call.flow->complete(call.leaf, true, what.view());
    if (_has_ended) return false;
  }
  return true;
}

bool session::take_mark(const record_view& record) {
  reader in(record.body);
  checkpoint_mark mark;
  if (!read_mark(in, mark)) return fail_with(in.error, "a CheckpointMark record");
  if (_is_view || mark.epoch < _epoch || (is_primary && mark.replica != _replica)) return true;
  std::uint64_t latest = mark.bound == 0 ? 0 : record.lsn + mark.bound;
  // The newer mark takes the place of the one before it, but the earlier of their ends counts (P5.8).
  if (!_duty.empty() && _duty.front().latest != 0) latest = latest == 0 ? _duty.front().latest : std::min(latest, _duty.front().latest);
  _duty.assign(1, {record.lsn, latest, _frame_time});
  return true;
}

bool session::take_policy(byte_span body) {
  reader in(body);
  policy_record policy;
  if (!read_policy(in, policy)) return fail_with(in.error, "a Policy record");
  _fork_policy = policy.forks;
  out.limit = policy.message_bytes_most;
  _window.set_limits(policy);
  return true;
}

// ---- Messages ----

bool session::execute_run(const record_view& record) {
  run_view run;
  if (const char* broken = read_run(record.body, UINT64_MAX, run)) return fail_with(broken, "a run at Lsn " + std::to_string(record.lsn));
  bool is_impulse = record.kind == record_kind::impulse_run;
  if (is_impulse != (run.kind == run_kind::impulse) || run.kind > run_kind::impulse) return fail_with(is_impulse ? "L5.3" : "L5.2", "a run of another kind");
  if (find_origin(run.peer) == nullptr) return fail_with("L5.4", "a run of an origin that no Peer record has named");
  reader at(run.messages);
  message_view message;
  for (std::uint32_t index = 0; index < run.count; index++) {
    next_message(run, at, message);
    executing_index.store(index, std::memory_order_relaxed);
    if (!execute_message(record, run, message, index)) return false;
  }
  return true;
}

void session::set_message(const record_view* record, std::uint32_t index, run_kind kind, const place_name* caller, std::uint32_t method,
                          byte_span arguments) {
  _message.can_be_kept = record != nullptr;
  _message.was_kept = _message.has_failed = false;
  _message.lsn = record != nullptr ? record->lsn : 0;
  _message.index = index;
  _message.kind = kind;
  _message.caller = caller;
  _message.method = method;
  _message.tries = 0;
  _message.arguments = arguments;
}

bool session::execute_message(const record_view& record, const run_view& run, const message_view& message, std::uint32_t index) {
  bool is_call = run.kind == run_kind::call;
  bool is_answer = run.kind == run_kind::result || run.kind == run_kind::failure;
  set_message(is_call || is_answer ? nullptr : &record, index, run.kind, &_origins[run.peer].place, message.method, message.arguments);
  if (is_answer) {
    complete_call(run.peer, message.call, run.kind == run_kind::failure, message.arguments);
    return !_has_ended;
  }
  reply_to answers;
  if (is_call) answers = {reply_to::kind::peer, message.method, run.peer, message.call, 0, 0};
  if (run.keyed) return keyed(message.method, message.key, message.arguments, answers);
  return handle(message.method, message.arguments, answers, -1);
}

void session::complete_call(std::uint32_t from, std::uint64_t call, bool is_failure, byte_span value) {
  call_table::row* awaited = calls.find(call);
  if (awaited == nullptr || awaited->destination != _origins[from].destination) return;  // P3.9
  call_table::row of = *awaited;
  calls.remove(awaited);
  of.flow->complete(of.leaf, is_failure, value);
}

bool session::take_request(const record_view& record) {
  reader in(record.body);
  client_request request;
  if (!read_request(in, request)) return fail_with(in.error, "a ClientRequest record");
  set_message(&record, 0, run_kind::impulse, &self, request.parts.method, request.parts.arguments);
  reply_to answers;
  if (request.request != 0) {
    answers = {reply_to::kind::outside, request.parts.method, 0, request.request, 0, 0};
    for (std::size_t i = 0; i < 8; i++) {
      answers.epoch = answers.epoch << 8 | request.session.value[i];
      answers.session = answers.session << 8 | request.session.value[8 + i];
    }
  }
  if (request.keyed) return keyed(request.parts.method, request.parts.key, request.parts.arguments, answers);
  return handle(request.parts.method, request.parts.arguments, answers, -1);
}

bool session::keyed(std::uint32_t method, byte_span key, byte_span arguments, const reply_to& answers) {
  std::int64_t place = -1;
  const request_window::row* found = nullptr;
  switch (_window.judge(method, key, arguments, answers, place, found)) {
    case request_window::verdict::execute: return handle(method, arguments, answers, place);
    case request_window::verdict::answered: answer(answers, found->is_failure, found->answer, {}); break;
    case request_window::verdict::reused: {
      writer what;
      write_failure(what, failures::key_reused());
      answer(answers, true, what.view(), {});
      break;
    }
    case request_window::verdict::wait: break;
  }
  return true;
}

bool session::handle(std::uint32_t method, byte_span arguments, const reply_to& answers, std::int64_t window_row) {
  // Handlers do not nest, so one `incoming` serves all: making one costs more than many handlers.
  incoming& in = _in;
  _result.clear();
  in.method = method;
  in.arguments = arguments;
  in.answers = answers;
  in.window_row = window_row;
  in.wants_result = answers.who != reply_to::kind::nobody || window_row >= 0;
  in.what = incoming::fate::no_method;
  if (!in.defaults.empty()) in.defaults.clear();
  _app->dispatch(in);
  if (refused != nullptr) in.fail(std::move(*std::exchange(refused, nullptr)));
  if (in.what == incoming::fate::done && !in.wants_result) return true;
  if (in.what == incoming::fate::no_method) in.fail(failures::no_method(method));
  std::optional<failure> error = std::exchange(in.error, std::nullopt);
  if (in.what != incoming::fate::flow) handled(answers, window_row, error ? &*error : nullptr, _result.view());
  return !_has_ended;
}

void session::handled(const reply_to& answers, std::int64_t window_row, const failure* error, byte_span value) {
  writer what;
  if (error != nullptr) write_failure(what, *error);
  byte_span given = error != nullptr ? what.view() : value;
  std::string_view words = error != nullptr ? std::string_view(error->words) : std::string_view();
  std::vector<reply_to> others;
  if (window_row >= 0) others = _window.answer(window_row, error != nullptr, given);
  if (answers.who != reply_to::kind::nobody) answer(answers, error != nullptr, given, words);
  for (const reply_to& one : others) answer(one, error != nullptr, given, {});
  if (error != nullptr && answers.who == reply_to::kind::nobody) refuse_fork(*error);
}

void session::answer(const reply_to& to, bool is_failure, byte_span value, std::string_view words) {
  auto send = [&](bool failed, byte_span data, std::string_view beside) {
    if (to.who == reply_to::kind::outside) {
      out.begin_answer(failed, to.epoch, to.session, to.method, to.call);
    } else if (failed) {
      out.begin_failure(_origins[to.origin].destination, to.method, to.call, beside);
    } else {
      out.begin(_origins[to.origin].destination, run_kind::result, to.method, to.call);
    }
    out.bytes_out().raw(data);
    return out.end();
  };
  if (to.who == reply_to::kind::nobody || (to.who == reply_to::kind::peer && find_origin(to.origin) == nullptr)) return;
  if (send(is_failure, value, words)) return;
  writer what;
  write_failure(what, failures::too_long(out.limit));
  send(true, what.view(), {});
}

// ---- Flows ----

void session::flow_suspended(flow_core& flow) {
  suspended++;
  // Under another policy a flow that waits has no message to keep (L5.12).
  bool is_held = _fork_policy == 2 && _message.can_be_kept && flow.answers.who == reply_to::kind::nobody;
  if (is_held) _held[&flow] = {_message.lsn, _message.index, _message.kind, *_message.caller, _message.tries};
  // What waits once has waited often: the count of the last method is at hand.
  if (_last_suspended == nullptr || _last_suspended->first != flow.method) _last_suspended = &*_suspensions.try_emplace(flow.method, 0).first;
  // Development check: at the 1st, 2nd, 4th … suspension of each method the flow is executed again beside itself, from its journal.
  std::uint64_t times = ++_last_suspended->second;
  if ((times & (times - 1)) == 0) check_flow(flow);
}

void session::flow_ended(flow_core& flow) {
  flow.abandon();
  if (flow.is_suspended) suspended--;
  if (flow.goes_on && !flow.is_failed && restart(flow)) return;
  reply_to answers = flow.answers;
  std::int64_t row = flow.window_row;
  if (!flow.is_failed && flow.result.bad) {
    flow.is_failed = true;
    flow.error = failures::bad_result(flow.method, true);
  }
  if (!flow.is_failed && answers.who == reply_to::kind::nobody && row < 0) {
    if (!_held.empty()) _held.erase(&flow);
    return remove_flow(flow);
  }
  held_message held;
  if (flow.is_suspended) resume_message(flow, held);
  handled(answers, row, flow.is_failed ? &flow.error : nullptr, flow.result.view());
  if (flow.is_suspended) set_message(nullptr, 0, run_kind::fork, &self, 0, {});
  remove_flow(flow);
}

// The message that is being handled is that of a flow which had waited, if it was held.
void session::resume_message(const flow_core& flow, held_message& held) {
  auto found = _held.find(&flow);
  record_view record;
  if (found != _held.end()) held = std::move(found->second), _held.erase(found), record.lsn = held.lsn;
  set_message(held.lsn != 0 ? &record : nullptr, held.index, held.kind, &held.caller, flow.method, flow.arguments);
  _message.tries = held.tries;
}

// `again`: the same method with other arguments, for the same caller, from the beginning.
bool session::restart(flow_core& flow) {
  bytes arguments = flow.result.take();
  incoming in(*this, flow.method, arguments);
  in.app = _app.get();
  in.answers = flow.answers;
  in.window_row = flow.window_row;
  held_message held;
  if (flow.is_suspended) resume_message(flow, held);
  remove_flow(flow);
  // What would be kept and tried again are the arguments with which it goes on.
  _message.arguments = in.arguments;
  in.result = &_result;
  _app->dispatch(in);
  if (in.what != incoming::fate::flow) handled(in.answers, in.window_row, &*in.error, {});
  set_message(nullptr, 0, run_kind::fork, &self, 0, {});
  return true;
}

void session::check_flow(flow_core& flow) {
  writer image;
  flow.write_image(image, nullptr);
  cbor_reader in(image.view());
  flow_image of;
  std::string why;
  if (!read_flow(in, of)) return;
  if (restore_flow(of, true, why)) return;
  end_with(4, 1, "A flow of method 0x" + method_text(flow.method) + " does something else when it is executed again (" + why +
                     "): it looks at what at.step, at.now and the calls did not tell it.");
}

// ---- Fork policies and quarantine (L5.12, L5.13) ----

void session::refuse_fork(const failure& error) {
  _failed_forks++;
  _message.has_failed = true;
  std::uint8_t policy = _fork_policy;
  std::uint64_t at = out.lsn;
  for (;;) {
    if (policy == 0) return;
    if (policy == 2 && (!_message.can_be_kept || set_aside(error))) return;
    // Where the app would have to stop, a policy that follows in the log governs the failure instead.
    auto next = std::find_if(_ahead.begin(), _ahead.end(), [&](const policy_change& one) { return one.lsn > at; });
    if (next == _ahead.end()) break;
    at = next->lsn;
    policy = next->forks;
  }
  end_with(4, 1, "Method 0x" + method_text(_message.method) + " failed: " + error.type + ": " + error.message);
}

bool session::set_aside(const failure& error) {
  bool has_room = _kept.empty() || (_kept.size() < kept_most && _kept_bytes + _message.arguments.size() <= kept_bytes_most);
  if (!has_room) return false;
  kept_message kept{_message.lsn, _message.index, _message.kind, *_message.caller, _message.method, to_bytes(_message.arguments), _message.tries + 1, now,
                    std::string(shortened(error.type + ": " + error.message)), ++_decisions};
  _kept_bytes += kept.arguments.size();
  _message.was_kept = true;
  say_set_aside(kept, is_primary);
  _unmet.emplace_back(kept.lsn, kept.index);
  _kept.push_back(std::move(kept));
  return true;
}

void session::say_set_aside(const kept_message& kept, bool is_unlogged) {
  out.frame(frame_type::set_aside, [&](writer& to) {
    to.u64(kept.decision), to.u64(kept.lsn), to.u32(kept.index), to.u8(is_unlogged ? 1 : 0), to.i64(kept.time);
    to.u16(kept.caller.shard), to.string(kept.caller.name), to.u8(static_cast<std::uint8_t>(kept.kind)), to.u32(kept.method), to.u32(kept.tries);
    to.u64(kept.arguments.size()), to.string(kept.why);
  });
}

bool session::take_quarantine(byte_span body) {
  reader in(body);
  quarantine_record record;
  if (!read_quarantine(in, record)) return fail_with(in.error, "a Quarantine record");
  if (record.action == 0) {
    if (_unmet.empty() || _unmet.front() != std::pair(record.lsn, record.index)) {
      return diverged("The log sets aside the message " + std::to_string(record.lsn) + ":" + std::to_string(record.index) + ", and this app has not.");
    }
    _unmet.pop_front();
    _decisions_met++;
    return true;
  }
  auto kept = std::find_if(_kept.begin(), _kept.end(), [&](const kept_message& one) { return one.lsn == record.lsn && one.index == record.index; });
  if (kept == _kept.end()) return true;
  kept_message message = std::move(*kept);
  _kept.erase(kept);
  _kept_bytes -= message.arguments.size();
  if (record.action == 1 && !retry(message)) return false;
  if (!_message.was_kept || record.action == 2) out.frame(frame_type::released, [&](writer& to) { to.u64(record.lsn), to.u32(record.index); });
  return true;
}

bool session::retry(kept_message message) {
  record_view record;
  record.lsn = message.lsn;
  set_message(&record, message.index, message.kind, &message.caller, message.method, message.arguments);
  _message.tries = message.tries;
  return handle(message.method, message.arguments, {}, -1);
}

// ---- Timers, tasks, queries ----

std::uint64_t session::begin_timer(flow_core& flow, std::uint32_t leaf, std::int64_t due) {
  std::uint64_t number = next_timer++;
  _timers[number] = {due, &flow, leaf, 0, 0, {}};
  out.frame(frame_type::timer_set, [&](writer& to) { to.u64(number), to.i64(due); });
  return number;
}

std::uint64_t session::set_timer(std::uint32_t method, std::int64_t in_us, std::int64_t period_us, byte_span arguments) {
  if (_timers.size() >= timers_most) return 0;
  std::uint64_t number = next_timer++;
  std::int64_t due = now + std::max<std::int64_t>(in_us, 0);
  _timers[number] = {due, nullptr, 0, method, std::max<std::int64_t>(period_us, 0), to_bytes(arguments)};
  out.frame(frame_type::timer_set, [&](writer& to) { to.u64(number), to.i64(due); });
  return number;
}

void session::drop_timer(std::uint64_t timer) {
  if (_timers.erase(timer) != 0) out.frame(frame_type::timer_dropped, [&](writer& to) { to.u64(timer); });
}

bool session::take_timer(const record_view& record) {
  reader in(record.body);
  timer_fired fired;
  if (!read_timer(in, fired)) return fail_with(in.error, "a TimerFired record");
  if (fired.timer == 0 || fired.timer >= next_timer) return diverged("The log fires timer " + std::to_string(fired.timer) + ", which this app has not set.");
  now = std::max(now, fired.due);
  advance();
  auto waiting = _timers.find(fired.timer);
  if (waiting == _timers.end() || waiting->second.due != fired.due) return true;
  timer_row timer = waiting->second;
  set_message(nullptr, 0, run_kind::fork, &self, timer.method, {});
  drop_timer(fired.timer);
  if (timer.flow == nullptr && timer.period > 0) {
    // The next time on its grid that is still to come: a process that was down for long does not make up for each.
    timer.due += timer.period * (std::max<std::int64_t>(now - timer.due, 0) / timer.period + 1);
    _timers[fired.timer] = timer;
    out.frame(frame_type::timer_set, [&](writer& to) { to.u64(fired.timer), to.i64(timer.due); });
  }
  if (timer.flow == nullptr) return handle(timer.method, timer.arguments, {}, -1);
  timer.flow->complete(timer.leaf, false, {});
  return !_has_ended;
}

std::uint64_t session::begin_task(flow_core& flow, std::uint32_t leaf, std::string_view body, byte_span arguments, task_pool::work work) {
  std::uint64_t number = next_task++;
  task_row& task = _tasks[number];
  task = {now, std::string(body), to_bytes(arguments), &flow, leaf, std::move(work), false};
  start_task(number, task);
  return number;
}

void session::know_task(std::uint64_t number, task_pool::work work) {
  auto task = _tasks.find(number);
  if (task != _tasks.end()) task->second.work = std::move(work);
}

void session::start_task(std::uint64_t number, task_row& task) {
  if (!is_primary || task.is_running || !task.work) return;
  task.is_running = true;
  _pool.run(number, task.work, _wake);
}

void session::drop_task(std::uint64_t task) { _tasks.erase(task); }

void session::drain_tasks() {
  task_pool::given given;
  while (_pool.take(given)) {
    if (_tasks.find(given.task) == _tasks.end() || _has_ended) continue;
    if (given.value.size() > out.limit) {
      writer what;
      write_failure(what, failures::too_long(out.limit));
      given.is_failure = true, given.value = what.take();
    }
    out.frame(frame_type::task_result, [&](writer& to) { to.u64(given.task), to.u8(given.is_failure ? 1 : 0), to.raw(given.value); });
  }
}

bool session::take_nondet(byte_span body) {
  reader in(body);
  nondet_result result;
  if (!read_nondet(in, result)) return fail_with(in.error, "a NondetResult record");
  if (result.task == 0 || result.task >= next_task) return diverged("The log has a result of task " + std::to_string(result.task) + ", which this app has not begun.");
  auto waiting = _tasks.find(result.task);
  if (waiting == _tasks.end()) return true;
  flow_core* flow = waiting->second.flow;
  std::uint32_t leaf = waiting->second.leaf;
  _tasks.erase(waiting);
  set_message(nullptr, 0, run_kind::fork, &self, 0, {});
  flow->complete(leaf, result.is_failure, result.result);
  return !_has_ended;
}

bool session::take_query(byte_span payload) {
  reader in(payload, "P5.18");
  query_frame query;
  if (!read_query(in, query)) return fail_with(in.error, "Query");
  writer result;
  incoming to(*this, query.method, query.arguments);
  to.is_query = to.wants_result = true;
  to.result = &result;
  to.app = _app.get();
  _app->dispatch(to);
  if (to.what == incoming::fate::no_method) to.fail(failures::no_method(query.method));
  if (result.size() > out.limit) to.fail(failures::too_long(out.limit));
  bool is_failure = to.what == incoming::fate::failed;
  if (is_failure) result.clear(), write_failure(result, *to.error);
  out.frame(frame_type::query_answer, [&](writer& answer) {
    answer.u64(query.query), answer.u8(is_failure ? 1 : 0), answer.u64(std::max(query.lsn, _executed)), answer.raw(result.view());
  });
  return true;
}

}  // namespace v0
}  // namespace ambrosia
