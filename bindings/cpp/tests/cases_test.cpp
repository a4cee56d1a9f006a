// Cases that are written out: what an image says of a suspended flow, whose coordinator is gone, and how a use of a generic type travels.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include "../src/orphan.h"
#include "Ledger.contract.h"
#include "driven.h"

namespace {

using namespace ambrosia;
using namespace driven;
using probe::Operation;
using probe::Step;

int failures_found = 0;

void expect(bool holds, const char* what) {
  if (!holds) failures_found++, std::printf("cases_test: %s\n", what);
}

// ---- Images (I4.5) ----

Step ask(std::int64_t number) {
  Step step;
  step.Op = Operation::Ask, step.Number = number, step.To = "bank";
  return step;
}

// A session in which a `Do` of these steps is begun.
class begun {
 public:
  explicit begun(const std::vector<Step>& steps) : at(new_session()) {
    welcome(*at, 0, false);
    writer start, peer, arguments;
    start.raw(bytes(16)), start.i64(1), start.u32(1), start.string("self");
    peer.u32(1), peer.u16(0), peer.raw(bytes(16)), peer.u64(1), peer.string("bank");
    give(3, start.view()), give(4, peer.view());
    encode(arguments, steps);
    give(1, run_record(1, 1, probe::IProbe::id::Do, 0, arguments.view()));
  }
  void answer(std::uint64_t call, std::int64_t value) {
    writer encoded;
    encode(encoded, value);
    give(1, run_record(3, 1, probe::IProbe::id::Add, call, encoded.view()));
  }
  // The first flow's journal and what it waits for, as bytes of CBOR.
  std::pair<std::string, std::string> flow() const {
    writer image;
    at->write_image(image);
    cbor_reader in(image.view());
    in.read_array();
    for (int i = 0; i < 4; i++) in.skip();
    if (in.read_array() != 1) return {"no flow", ""};
    in.read_array();
    for (int i = 0; i < 4; i++) in.skip();
    std::string journal = hex(in.item());
    in.skip(), in.skip();
    return {journal, hex(in.item())};
  }
  void restore() {
    writer image;
    at->write_image(image);
    at = new_session();
    welcome(*at, _lsn, true);
    give_image(*at, _lsn, image.view());
    expect(at->end().code == 0, "an image of the session is refused");
  }

  std::unique_ptr<session> at;

