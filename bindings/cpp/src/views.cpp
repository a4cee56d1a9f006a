// Views: an app that executes the past for somebody who looks at it, and stops where he says (P5.24).
#include "session.h"

namespace ambrosia::inline v0 {

namespace {

constexpr std::uint8_t wants_image = 1, wants_debugger = 2, wants_next = 4;
constexpr std::uint8_t has_stopped = 0, developer_goes_on = 1;  // the reasons of Seen

}  // namespace

// Whether the place before this record, or before this message in it, is the one where the view stops.
bool session::stops_at(std::uint64_t lsn, std::uint32_t index, bool is_executed) const {
  const look_frame& look = _view->look;
  if (!_view->is_looking) return false;
  if ((look.flags & wants_next) != 0) return is_executed && _view->since != 0;
  return lsn > look.lsn || (lsn == look.lsn && index >= look.index);
}

void session::stop() {
  _view->is_looking = false;
  _view->is_stopped = true;
  executing_lsn.store(0, std::memory_order_relaxed);  // nothing takes long where nothing is executed
  _view->wants_break = (_view->look.flags & wants_debugger) != 0;
  say_seen(has_stopped);
  if ((_view->look.flags & wants_image) == 0) return;
  if (_has_started) return send_image(_view->whole_end);
  out.frame(frame_type::waiting, [&](writer& to) { to.u64(_executed), to.string("There is no state yet."); });
}

bool session::take_look(byte_span payload) {
  reader in(payload, "P5.24");
  look_frame look;
  if (_view == nullptr || !read_look(in, look)) return fail_with(in.ok() ? "P2.4" : in.error, "Look");
  _view->look = look;
  _view->is_looking = true;
  _view->since = 0;
  if (_stage != stage::image && stops_at(_executed, _view->index, false)) stop();
  return true;
}

bool session::take_go(byte_span payload) {
  if (_view == nullptr || !payload.empty()) return fail_with(_view == nullptr ? "P2.4" : "P2.6", "Go");
  if (!_view->is_stopped) return fail_with("P5.24", "Go to a view that has not stopped");
  _view->is_stopped = false;
  bytes rest = std::exchange(_view->rest, {});
  return rest.empty() || execute_records(rest, std::exchange(_view->mark, 0));
}

void session::say_goes_on() { say_seen(developer_goes_on); }

void session::say_seen(std::uint8_t reason) {
  // Nothing is measured here, so there are no rows.
  out.frame(frame_type::seen, [&](writer& to) { to.u64(_executed), to.u32(_view->index), to.u8(reason), to.varint(0); });
}

}  // namespace ambrosia::inline v0
