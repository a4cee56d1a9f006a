// Either end of a stream in C++: what perf/Ambrosia.Perf/Immortals/StreamEnd.cs is in C#, with the same messages, commands and lines, so that each
// end of a measurement can be of either binding. It has no impulses
// that are sent at a rate (--impulse).
#include <cstdio>
#include <ctime>
#include <iostream>
#include <sstream>
#include <thread>

#include <ambrosia/ambrosia.h>
#include <unistd.h>

#include "Stream.contract.h"

namespace {

using Stream::IStreamEnd;

constexpr std::int64_t burst_bytes = 4 * 1024 * 1024, held_piece_bytes = 1 << 20;
constexpr int bursts_under_way = 4, lane_shift = 48;

// The monotonic clock in ns, which .NET's Stopwatch counts, too. Nothing but lines depends on it: not state, not output.
long long ticks() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// What a receiver knows of one sender's messages in a round.
struct Lane {
  std::int32_t round = 0;
  std::uint64_t expected = 0, taken = 0;
  std::uint64_t next = 0;  // the count at which there is something to tell: half of the round, then its end
  std::int64_t bytes = 0, disorder = 0;
  static constexpr auto fields = ambrosia::fields("round", &Lane::round, "expected", &Lane::expected, "taken", &Lane::taken, "next", &Lane::next,
                                                  "bytes", &Lane::bytes, "disorder", &Lane::disorder);
};

struct SendingLane {
  std::string receiver;
  std::uint64_t bits = 0;
  std::int64_t sent = 0;
  static constexpr auto fields = ambrosia::fields("receiver", &SendingLane::receiver, "bits", &SendingLane::bits, "sent", &SendingLane::sent);
};

struct State {
  std::vector<Lane> lanes;
  std::vector<SendingLane> sending;
  std::int32_t next = 0, unfinished = 0;
  std::int64_t messages = 0, turn = 0;
  std::int32_t message_bytes = 0;
  std::vector<ambrosia::bytes> held;
  static constexpr auto fields =
      ambrosia::fields("lanes", &State::lanes, "sending", &State::sending, "next", &State::next, "unfinished", &State::unfinished, "messages", &State::messages,
                       "turn", &State::turn, "messageBytes", &State::message_bytes, "held", &State::held);
};

class StreamEnd : public ambrosia::immortal<StreamEnd, State, ambrosia::serves<IStreamEnd>> {
 public:
  void becoming_primary() override {
    std::printf("primary %lld\n", ticks());
    std::fflush(stdout);
    // The driver's commands come on the standard input, which the coordinator hands on.
    std::thread([] {
      for (std::string line; std::getline(std::cin, line);) {
        ambrosia::post([line](ambrosia::immortal_base& app) { static_cast<StreamEnd&>(app).obey(line); });
      }
    }).detach();
  }

  void Take(ambrosia::byte_span message) {
    std::uint64_t head = 0;
    std::memcpy(&head, message.data(), std::min<std::size_t>(8, message.size()));
    Lane& lane = state().lanes.at(head >> lane_shift);
    lane.bytes += static_cast<std::int64_t>(message.size());
    if ((head & ((1ull << lane_shift) - 1)) != ++lane.taken) lane.disorder++;
    if (lane.taken == lane.next) reached(head >> lane_shift, lane);
  }

  void GoOn() {
    State& of = state();
    _buffer.resize(static_cast<std::size_t>(of.message_bytes));
    for (std::int64_t left = std::max<std::int64_t>(1, burst_bytes / of.message_bytes); left > 0 && of.unfinished > 0;) {
      left -= send(of.sending[static_cast<std::size_t>(of.next)], std::min(left, of.turn));
      of.next = (of.next + 1) % static_cast<std::int32_t>(of.sending.size());
    }
    if (of.unfinished > 0) self<IStreamEnd>().GoOnFork();
  }