 private:
  void give(std::uint8_t kind, byte_span body) {
    bytes frame = deliver(_lsn, 1'700'000'000'000'000, kind, body);
    expect(at->take(frame_type::deliver, frame), at->end().why.c_str());
    _lsn += frame.size() - 24;
  }

  std::uint64_t _lsn = 0;
};

// What came and was not taken stands in the order of the leaves, whatever came first; what was taken stands in the order in which it was taken.
void untaken_results_stand_in_the_order_of_their_leaves() {
  Step all;
  all.Op = Operation::All, all.Steps = {ask(1), ask(2), ask(3)};
  begun play({all, ask(4)});
  play.answer(3, 30);
  expect(play.flow() == std::pair<std::string, std::string>("8183000042181e", "828300000183010002"), "the third result alone, and calls 1 and 2 awaited");
  play.answer(1, 10);
  expect(play.flow() == std::pair<std::string, std::string>("8283000041" "0a" "83000042181e", "8183010002"), "the first result before the third");
  play.restore();
  play.answer(2, 20);
  expect(play.flow() == std::pair<std::string, std::string>("83830000410a830000411483000042181e", "8183030004"), "three results as they were taken");
}

// A leaf that was given up has no result, and the choice is an item of its own.
void given_up_leaf_has_no_result() {
  Step any;
  any.Op = Operation::Any, any.Steps = {ask(1), ask(2)};
  begun play({any, ask(3)});
  play.answer(2, 20);
  expect(play.flow() == std::pair<std::string, std::string>("8282014101" "8300004114", "8183020003"), "the choice, and the second result");
  play.restore();
  expect(play.flow() == std::pair<std::string, std::string>("8282014101" "8300004114", "8183020003"), "the same behind a restore");
}

// One run has the results of many calls, in the order of the calls and in others, and the bytes of their ids carry. Each goes to its own flow.
void results_of_a_run_go_to_their_calls() {
  auto at = new_session();
  std::uint64_t lsn = 0;
  auto give = [&](std::uint8_t kind, byte_span body) {
    bytes frame = deliver(lsn, 1'700'000'000'000'000, kind, body);
    expect(at->take(frame_type::deliver, frame), at->end().why.c_str());
    lsn += frame.size() - 24;
  };
  writer start, peer, arguments;
  start.raw(bytes(16)), start.i64(1), start.u32(1), start.string("self");
  peer.u32(1), peer.u16(0), peer.raw(bytes(16)), peer.u64(1), peer.string("bank");
  welcome(*at, 0, false), give(3, start.view()), give(4, peer.view());
  encode(arguments, std::vector<Step>{ask(1)});
  for (std::uint64_t first : {1ull, 16'300ull, (1ull << 49) - 100, (1ull << 56) - 100}) {
    at->next_call = first;
    for (std::uint64_t n = 0; n < 200; n++) give(1, run_record(2, 1, probe::IProbe::id::Do, first + n, arguments.view()));
    at->out.close(), at->out.bytes_out().clear();
    writer results, one;
    results.u8(3), results.u8(0), results.u16(0), results.u32(1), results.u64(1), results.u32(200), results.u32(0), results.u64(0);
    std::vector<std::uint64_t> order;
    for (std::uint64_t n = 0; n < 120; n++) order.push_back(first + n);
    for (std::uint64_t n = 199; n >= 120; n--) order.push_back(first + n);
    for (std::uint64_t call : order) {
      one.clear(), one.varint(probe::IProbe::id::Add), one.varint(call), encode(one, static_cast<std::int64_t>(call % 1'000)), results.byte_string(one.view());
    }
    give(1, results.view());
    at->out.close();
    // The answers stand in the order of the results, and each tells the number that its flow was given.
    frame_view frame;
    run_view run;
    std::size_t answered = 0;
    for (byte_span rest = at->out.bytes_out().view(); read_frame(rest, false, 0, UINT64_MAX, frame) == nullptr && frame.consumed != 0; rest = rest.subspan(frame.consumed)) {
      if (frame.type != frame_type::run || read_run(frame.payload, UINT64_MAX, run) != nullptr || run.kind != run_kind::result) continue;
      reader messages(run.messages);
      message_view message;
      for (std::uint32_t i = 0; i < run.count && answered < order.size(); i++, answered++) {
        read_message(run, messages, UINT64_MAX, message);
        std::vector<std::string> seen;
        cbor_reader in(message.arguments);
        decode(in, seen);
        expect(message.call == order[answered] && seen == std::vector{std::to_string(message.call % 1'000)}, "a flow was given another call's result");
      }
    }
    expect(answered == 200 && at->calls.size() == 0, "not each flow has ended");
  }
}

// Operations are hashed as one row of bytes, however many blocks of them are put together meanwhile.
void operations_hash_as_they_stand() {
  operation_hash hash;
  writer all;
  bytes arguments(400);
  for (std::size_t i = 0; i < arguments.size(); i++) arguments[i] = static_cast<std::uint8_t>(i * 11 + i / 7);
  for (std::uint64_t n = 0; n < 3'000; n++) {
    byte_span with(arguments.data() + n % 13, n % 97 == 96 ? 300 : n % 23);
    std::size_t length = 2 + n % 5;
    hash.add(n * 0x9E3779B97F4A7C15ull, length, n, with, n % 2 == 0);
    all.put(n * 0x9E3779B97F4A7C15ull, length), all.u64(n), all.raw(with);
    expect(hash.value() == crc64(all.view()), "the hash of operations depends on how they are put together");
  }
}

#if defined(__cpp_exceptions)

// ---- Operations (docs/flows.md F4) ----

struct OddState {
  std::int64_t caught = 0;
  static constexpr auto fields = ambrosia::fields("caught", &OddState::caught);
};
// A contract by hand, of one method.
struct IOdd {
  static constexpr std::uint32_t try_id = 7, late_id = 8;
  static constexpr std::uint64_t contract_hash = 0;
  static constexpr std::string_view manifest = "";
  template <class A>
  static void dispatch(A& app, incoming& in) {
    if (in.method == try_id) invoke<void()>(in, app, &A::Try);
    if (in.method == late_id) invoke<void()>(in, app, &A::Late);
  }
};
class Odd : public immortal<Odd, OddState, serves<IOdd>> {
 public:
  static flow<void> Try(context<Odd> at) {
    Step step;
    step.Text = "\xFF";  // no UTF-8
    bool was_refused = false;
    try {
      (void)at.get<probe::IProbe>("bank").Do({step});
    } catch (const failure&) {
      was_refused = true;
    }
    if (was_refused) at.step([](OddState& s) { s.caught++; });
    co_await at.get<probe::IProbe>("bank").Add(1);
  }
  static flow<void> Late(context<Odd> at) {
    auto bank = at.get<probe::IProbe>("bank");
    auto first = bank.Add(1);
    leaf_list leaves(1, first.leaf());
    co_await at.all_of(leaves);
    std::int64_t second = co_await bank.Add(2);
    auto came = first.take();
    at.step([&](OddState& s) { s.caught = came ? 100 * *came + second : -1; });
  }
};

// What one call alone gave is there as long as nobody takes it, also when the flow has waited for another one since.
void result_that_is_taken_late_is_there() {
  session at(std::make_unique<Odd>(), [] {});
  welcome(at, 0, false);
  writer start, peer, one, other;
  start.raw(bytes(16)), start.i64(1), start.u32(1), start.string("self");
  peer.u32(1), peer.u16(0), peer.raw(bytes(16)), peer.u64(1), peer.string("bank");
  encode(one, std::int64_t{3}), encode(other, std::int64_t{4});
  std::uint64_t lsn = 0;
  auto give = [&](std::uint8_t kind, byte_span body) {
    bytes frame = deliver(lsn, 1'700'000'000'000'000, kind, body);
    expect(at.take(frame_type::deliver, frame), at.end().why.c_str());
    lsn += frame.size() - 24;
  };
  give(3, start.view()), give(4, peer.view());
  give(1, run_record(1, 1, IOdd::late_id, 0, {}));
  give(1, run_record(3, 1, probe::IProbe::id::Add, 1, one.view()));
  give(1, run_record(3, 1, probe::IProbe::id::Add, 2, other.view()));
  writer image;
  at.write_image(image);
  expect(hex(image.view()).find("66636175676874190130") != std::string::npos, "a result that was taken late is another one");
}

// A call whose arguments cannot be written is none, in life and when the flow is executed again: it is refused in both.
void refused_value_is_no_operation() {
  auto begin = [] { return std::make_unique<session>(std::make_unique<Odd>(), [] {}); };
  auto live = begin();
  welcome(*live, 0, false);
  writer start, peer, image, again;
  start.raw(bytes(16)), start.i64(1), start.u32(1), start.string("self");
  peer.u32(1), peer.u16(0), peer.raw(bytes(16)), peer.u64(1), peer.string("bank");
  std::uint64_t lsn = 0;
  auto give = [&](std::uint8_t kind, byte_span body) {
    bytes frame = deliver(lsn, 1, kind, body);
    expect(live->take(frame_type::deliver, frame), live->end().why.c_str());
    lsn += frame.size() - 24;
  };
  give(3, start.view()), give(4, peer.view()), give(1, run_record(1, 1, IOdd::try_id, 0, {}));
  live->write_image(image);
  expect(live->suspended == 1 && live->next_call == 2, "the flow waits for the call that can be written");
  auto restored = begin();
  welcome(*restored, lsn, true);
  give_image(*restored, lsn, image.view());
  expect(restored->end().code == 0, restored->end().why.c_str());
  if (restored->end().code != 0) return;
  restored->write_image(again);
  expect(hex(image.view()) == hex(again.view()), "it is restored as it was");
}

#endif

// ---- Messages (P3.1) ----

// The length in front of a message is written when the message has ended, in as many bytes as it needs, whatever the message before it needed.
void messages_of_every_length_are_whole() {
  outbound out;
  std::uint32_t to = out.destination(0, "bank");
  std::vector<std::size_t> lengths;
  for (std::size_t edge : {1u, 127u, 128u, 16'383u, 16'384u, 70'000u, 300'000u}) {
    for (std::size_t length : {edge, std::size_t{20}, edge + 1, std::size_t{200}, edge + 2, std::size_t{200}, std::size_t{20}}) lengths.push_back(length + 5);
  }
  for (std::size_t length : lengths) {
    out.begin(to, run_kind::fork, 0x80000001);
    for (std::size_t i = 5; i < length; i++) out.bytes_out().u8(static_cast<std::uint8_t>(length + i));
    expect(out.end(), "a message within the limit is sent");
  }
  out.limit = 100;
  out.begin(to, run_kind::fork, 0x80000001);
  out.bytes_out().raw(bytes(200));
  expect(!out.end(), "one beyond the limit is not");
  out.close();
  std::size_t next = 0;
  byte_span data = out.bytes_out().view();
  for (frame_view frame; !data.empty(); data = data.subspan(frame.consumed)) {
    if (read_frame(data, false, 0, 1u << 30, frame) != nullptr || frame.consumed == 0) return expect(false, "a frame that is none");
    run_view run;
    if (frame.type != frame_type::run) continue;
    if (read_run(frame.payload, UINT64_MAX, run) != nullptr) return expect(false, "a run that is none");
    reader at(run.messages);
    message_view message;
    for (std::uint32_t i = 0; i < run.count; i++, next++) {
      read_message(run, at, UINT64_MAX, message);
      bool is_whole = next < lengths.size() && message.method == 0x80000001 && message.arguments.size() == lengths[next] - 5;
      for (std::size_t k = 5; is_whole && k < lengths[next]; k++) is_whole = message.arguments[k - 5] == static_cast<std::uint8_t>(lengths[next] + k);
      expect(is_whole, "a message comes as it was written");
    }
  }
  expect(next == lengths.size(), "each message is there, and no other");
}

// ---- Orphans (P5.0) ----

void parent_is_asked_before_the_folder_of_processes() {
  // As where a system shows each process to its own user alone: this one is there, and its parent is not.
  std::string folder = (std::filesystem::temp_directory_path() / ("ambrosia-cases." + std::to_string(getpid()))).string();
  std::filesystem::create_directories(folder + "/self");
  std::ofstream(folder + "/self/stat") << getpid() << " (cases) R";
  expect(!coordinator_is_gone(std::to_string(getppid()).c_str(), folder), "the parent is not gone, although nothing tells of it");
  expect(coordinator_is_gone(std::to_string(getpid()).c_str(), folder), "another process that nothing tells of is gone");
  std::filesystem::create_directories(folder + "/4711/stat");
  expect(!coordinator_is_gone("4711", folder), "what cannot be read says nothing");
  expect(!coordinator_is_gone(std::to_string(getpid()).c_str(), folder + "/none"), "without a folder of processes nobody is gone");
  std::filesystem::remove_all(folder);
}

void ended_process_is_gone_whether_or_not_somebody_has_waited() {
  int ends[2];
  if (pipe(ends) != 0) return expect(false, "a pipe");
  pid_t child = fork();
  if (child == 0) {
    char byte;
    close(ends[1]);
    _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(ends[0]);
  std::string id = std::to_string(child);
  expect(!coordinator_is_gone(id.c_str()), "a process that runs is not gone");
  close(ends[1]);
  siginfo_t how;
  waitid(P_PID, static_cast<id_t>(child), &how, WEXITED | WNOWAIT);
  expect(coordinator_is_gone(id.c_str()), "one that nobody has waited for is gone");
  waitpid(child, nullptr, 0);
  expect(coordinator_is_gone(id.c_str()), "one that is not there is gone");
}

void parent_that_is_no_number_is_nobody() {
  for (const char* text : {"", "1", "-7", "99999999999", "47x"}) expect(!coordinator_is_gone(text), "no process has this id");
  expect(!coordinator_is_gone(nullptr), "nobody started this process");
}

// ---- Uses of a generic type (contract.md C2.4) ----

void use_of_a_generic_type_travels_as_data() {
  const Ledger::Page_Sale page{{{3, "tea"}}, 1};
  writer out;
  encode(out, page);
  expect(hex(out.view()) == "a2654974656d7381a266506965636573036741727469636c656374656165546f74616c01", "each use is a map of its own fields");
  Ledger::Page_Sale read;
  cbor_reader in(out.view());
  decode(in, read);
  expect(in.ok() && read.Items.size() == 1 && read.Items[0].Article == "tea" && read.Total == 1, "what was sent comes back");
  Ledger::Page_int32 other;
  cbor_reader again(out.view());
  decode(again, other);
  expect(!again.ok(), "a page of sales is no page of numbers");
}

}  // namespace

// ---- Checksums, numbers and tables that have a quick way ----

void checksum_is_the_same_by_blocks_and_by_bytes() {
  bytes data(600);
  for (std::size_t i = 0; i < data.size(); i++) data[i] = static_cast<std::uint8_t>(i * 7 + i / 13);
  for (std::size_t size = 0; size < 560; size++) {
    byte_span part(data.data() + size % 17, size);
    std::uint64_t state = size * 0x9E3779B97F4A7C15ull, plain = ~state;
    for (std::uint8_t byte : part) plain = detail::crc64_tables[0][(plain ^ byte) & 255] ^ plain >> 8;
    expect(crc64(part, state) == ~plain, "a CRC-64 depends on how its bytes are taken");
  }
}

void varint_without_a_loop_is_that_with_one() {
  for (int bit = 0; bit < 64; bit++) {
    for (std::uint64_t number : {(1ull << bit) - 1, 1ull << bit, (1ull << bit) + 1}) {
      writer one, other;
      one.varint(number);
      std::uint64_t rest = number;
      for (; rest >= 0x80; rest >>= 7) other.u8(static_cast<std::uint8_t>(rest | 0x80));
      other.u8(static_cast<std::uint8_t>(rest));
      expect(one.take() == other.take(), "a varint has other bytes");
      reader in(one.view());
      expect(in.varint() == number && in.finish(), "a varint is read as another number");
    }
  }
}

// Some calls wait for very long while others come and go, so the ring of the table comes round to them; and ids may be any at a restore.
void call_that_waits_long_is_found() {
  call_table calls;
  std::map<std::uint64_t, std::uint32_t> awaited;
  std::uint64_t chance = 1;
  auto check = [&] {
    bool holds = calls.size() == awaited.size();
    for (auto [id, leaf] : awaited) {
      call_table::row* found = calls.find(id);
      holds &= found != nullptr && found->leaf == leaf;
    }
    auto sorted = calls.sorted();
    auto next = awaited.begin();
    for (const call_table::row& row : sorted) holds &= next != awaited.end() && row.id == next->first && row.leaf == (next++)->second;
    expect(holds, "a call is not in the table");
  };
  for (std::uint64_t id = 1; id < 20'000; id++) {
    std::uint64_t number = id < 10'000 ? id : id * 4'096;
    calls.add(number).leaf = awaited[number] = static_cast<std::uint32_t>(id);
    chance = chance * 6364136223846793005ull + 1442695040888963407ull;
    bool stays = (chance >> 33) % 64 == 0;
    if (!stays) calls.remove(calls.find(number)), awaited.erase(number);
    if ((chance >> 40) % 256 == 0) {
      auto one = awaited.begin();
      if (one != awaited.end()) calls.remove(calls.find(one->first)), awaited.erase(one);
    }
    expect(calls.find(number + 1) == nullptr && calls.find(0) == nullptr, "a call that is not there is found");
    if (id % 500 == 0) check();
  }
  check();
}

int main() {
  checksum_is_the_same_by_blocks_and_by_bytes();
  varint_without_a_loop_is_that_with_one();
  call_that_waits_long_is_found();
  untaken_results_stand_in_the_order_of_their_leaves();
  given_up_leaf_has_no_result();
  results_of_a_run_go_to_their_calls();
  operations_hash_as_they_stand();
#if defined(__cpp_exceptions)
  result_that_is_taken_late_is_there();
  refused_value_is_no_operation();
#endif
  messages_of_every_length_are_whole();
  parent_is_asked_before_the_folder_of_processes();
  ended_process_is_gone_whether_or_not_somebody_has_waited();
  parent_that_is_no_number_is_nobody();
  use_of_a_generic_type_travels_as_data();
  std::printf("cases_test: %d failures\n", failures_found);
  return failures_found == 0 ? 0 : 1;
}
