// What becomes of a message that fails and that nobody awaits (log-format L5.12, L5.13).
#include "session.h"

#include <algorithm>

namespace ambrosia::inline v0 {

void session::refuse_fork(const outcome& of) {
  std::uint8_t policy = _fork_policy;
  std::uint64_t at = out.lsn;
  for (;;) {
    if (policy == 0) return;
    if (policy == 2 && (!_message.can_be_kept || set_aside(of))) return;
    // Where the app would have to stop, a policy that follows in the log governs the failure instead.
    auto next = std::find_if(_ahead.begin(), _ahead.end(), [&](const policy_change& one) { return one.lsn > at; });
    if (next == _ahead.end()) break;
    at = next->lsn;
    policy = next->forks;
  }
  end_with(4, 1, "Method 0x" + method_text(of.method) + " failed: " + of.error->type + ": " + of.error->message);
}

bool session::set_aside(const outcome& of) {
  if (!_quarantine.has_room_for(of.arguments.size())) return false;
  kept_message kept;
  static_cast<held_message&>(kept) = {_message.lsn, _message.index, _message.kind, *_message.caller, _message.tries + 1};
  kept.method = of.method;
  kept.arguments = to_bytes(of.arguments);
  kept.time = now;
  kept.why = shortened(of.error->type + ": " + of.error->message);
  _message.was_kept = true;
  say_set_aside(_quarantine.keep(std::move(kept)), is_primary);
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
    return _quarantine.meet(record.lsn, record.index) ||
           diverged("The log sets aside the message " + std::to_string(record.lsn) + ":" + std::to_string(record.index) + ", and this app has not.");
  }
  kept_message message;
  if (!_quarantine.release(record.lsn, record.index, message)) return true;
  if (record.action == 1 && !retry(message)) return false;
  if (!_message.was_kept || record.action == 2) out.frame(frame_type::released, [&](writer& to) { to.u64(record.lsn), to.u32(record.index); });
  return true;
}

bool session::retry(const kept_message& message) {
  set_message(message.lsn, message.index, message.kind, message.caller, true, message.tries);
  _in.answers = {};
  return handle(message.method, message.arguments);
}

}  // namespace ambrosia
