// Versions: what an app of one version does where another version takes its place, or it takes that of another (P5.25).
#include <charconv>

#include "session.h"

namespace ambrosia::inline v0 {

// An old build states the version of its successor, where its environment says so (P5.0).
std::uint32_t session::version() const {
  const char* said = std::getenv("AMBROSIA_APP_VERSION");
  std::uint32_t version = 0;
  if (said != nullptr) std::from_chars(said, said + std::strlen(said), version);
  return std::max(version, _app->version());
}

bool session::take_convert(byte_span payload) {
  constexpr std::uint8_t rehearsal = 0, image = 1, state = 3;
  reader in(payload, "P5.25");
  convert_frame convert;
  if (!read_convert(in, convert)) return fail_with(in.error, "Convert");
  if (convert.lsn < _executed && (convert.lsn != 0 || convert.use == image)) return fail_with("P5.25", "Convert at a place that is behind");
  std::uint32_t from = _converts_from != 0 ? _converts_from : version();
  bool is_own = convert.use == state ? _converts_from == 0 : _converts_from != 0 && (convert.use == rehearsal || convert.use == image);
  if (!is_own || convert.from != from || convert.to != version()) return fail_with("P5.25", "Convert between versions that this app does not execute");
  std::string why = _conversion_error;
  if (why.empty() && !_has_started) why = "There is no state yet.";
  writer written;
  if (why.empty() && convert.use == rehearsal) write_image(written);
  if (!why.empty() || convert.use != image) {
    out.frame(frame_type::converted, [&](writer& to) {
      to.u64(_executed), to.u8(convert.use), to.u64(written.size()), to.u64(written.size() != 0 ? crc64(written.view()) : 0);
      to.string(shortened(why, 2'048));
    });
  }
  if (why.empty() && convert.use != rehearsal) send_image(_executed);
  return true;
}

bool session::take_upgrade(byte_span body) {
  reader in(body);
  upgrade_record upgrade;
  if (!read_upgrade(in, upgrade)) return fail_with(in.error, "an Upgrade record");
  if (upgrade.to != version()) return _view != nullptr || fail_with("P5.25", "an upgrade to another version than the app's");
  failure error;
  if (_app->run_hook(immortal_base::hook::upgraded, error, upgrade.from)) return true;
  return end_with(4, 1, "The upgrade failed: " + error.type + ": " + error.message);
}

}  // namespace ambrosia::inline v0
