// Records: what a Deliver frame holds is executed one by one (P5.4, log-format L5).
#include "session.h"

namespace ambrosia::inline v0 {

namespace {

constexpr std::int64_t patience_us = 10'000'000, hour_us = 3'600'000'000;

// Whether an app executes something in a record of this kind, so that a view may stop before it (P5.24).
bool is_executed(record_kind kind) {
  switch (kind) {
    case record_kind::peer:
    case record_kind::trim:
    case record_kind::digest:
    case record_kind::checkpoint_mark:
    case record_kind::policy:
    case record_kind::build:
    case record_kind::state_hash:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool session::deliver(byte_span payload) {
  reader in(payload, "P5.4");
  deliver_frame frame;
  if (!read_deliver(in, frame)) return fail_with(in.error, "Deliver");
  if (_view != nullptr && _view->is_stopped) return fail_with("P5.24", "records for a view that has stopped");
  if (_converts_from != 0) return fail_with("P5.25", "records for an app that converts an image");
  if (frame.lsn < _executed) return fail_with("P5.4", "records that were delivered before");
  _executed = frame.lsn;
  _frame_time = frame.time;
  return execute_records(frame.records, frame.mark);
}

bool session::execute_records(byte_span all, std::uint64_t mark) {
  reader records(all);
  // A view that stops keeps what it has not executed.
  auto hold = [&](const std::uint8_t* from) {
    _view->rest = to_bytes({from, records.end});
    _view->mark = mark;
    stop();
  };
  for (;;) {
    if (mark != 0 && (mark <= _executed || records.left() == 0)) processed(std::exchange(mark, 0));
    if (records.left() == 0) break;
    const std::uint8_t* begin = records.p;
    record_view record;
    if (const char* broken = read_record(records, _executed, record)) {
      std::string kind = records.left() >= 5 || broken[0] == 'L' ? " of the record at Lsn " + std::to_string(_executed) : "";
      return fail_with(broken, "a record" + kind);
    }
    if (_view != nullptr && stops_at(record.lsn, _view->index, is_executed(record.kind))) return hold(begin), true;
    now = std::max(now, _frame_time);
    advance();
    out.lsn = record.lsn;
    executing_index.store(0, std::memory_order_relaxed);
    executing_lsn.store(record.lsn, std::memory_order_relaxed);
    if (!execute(record)) return false;
    if (_view != nullptr) {
      if (_view->index != 0) return hold(begin), true;
      if (record.kind != record_kind::run && record.kind != record_kind::impulse_run && is_executed(record.kind)) _view->since++;
      _view->whole_end = record.end;
    }
    _executed = record.end;
    // An image stands in place of the report of its position (P5.7).
    record_boundary();
    bool is_marked = mark != 0 && mark <= _executed;
    if (is_marked && _reported < mark) processed(mark);
    if (is_marked) mark = 0;
    // At least once for each MiB delivered, and for each that is emitted (P5.6).
    if (std::max(_executed - _reported, out.emitted - _emitted_then) >= 1 << 19) processed(_executed);
  }
  out.lsn = 0;
  executing_lsn.store(0, std::memory_order_relaxed);
  if (_view != nullptr && stops_at(_executed, 0, false)) stop();
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
  if (suspended == 0 || (of.latest != 0 && _executed >= of.latest)) return send_image(_executed);
  if (_frame_time - of.time <= patience_us) return;
  std::string why = std::to_string(suspended) + " flows wait; the oldest is of method 0x" + method_text(first_flow->method);
  out.frame(frame_type::waiting, [&](writer& to) { to.u64(of.mark), to.string(why); });
  _duty.clear();
}

void session::send_image(std::uint64_t lsn) {
  _duty.clear();
  writer image;
  write_image(image);
  out.frame(frame_type::image_begin, [&](writer& to) { to.u64(lsn), to.u32(1); });
  _reported = std::max(_reported, lsn);
  for (std::size_t at = 0; at < image.size(); at += 1'048'576) {
    byte_span rest = image.view(at);
    out.frame(frame_type::image_chunk, [&](writer& to) { to.raw(rest.first(std::min<std::size_t>(rest.size(), 1'048'576))); });
  }
  out.frame(frame_type::image_end, [&](writer& to) { to.u64(image.size()), to.u64(crc64(image.view())); });
}

bool session::execute(const record_view& record) {
  bool needs_state = is_executed(record.kind) && record.kind != record_kind::first_start && record.kind != record_kind::upgrade;
  if (needs_state && !_has_started) return fail_with("P5.4", "a record before the first start or an image");
  switch (record.kind) {
    case record_kind::run:
    case record_kind::impulse_run:
      return execute_run(record);
    case record_kind::first_start:
      return first_start(record.body);
    case record_kind::peer:
      return add_peer(record.body);
    case record_kind::checkpoint_mark:
      return take_mark(record);
    case record_kind::nondet_result:
      return take_nondet(record.body);
    case record_kind::timer_fired:
      return take_timer(record);
    case record_kind::client_request:
      return take_request(record);
    case record_kind::policy:
      return take_policy(record.body);
    case record_kind::quarantine:
      return take_quarantine(record.body);
    case record_kind::forget:
      return forget(record);
    case record_kind::upgrade:
      return take_upgrade(record.body);
    default:
      return true;  // Trim, Digest, Build and StateHash are none of an app's business
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
  if (_app->run_hook(immortal_base::hook::first_start, error)) return true;
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
  set_no_message();
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
  if (_view != nullptr || mark.epoch < _epoch || (is_primary && mark.replica != _replica)) return true;
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

}  // namespace ambrosia::inline v0
