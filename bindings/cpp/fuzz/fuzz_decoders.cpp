// Whatever stands in an argument, a run, a frame or a record, its decoder neither crashes nor hangs nor reads beyond the end, and what it keeps is bounded
// by what is there. The first byte chooses the decoder. What was accepted is written again, and must be accepted again and be the same.
#include <cstdlib>

#include "../src/frames.h"
#include "../src/window.h"
#include "../tests/probe.h"

using namespace ambrosia;

namespace {

template <class T>
void value(byte_span input) {
  T of{}, again{};
  cbor_reader in(input);
  decode(in, of);
  if (!in.ok()) return;
  writer out, second;
  encode(out, of);
  cbor_reader other(out.view());
  decode(other, again);
  encode(second, again);
  if (!other.ok() || out.size() != second.size() || std::memcmp(out.data(), second.data(), out.size()) != 0) std::abort();
}

template <class T>
void payload(byte_span input, bool (*read)(reader&, T&)) {
  reader in(input);
  T of{};
  read(in, of);
}

void run_of(byte_span input) {
  run_view run;
  if (read_run(input, 64 << 20, run) != nullptr) return;
  // What the check of a whole run passes, the reader of each message accepts.
  reader at(run.messages);
  message_view message;
  for (std::uint32_t i = 0; i < run.count; i++) {
    if (read_message(run, at, 64 << 20, message) != nullptr) std::abort();
  }
  if (at.left() != 0) std::abort();
}

void items(byte_span input) {
  cbor_reader ordered(input), plain(input);
  ordered.skip(true);
  plain.skip();
  if (ordered.ok() && !plain.ok()) std::abort();
}

void failure_of(byte_span input) {
  failure what;
  writer out;
  if (read_failure(input, what)) write_failure(out, what);
}

void frame_of(byte_span input) {
  frame_view frame;
  read_frame(input, false, 0, 1 << 20, frame);
  read_frame(input, true, 17, 1 << 20, frame);
}

void records_of(byte_span input) {
  reader in(input);
  record_view record;
  for (std::uint64_t lsn = 0; in.left() != 0 && read_record(in, lsn, record) == nullptr;) lsn = record.end;
}

void window_of(byte_span input) {
  request_window window;
  cbor_reader in(input);
  window.read(in);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  byte_span input(data + 1, size - 1);
  switch (data[0] % 24) {
    case 0: value<std::vector<probe::Step>>(input); break;
    case 1: value<probe::Everything>(input); break;
    case 2: value<probe::State>(input); break;
    case 3: items(input); break;
    case 4: failure_of(input); break;
    case 5: run_of(input); break;
    case 6: frame_of(input); break;
    case 7: records_of(input); break;
    case 8: window_of(input); break;
    case 9: payload(input, read_welcome); break;
    case 10: payload(input, read_policy_ahead); break;
    case 11: payload<query_frame>(input, [](reader& in, query_frame& of) { return read_query(in, of); }); break;
    case 12: payload(input, read_rings); break;
    case 13: payload(input, read_goodbye); break;
    case 14: payload(input, read_deliver); break;
    case 15: payload(input, read_peer); break;
    case 16: payload(input, read_first_start); break;
    case 17: payload(input, read_mark); break;
    case 18: payload(input, read_nondet); break;
    case 19: payload(input, read_request); break;
    case 20: payload(input, read_policy); break;
    case 21: payload(input, read_quarantine); break;
    case 22: payload(input, read_upgrade); break;
    default: value<probe::IShape>(input); break;
  }
  return 0;
}
