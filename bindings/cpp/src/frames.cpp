#include "frames.h"

namespace ambrosia::inline v0 {

guid read_guid(reader& in) {
  guid id;
  byte_span data = in.take(16);
  if (in.ok()) std::copy(data.begin(), data.end(), id.value.begin());
  return id;
}

std::string guid_text(const guid& id) {
  std::string text;
  for (std::size_t i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += "0123456789abcdef"[id.value[i] >> 4];
    text += "0123456789abcdef"[id.value[i] & 15];
  }
  return text;
}

namespace {

// The fields of a payload or body, in their order; those of a form of their own stand in a wrapper.
struct lsn {
  std::uint64_t& to;
};
struct name {
  std::string_view& to;
};
void take(reader& in, std::uint8_t& to) { to = in.u8(); }
void take(reader& in, std::uint16_t& to) { to = in.u16(); }
void take(reader& in, std::uint32_t& to) { to = in.u32(); }
void take(reader& in, std::uint64_t& to) { to = in.u64(); }
void take(reader& in, std::int64_t& to) { to = in.i64(); }
void take(reader& in, bool& to) { to = in.flag(); }
void take(reader& in, guid& to) { to = read_guid(in); }
void take(reader& in, lsn of) { of.to = in.lsn(); }
void take(reader& in, name of) { of.to = in.name(); }
void take(reader& in, byte_span& to) { to = in.rest(); }
template <class... Field>
reader& take_all(reader& in, Field&&... fields) {
  return (take(in, fields), ...), in;
}

// A body that is wrong in any way is damage of the record (L5.10).
bool finish_record(reader& in, bool is_right = true) {
  if (in.p != in.end || !is_right || !in.ok()) in.error = "L5.10";
  return in.ok();
}

}  // namespace

std::vector<hello_option> read_options(reader& in) {
  std::vector<hello_option> options;
  std::uint64_t count = in.varint();
  if (in.ok() && count > 16) in.fail("P2.7");
  std::size_t all = 0;
  for (; in.ok() && count != 0; count--) {
    std::uint64_t type = in.varint();
    byte_span value = in.byte_string(256);
    all += value.size();
    if (in.ok() && (all > 1'024 || (!options.empty() && type <= options.back().type))) in.fail("P2.7");
    options.push_back({type, value});
  }
  return options;
}

bool read_welcome(reader& in, app_welcome& welcome) {
  take_all(in, welcome.version, name{welcome.instance}, welcome.shard, name{welcome.replica}, welcome.uuid, welcome.epoch, welcome.session,
           welcome.message_bytes_most);
  if (in.ok() && (welcome.message_bytes_most == 0 || welcome.message_bytes_most > 1u << 30)) in.fail("P2.3");
  take_all(in, lsn{welcome.checkpoint}, welcome.has_image);
  welcome.options = read_options(in);
  for (const hello_option& option : welcome.options) {
    if (!in.ok()) break;
    if (option.type == 1 && (option.value.size() != 1 || option.value[0] > 1)) in.fail("P5.24");
    if (option.type == 1 && in.ok()) welcome.is_view = option.value[0] == 1;
    if (option.type == 2 && (option.value.size() != 4 || reader(option.value).u32() == 0)) in.fail("P5.25");
    // The image is another version's, for the app to convert.
    if (option.type == 3 && (option.value.size() != 4 || reader(option.value).u32() == 0 || !welcome.has_image)) in.fail("P5.25");
    if (option.type == 3 && in.ok()) welcome.image_app_version = reader(option.value).u32();
  }
  return in.finish();
}

bool read_image_begin(reader& in, image_begin& begin) {
  return take_all(in, lsn{begin.lsn}, begin.version).finish();
}

bool read_image_end(reader& in, image_end& end) {
  return take_all(in, end.length, end.hash).finish();
}

bool read_impulse_logged(reader& in, impulse_logged& logged) {
  return take_all(in, logged.destination, logged.ticket).finish();
}

bool read_policy_ahead(reader& in, std::vector<policy_change>& changes) {
  std::uint64_t count = in.varint();
  if (in.ok() && (count > 1'024 || count > in.left() / 9)) in.fail("P5.17");
  for (; in.ok() && count != 0; count--) {
    policy_change change{in.lsn(), in.u8()};
    if (in.ok() && (change.forks > 2 || (!changes.empty() && change.lsn <= changes.back().lsn))) in.fail("P5.17");
    changes.push_back(change);
  }
  return in.finish();
}

bool read_query(reader& in, query_frame& query, std::uint64_t message_most) {
  take_all(in, query.query, lsn{query.lsn}, query.patience_ms, query.method, query.arguments);
  if (in.ok() && (query.query == 0 || query.method == 0 || query.arguments.size() > message_most)) in.fail("P5.18");
  return in.ok();
}

bool read_rings(reader& in, rings_frame& rings) {
  rings.capacity = in.u32();
  rings.path = in.string(1'024);
  bool is_power = (rings.capacity & (rings.capacity - 1)) == 0;
  if (in.ok() && (!is_power || rings.capacity < 1u << 16 || rings.capacity > 1u << 26)) in.fail("P5.19");
  return in.finish();
}

bool read_goodbye(reader& in, goodbye_frame& goodbye) {
  goodbye.code = in.u8();
  if (in.ok() && goodbye.code > 5) in.fail("P5.12");
  goodbye.why = in.string(1'024);
  return in.finish();
}

bool read_look(reader& in, look_frame& look) {
  take_all(in, lsn{look.lsn}, look.index, look.flags);
  if (in.ok() && look.flags > 15) in.fail("P1.6");
  if (in.ok() && (look.flags & 4) != 0 && (look.lsn != 0 || look.index != 0)) in.fail("P5.24");
  return in.finish();
}

bool read_convert(reader& in, convert_frame& convert) {
  take_all(in, lsn{convert.lsn}, convert.from, convert.to, convert.use);
  bool is_ascending = convert.use == 3 ? convert.to == convert.from : convert.to > convert.from;
  if (in.ok() && (convert.from == 0 || !is_ascending || convert.use > 3)) in.fail("P5.25");
  return in.finish();
}

bool read_deliver(reader& in, deliver_frame& deliver) {
  return take_all(in, lsn{deliver.lsn}, deliver.time, lsn{deliver.mark}, deliver.records).ok();
}

// ---- Records ----

const char* read_record(reader& in, std::uint64_t lsn, record_view& record) {
  if (in.left() < record_header_bytes) return "L5.10";
  std::uint32_t length = in.u32();
  std::uint8_t kind = in.u8(), flags = in.u8();
  std::uint16_t reserved = in.u16();
  // Kind 16 is reserved, and nobody writes it yet (L5.15).
  if (kind == 0 || kind == 16 || kind > 17 || flags != 0 || reserved != 0) return "L5.1";
  if (length > in.left()) return "L5.10";
  record = {lsn, lsn + record_header_bytes + length, static_cast<record_kind>(kind), in.take(length)};
  return nullptr;
}

bool read_peer(reader& in, peer_record& peer) {
  take_all(in, peer.origin, peer.shard, peer.uuid, peer.epoch, name{peer.name});
  return finish_record(in, peer.origin != 0);
}

bool read_forget(reader& in, forget_record& forget) {
  take_all(in, forget.origin, forget.uuid);
  return finish_record(in, forget.origin != 0);
}

bool read_first_start(reader& in, first_start_record& start) {
  take_all(in, start.uuid, start.created, start.app_version, name{start.name});
  return finish_record(in, start.app_version != 0);
}

bool read_mark(reader& in, checkpoint_mark& mark) {
  return finish_record(take_all(in, mark.epoch, mark.bound, name{mark.replica}));
}

bool read_nondet(reader& in, nondet_result& result) {
  return finish_record(take_all(in, result.task, result.is_failure, result.result));
}

bool read_timer(reader& in, timer_fired& fired) {
  return finish_record(take_all(in, fired.timer, fired.due));
}

bool read_request(reader& in, client_request& request) {
  take_all(in, request.session, request.request, request.keyed, request.message);
  if (in.ok()) {
    run_view run;
    run.kind = run_kind::request;
    run.keyed = request.keyed;
    reader message(request.message);
    if (read_message(run, message, UINT64_MAX, request.parts) != nullptr || message.left() != 0) in.fail("L5.10");
  }
  return finish_record(in);
}

bool read_policy(reader& in, policy_record& policy) {
  take_all(in, policy.forks, policy.window_us, policy.entries_most, policy.bytes_most);
  bool states_limit = in.left() != 0;
  if (states_limit) policy.message_bytes_most = in.u32();
  // The usual limit is left out (L5.9).
  bool is_wrong = policy.forks > 2 || policy.message_bytes_most == 0 || policy.message_bytes_most > 1u << 30;
  return finish_record(in, !is_wrong && !(states_limit && policy.message_bytes_most == 64 << 20));
}

bool read_quarantine(reader& in, quarantine_record& record) {
  take_all(in, lsn{record.lsn}, record.index, record.action);
  return finish_record(in, record.action <= 2);
}

bool read_upgrade(reader& in, upgrade_record& upgrade) {
  take_all(in, upgrade.from, upgrade.to, lsn{upgrade.checkpoint}, upgrade.checkpoint_epoch, name{upgrade.replica}, upgrade.part_hash, upgrade.image_hash);
  upgrade.build = in.byte_string(16);
  return finish_record(in, upgrade.from != 0 && upgrade.to > upgrade.from && (upgrade.build.empty() || upgrade.build.size() == 16));
}

}  // namespace ambrosia::inline v0