  void Begin(std::int32_t round, std::int32_t lane, std::int64_t messages) {
    auto& lanes = state().lanes;
    auto at = static_cast<std::size_t>(lane), count = static_cast<std::size_t>(messages);
    if (at >= lanes.size()) lanes.resize(at + 1);
    lanes[at] = {round, count, 0, std::max<std::uint64_t>(1, count / 2), 0, 0};
  }

  void Stream(std::int32_t round, std::int64_t messages, std::int32_t bytes, std::int32_t turn, std::string_view lanes) {
    State& of = state();
    of.sending.clear();
    std::istringstream all{std::string(lanes)};
    for (std::string one; std::getline(all, one, ',');) {
      std::size_t colon = one.find(':');
      auto lane = static_cast<std::int32_t>(std::stol(one.substr(0, colon)));
      of.sending.push_back({one.substr(colon + 1), static_cast<std::uint64_t>(lane) << lane_shift, 0});
      std::printf("begun %d %d %lld\n", round, lane, ticks());
      get<IStreamEnd>(of.sending.back().receiver).BeginFork(round, lane, messages);
    }
    std::fflush(stdout);
    of.messages = messages, of.message_bytes = bytes, of.next = 0;
    of.unfinished = static_cast<std::int32_t>(of.sending.size());
    of.turn = of.unfinished == 1 ? messages : turn;
    for (int i = 0; i < bursts_under_way; i++) self<IStreamEnd>().GoOnFork();
  }

  void Hold(std::int64_t bytes) {
    state().held.clear();
    for (std::int64_t left = bytes; left > 0; left -= held_piece_bytes) {
      state().held.emplace_back(static_cast<std::size_t>(std::min(left, held_piece_bytes)));
    }
    say("holds", bytes);
  }
  void Poke(std::int32_t number) {
    std::printf("poked %d %lld\n", number, ticks());
    std::fflush(stdout);
  }

 private:
  static void say(const char* what, std::int64_t number) {
    std::printf("%s %lld\n", what, static_cast<long long>(number));
    std::fflush(stdout);
  }

  static void reached(std::uint64_t number, Lane& lane) {
    if (lane.taken == lane.expected) {
      std::printf("done %d %llu %llu %lld %lld %lld\n", lane.round, static_cast<unsigned long long>(number), static_cast<unsigned long long>(lane.taken),
                  static_cast<long long>(lane.bytes), static_cast<long long>(lane.disorder), ticks());
    } else {
      std::printf("half %d %llu\n", lane.round, static_cast<unsigned long long>(number));
    }
    std::fflush(stdout);
    lane.next = lane.expected;
  }

  std::int64_t send(SendingLane& lane, std::int64_t most) {
    std::int64_t first = lane.sent, last = std::min(state().messages, first + most);
    if (first == last) return 0;
    auto receiver = get<IStreamEnd>(lane.receiver);
    for (std::int64_t number = first + 1; number <= last; number++) {
      std::uint64_t head = lane.bits | static_cast<std::uint64_t>(number);
      std::memcpy(_buffer.data(), &head, 8);
      receiver.TakeFork(_buffer);
    }
    lane.sent = last;
    if (last == state().messages) state().unfinished--;
    return last - first;
  }

  // One command of the driver, as an impulse: it is logged before it acts.
  void obey(const std::string& line) {
    std::istringstream words(line);
    std::string what, text;
    std::int64_t first = 0, messages = 0, bytes = 0, turn = 0;
    words >> what >> first;
    auto own = impulses<IStreamEnd>(name());
    if (what == "stream" && words >> messages >> bytes >> turn >> text) {
      own.Stream(static_cast<std::int32_t>(first), messages, static_cast<std::int32_t>(bytes), static_cast<std::int32_t>(turn), text);
    } else if (what == "hold") {
      own.Hold(first);
    } else if (what == "poke") {
      own.Poke(static_cast<std::int32_t>(first));
    }
  }

  ambrosia::bytes _buffer;  // no message depends on more of it than its first 8 bytes
};

}  // namespace

int main() {
  std::printf("app %d\n", getpid());
  std::fflush(stdout);
  return ambrosia::run<StreamEnd>();
}
