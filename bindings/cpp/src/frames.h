// What a coordinator says on an app channel (P5), and the records that it delivers (log-format L5), as an app reads them.
#pragma once

#include <ambrosia/codec.h>

namespace ambrosia::inline v0 {

struct hello_option {
  std::uint64_t type;
  byte_span value;
};

struct app_welcome {
  std::uint16_t version = 0, shard = 0;
  std::string_view instance, replica;
  guid uuid;
  std::uint64_t epoch = 0, session = 0;
  std::uint32_t message_bytes_most = 0;
  std::uint64_t checkpoint = 0;
  bool has_image = false, is_view = false;
  std::uint32_t image_app_version = 0;  // of an image of another version, which is to be converted; 0: it is the app's own
  std::vector<hello_option> options;
};
struct image_begin {
  std::uint64_t lsn = 0;
  std::uint32_t version = 0;
};
struct image_end {
  std::uint64_t length = 0, hash = 0;
};
struct impulse_logged {
  std::uint32_t destination = 0;
  std::uint64_t ticket = 0;
};
struct policy_change {
  std::uint64_t lsn = 0;
  std::uint8_t forks = 0;
};
struct query_frame {
  std::uint64_t query = 0, lsn = 0;
  std::uint32_t patience_ms = 0, method = 0;
  byte_span arguments;
};
struct rings_frame {
  std::uint32_t capacity = 0;
  std::string_view path;
};
struct goodbye_frame {
  std::uint8_t code = 0;
  std::string_view why;
};
struct look_frame {
  std::uint64_t lsn = 0;
  std::uint32_t index = 0;
  std::uint8_t flags = 0;
};
struct convert_frame {
  std::uint64_t lsn = 0;
  std::uint32_t from = 0, to = 0;
  std::uint8_t use = 0;
};
struct deliver_frame {
  std::uint64_t lsn = 0;
  std::int64_t time = 0;
  std::uint64_t mark = 0;
  byte_span records;
};

// Each reads a whole payload; the reader's error is the broken sentence.
std::vector<hello_option> read_options(reader& in);
bool read_welcome(reader& in, app_welcome& welcome);
bool read_image_begin(reader& in, image_begin& begin);
bool read_image_end(reader& in, image_end& end);
bool read_impulse_logged(reader& in, impulse_logged& logged);
bool read_policy_ahead(reader& in, std::vector<policy_change>& changes);
bool read_query(reader& in, query_frame& query, std::uint64_t message_most = UINT64_MAX);
bool read_rings(reader& in, rings_frame& rings);
bool read_goodbye(reader& in, goodbye_frame& goodbye);
bool read_look(reader& in, look_frame& look);
bool read_convert(reader& in, convert_frame& convert);
bool read_deliver(reader& in, deliver_frame& deliver);

// ---- Records ----

enum class record_kind : std::uint8_t {
  run = 1, impulse_run, first_start, peer, trim, digest, checkpoint_mark, nondet_result, timer_fired,
  client_request, policy, quarantine, upgrade, forget, build, nondet_results, state_hash,
};

inline constexpr std::size_t record_header_bytes = 8;

struct record_view {
  std::uint64_t lsn = 0, end = 0;
  record_kind kind{};
  byte_span body;
};

struct peer_record {
  std::uint32_t origin = 0;
  std::uint16_t shard = 0;
  guid uuid;
  std::uint64_t epoch = 0;
  std::string_view name;
};
struct forget_record {
  std::uint32_t origin = 0;
  guid uuid;
};
struct first_start_record {
  guid uuid;
  std::int64_t created = 0;
  std::uint32_t app_version = 0;
  std::string_view name;
};
struct checkpoint_mark {
  std::uint64_t epoch = 0, bound = 0;
  std::string_view replica;
};
struct nondet_result {
  std::uint64_t task = 0;
  bool is_failure = false;
  byte_span result;
};
struct timer_fired {
  std::uint64_t timer = 0;
  std::int64_t due = 0;
};
struct client_request {
  guid session;
  std::uint64_t request = 0;
  bool keyed = false;
  byte_span message;
  message_view parts;
};
struct policy_record {
  std::uint8_t forks = 0;
  std::uint64_t window_us = 86'400'000'000, entries_most = 100'000, bytes_most = 64 << 20;
  std::uint32_t message_bytes_most = 64 << 20;
};
struct quarantine_record {
  std::uint64_t lsn = 0;
  std::uint32_t index = 0;
  std::uint8_t action = 0;
};
struct upgrade_record {
  std::uint32_t from = 0, to = 0;
  std::uint64_t checkpoint = 0, checkpoint_epoch = 0;
  std::string_view replica;
  std::uint64_t part_hash = 0, image_hash = 0;
  byte_span build;
};

// The next record of a Deliver frame; `lsn` is where it stands. Null, or the broken sentence.
const char* read_record(reader& in, std::uint64_t lsn, record_view& record);
bool read_peer(reader& in, peer_record& peer);
bool read_forget(reader& in, forget_record& forget);
bool read_first_start(reader& in, first_start_record& start);
bool read_mark(reader& in, checkpoint_mark& mark);
bool read_nondet(reader& in, nondet_result& result);
bool read_timer(reader& in, timer_fired& fired);
bool read_request(reader& in, client_request& request);
bool read_policy(reader& in, policy_record& policy);
bool read_quarantine(reader& in, quarantine_record& record);
bool read_upgrade(reader& in, upgrade_record& upgrade);

guid read_guid(reader& in);
std::string guid_text(const guid& id);

}  // namespace ambrosia::inline v0
