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
  welcome.version = in.u16();
  welcome.instance = in.name();
  welcome.shard = in.u16();
  welcome.replica = in.name();
  welcome.uuid = read_guid(in);
  welcome.epoch = in.u64();
  welcome.session = in.u64();
  welcome.message_bytes_most = in.u32();
  if (in.ok() && (welcome.message_bytes_most == 0 || welcome.message_bytes_most > 1u << 30)) in.fail("P2.3");
  welcome.checkpoint = in.lsn();
  welcome.has_image = in.flag();
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
  begin.lsn = in.lsn();
  begin.version = in.u32();
  return in.finish();
}

bool read_image_end(reader& in, image_end& end) {
  end.length = in.u64();
  end.hash = in.u64();
  return in.finish();
}

bool read_impulse_logged(reader& in, impulse_logged& logged) {
  logged.destination = in.u32();
  logged.ticket = in.u64();
  return in.finish();
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
  query.query = in.u64();
  query.lsn = in.lsn();
  query.patience_ms = in.u32();
  query.method = in.u32();
  query.arguments = in.rest();
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
  look.lsn = in.lsn();
  look.index = in.u32();
  look.flags = in.u8();
  if (in.ok() && look.flags > 15) in.fail("P1.6");
  if (in.ok() && (look.flags & 4) != 0 && (look.lsn != 0 || look.index != 0)) in.fail("P5.24");
  return in.finish();
}

bool read_convert(reader& in, convert_frame& convert) {
  convert.lsn = in.lsn();
  convert.from = in.u32();
  convert.to = in.u32();
  convert.use = in.u8();
  bool is_ascending = convert.use == 3 ? convert.to == convert.from : convert.to > convert.from;
  if (in.ok() && (convert.from == 0 || !is_ascending || convert.use > 3)) in.fail("P5.25");
  return in.finish();
}

bool read_deliver(reader& in, deliver_frame& deliver) {
  deliver.lsn = in.lsn();
  deliver.time = in.i64();
  deliver.mark = in.lsn();
  deliver.records = in.rest();
  return in.ok();
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

namespace {

// A body that is wrong in any way is damage of the record (L5.10).
bool finish_record(reader& in) {
  if (in.p != in.end) in.error = "L5.10";
  if (!in.ok()) in.error = "L5.10";
  return in.ok();
}

}  // namespace

bool read_peer(reader& in, peer_record& peer) {
  peer.origin = in.u32();
  peer.shard = in.u16();
  peer.uuid = read_guid(in);
  peer.epoch = in.u64();
  peer.name = in.name();
  if (peer.origin == 0) in.fail("L5.10");
  return finish_record(in);
}

bool read_forget(reader& in, forget_record& forget) {
  forget.origin = in.u32();
  forget.uuid = read_guid(in);
  if (forget.origin == 0) in.fail("L5.10");
  return finish_record(in);
}

bool read_first_start(reader& in, first_start_record& start) {
  start.uuid = read_guid(in);
  start.created = in.i64();
  start.app_version = in.u32();
  start.name = in.name();
  if (start.app_version == 0) in.fail("L5.10");
  return finish_record(in);
}

bool read_mark(reader& in, checkpoint_mark& mark) {
  mark.epoch = in.u64();
  mark.bound = in.u64();
  mark.replica = in.name();
  return finish_record(in);
}

bool read_nondet(reader& in, nondet_result& result) {
  result.task = in.u64();
  std::uint8_t status = in.u8();
  if (status > 1) in.fail("L5.10");
  result.is_failure = status == 1;
  result.result = in.rest();
  return finish_record(in);
}

bool read_timer(reader& in, timer_fired& fired) {
  fired.timer = in.u64();
  fired.due = in.i64();
  return finish_record(in);
}

bool read_request(reader& in, client_request& request) {
  request.session = read_guid(in);
  request.request = in.u64();
  request.keyed = in.flag();
  request.message = in.rest();
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
  policy.forks = in.u8();
  policy.window_us = in.u64();
  policy.entries_most = in.u64();
  policy.bytes_most = in.u64();
  bool states_limit = in.left() != 0;
  if (states_limit) policy.message_bytes_most = in.u32();
  // The usual limit is left out (L5.9).
  bool is_wrong = policy.forks > 2 || policy.message_bytes_most == 0 || policy.message_bytes_most > 1u << 30;
  if (is_wrong || (states_limit && policy.message_bytes_most == 64 << 20)) in.fail("L5.10");
  return finish_record(in);
}

bool read_quarantine(reader& in, quarantine_record& record) {
  record.lsn = in.lsn();
  record.index = in.u32();
  record.action = in.u8();
  if (record.action > 2) in.fail("L5.10");
  return finish_record(in);
}

bool read_upgrade(reader& in, upgrade_record& upgrade) {
  upgrade.from = in.u32();
  upgrade.to = in.u32();
  upgrade.checkpoint = in.lsn();
  upgrade.checkpoint_epoch = in.u64();
  upgrade.replica = in.name();
  upgrade.part_hash = in.u64();
  upgrade.image_hash = in.u64();
  upgrade.build = in.byte_string(16);
  if (upgrade.from == 0 || upgrade.to <= upgrade.from || (upgrade.build.size() != 0 && upgrade.build.size() != 16)) in.fail("L5.10");
  return finish_record(in);
}

}  // namespace ambrosia::inline v0
