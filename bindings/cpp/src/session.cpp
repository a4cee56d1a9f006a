#include "session.h"

#include <unistd.h>

namespace ambrosia::inline v0 {

namespace {

std::string runtime_name() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
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

session::session(std::unique_ptr<immortal_base> app, std::function<void()> wake)
    : _app(std::move(app)), _wake(std::move(wake)), _origins(1), _in(*this, _result, 0, {}) {
  _app->attach(*this);
}

// ---- Beginning and end ----

void session::greet(byte_span token) {
  out.frame(frame_type::app_hello, [&](writer& to) {
    to.u16(1), to.u16(1);
    to.byte_string(token);
    to.u32(version());
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
  if (_is_converting) return _conversion_error = std::move(why), false;
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
    default:
      break;
  }
  // An app may be told where to stop, and which policies follow, before it has its state.
  bool is_told_ahead = type == frame_type::look || type == frame_type::policy_ahead;
  if (!_is_welcome || ((_stage == stage::image) != is_image && !is_told_ahead)) return fail_with("P2.4", "a frame out of its place");
  switch (type) {
    case frame_type::image_begin:
    case frame_type::image_chunk:
    case frame_type::image_end:
      return take_image(type, payload);
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
    case frame_type::look: return take_look(payload);
    case frame_type::go: return take_go(payload);
    case frame_type::convert: return take_convert(payload);
    default:
      return fail_with("P2.4", "a frame that no app is sent");
  }
}

bool session::take_goodbye(byte_span payload) {
  reader in(payload, "P5.12");
  goodbye_frame goodbye;
  if (!read_goodbye(in, goodbye)) return fail_with(in.error, "Goodbye");
  _has_ended = true;
  _end = {goodbye.code == 0 ? 0 : goodbye.code == 1 ? 2 : 74, std::string(goodbye.why), goodbye.code == 5 && (_view != nullptr || _converts_from != 0)};
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
  if (welcome.is_view) _view = std::make_unique<view>(), _view->whole_end = welcome.checkpoint;
  _converts_from = welcome.image_app_version;
  if (_converts_from >= version()) return fail_with("P5.25", "an image of a version that is not below the app's");
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
  // An image of another version is tried: Convert asks what came of it.
  _is_converting = _converts_from != 0;
  bool is_restored = restore(_image);
  _image = {};
  if (is_restored && _view != nullptr && stops_at(_executed, 0, false)) stop();
  return is_restored || std::exchange(_is_converting, false);
}

bool session::become_primary(byte_span payload) {
  reader in(payload, "P5.10");
  std::uint64_t lsn = in.lsn();
  if (!in.finish()) return fail_with(in.error, "BecomePrimary");
  if (is_primary || _view != nullptr || _converts_from != 0) return fail_with("P5.10", "a second BecomePrimary");
  is_primary = true;
  failure error;
  if (!_app->run_hook(immortal_base::hook::becoming_primary, error)) return end_with(4, 1, "Becoming primary failed: " + error.type + ": " + error.message);
  out.frame(frame_type::primary_ready, [&](writer& to) { to.u64(lsn); });
  for (const kept_message& one : _quarantine.kept()) {
    if (!_quarantine.is_met(one)) say_set_aside(one, true);
  }
  for (auto& [number, task] : _tasks) start_task(number, task);
  return true;
}

void session::processed(std::uint64_t lsn) {
  out.frame(frame_type::processed, [&](writer& to) { to.u64(lsn); });
  _reported = std::max(_reported, lsn);
  _emitted_then = out.emitted;
}

void session::run_dry() {
  bool is_in_record = _view != nullptr && _view->index != 0;
  if (!_has_ended && _executed > _reported && !is_in_record) processed(_executed);
  out.close();
}

}  // namespace ambrosia::inline v0
