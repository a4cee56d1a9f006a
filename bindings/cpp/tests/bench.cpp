// What the binding costs by itself, without a socket: frames in, frames out, in one thread. bench [best of so many rounds, default 7]
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>

#include "../src/session.h"
#include "Bench.contract.h"

// Every allocation is counted (glibc): a suspended call makes none.
extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_realloc(void*, std::size_t);
namespace {
std::uint64_t allocations = 0;
}
extern "C" void* malloc(std::size_t size) { return allocations++, __libc_malloc(size); }
extern "C" void* realloc(void* old, std::size_t size) { return allocations++, __libc_realloc(old, size); }

namespace {

using namespace ambrosia;

struct State {
  std::uint64_t seen = 0;
  static constexpr auto fields = ambrosia::fields("seen", &State::seen);
};

class App : public immortal<App, State, serves<Bench::IBench>> {
 public:
  using contract = Bench::IBench;

  void Raw(byte_span content) {
    state().seen += content.size();
    get<contract>("peer").RawFork(content);
  }
  void Typed(std::string_view account, std::int64_t cents, std::uint64_t number) {
    state().seen += number;
    get<contract>("peer").TypedFork(account_of(account), cents, number);
  }
  std::int64_t Twice(std::int64_t number) { return 2 * number; }
  static flow<void> Wait(context<App> at, std::int64_t number, std::int32_t times) {
    auto peer = at.get<contract>("peer");
    for (std::int32_t i = 0; i < times; i++) number += co_await peer.Twice(number);
  }

 private:
  const std::string& account_of(std::string_view account) { return _account.assign(account); }
  std::string _account;
};

// Processor time of this thread, so that other load on the machine counts less.
struct timer {
  static double now() {
    timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return static_cast<double>(at.tv_sec) * 1e9 + static_cast<double>(at.tv_nsec);
  }
};
double nanoseconds(double from) { return timer::now() - from; }

class driver {
 public:
  driver() : at(std::make_unique<App>(), [] {}) {
    writer welcome, body;
    welcome.u16(1), welcome.string("self"), welcome.u16(0), welcome.string("r0"), welcome.raw(bytes(16)), welcome.u64(1), welcome.u64(1);
    welcome.u32(64 << 20), welcome.u64(0), welcome.u8(0), welcome.varint(0);
    at.take(frame_type::app_welcome, welcome.view());
    body.raw(bytes(16)), body.i64(1), body.u32(1), body.string("self");
    record(3, body.view());
    body.clear();
    body.u32(1), body.u16(0), body.raw(bytes(16)), body.u64(1), body.string("peer");
    record(4, body.view());
  }
  void record(std::uint8_t kind, byte_span body) {
    frame.clear();
    frame.u64(lsn), frame.i64(1'700'000'000'000'000), frame.u64(0);
    frame.u32(static_cast<std::uint32_t>(body.size())), frame.u8(kind), frame.u8(0), frame.u16(0), frame.raw(body);
    deliver();
  }
  // A frame with a run of `count` messages, which `message` writes.
  void run(run_kind kind, std::uint32_t count, const std::function<void(writer&, std::uint32_t)>& message) {
    writer body, one;
    body.u8(static_cast<std::uint8_t>(kind)), body.u8(0), body.u16(0), body.u32(1), body.u64(1), body.u32(count), body.u32(0), body.u64(0);
    for (std::uint32_t i = 0; i < count; i++) one.clear(), message(one, i), body.byte_string(one.view());
    frame.clear();
    frame.u64(lsn), frame.i64(1'700'000'000'000'000), frame.u64(0);
    frame.u32(static_cast<std::uint32_t>(body.size())), frame.u8(1), frame.u8(0), frame.u16(0), frame.raw(body.view());
  }
  void deliver() {
    writer head;
    head.u64(lsn);
    std::memcpy(frame.data(), head.data(), 8);
    if (!at.take(frame_type::deliver, frame.view())) std::printf("ended: %s\n", at.end().why.c_str()), std::exit(1);
    lsn += frame.size() - 24;
    if (at.out.bytes_out().size() > 256 * 1024) flush();
  }
  void flush() { at.out.close(), at.out.bytes_out().clear(); }

  session at;
  writer frame;
  std::uint64_t lsn = 0;
};

template <class F>
double best_of(int rounds, F round) {
  double best = 1e18;
  for (int i = 0; i < rounds; i++) best = std::min(best, round());
  return best;
}

void messages(int rounds, std::size_t size) {
  driver to;
  auto count = static_cast<std::uint32_t>(64 * 1024 / (size + 3));
  bytes content(size, 3);
  to.run(run_kind::fork, count, [&](writer& out, std::uint32_t) { out.varint(Bench::IBench::id::Raw), out.raw(content); });
  double best = best_of(rounds, [&] {
    auto from = timer::now();
    for (int i = 0; i < 100; i++) to.deliver();
    return nanoseconds(from) / (100.0 * count);
  });
  std::printf("receive, dispatch, emit, %4zu B raw          %7.1f ns a message\n", size, best);
}

void typed(int rounds) {
  driver to;
  to.run(run_kind::fork, 2'000, [](writer& out, std::uint32_t i) {
    out.varint(Bench::IBench::id::Typed), encode(out, std::string("account-17")), encode(out, std::int64_t{12'345}), encode(out, std::uint64_t{i});
  });
  double best = best_of(rounds, [&] {
    auto from = timer::now();
    for (int i = 0; i < 100; i++) to.deliver();
    return nanoseconds(from) / 200'000.0;
  });
  std::printf("receive, decode, dispatch, encode (text, i64, u64) %1.1f ns a message\n", best);
}

void suspended(int rounds, std::uint32_t under_way) {
  driver to;
  writer value;
  encode(value, std::int64_t{7});
  std::uint64_t made = 0;  // allocations of the last round
  // Each suspension of a power of two is executed again beside itself (the development check); it is a part of the figure.
  double best = best_of(rounds, [&] {
    double spent = 0;
    made = 0;
    for (int i = 0; i < 50; i++) {
      std::uint64_t first = to.at.next_call;
      to.run(run_kind::fork, under_way, [](writer& out, std::uint32_t n) {
        out.varint(Bench::IBench::id::Wait), encode(out, static_cast<std::int64_t>(n)), encode(out, std::int32_t{1});
      });
      std::uint64_t before = allocations;
      auto from = timer::now();
      to.deliver();
      spent += nanoseconds(from);
      made += allocations - before;
      to.run(run_kind::result, under_way, [&](writer& out, std::uint32_t n) { out.varint(Bench::IBench::id::Twice), out.varint(first + n), out.raw(value.view()); });
      before = allocations;
      from = timer::now();
      to.deliver();
      spent += nanoseconds(from);
      made += allocations - before;
    }
    return spent / (50.0 * under_way);
  });
  std::printf("flow begun, call emitted, suspended, resumed, ended; %u under way: %.1f ns, %.4f allocations\n", under_way, best,
              static_cast<double>(made) / (50.0 * under_way));
}

void again_and_again(int rounds) {
  driver to;
  writer value;
  encode(value, std::int64_t{7});
  std::uint64_t made = 0;
  double best = best_of(rounds, [&] {
    to.run(run_kind::fork, 1, [](writer& out, std::uint32_t) { out.varint(Bench::IBench::id::Wait), encode(out, std::int64_t{1}), encode(out, std::int32_t{60'000}); });
    std::uint64_t first = to.at.next_call;
    to.deliver();
    double spent = 0;
    made = 0;
    for (std::uint64_t i = 0; i < 60'000; i += 2'000) {
      to.run(run_kind::result, 2'000, [&](writer& out, std::uint32_t n) { out.varint(Bench::IBench::id::Twice), out.varint(first + i + n), out.raw(value.view()); });
      std::uint64_t before = allocations;
      auto from = timer::now();
      to.deliver();
      spent += nanoseconds(from);
      made += allocations - before;
    }
    return spent / 60'000.0;
  });
  std::printf("call emitted, suspended, resumed, in a loop of one flow: %.1f ns, %.4f allocations\n", best, static_cast<double>(made) / 60'000);
}

void restored(int rounds, std::uint32_t count) {
  auto before = std::make_unique<driver>();
  driver& to = *before;
  writer image;
  for (std::uint32_t i = 0; i < count; i += 1'000) {
    to.run(run_kind::fork, 1'000, [](writer& out, std::uint32_t n) {
      out.varint(Bench::IBench::id::Wait), encode(out, static_cast<std::int64_t>(n)), encode(out, std::int32_t{17});
    });
    to.deliver();
  }
  writer value;
  encode(value, std::int64_t{7});
  for (int k = 0; k < 16; k++) {
    std::uint64_t first = to.at.next_call - count;
    for (std::uint32_t i = 0; i < count; i += 1'000) {
      to.run(run_kind::result, 1'000, [&](writer& out, std::uint32_t n) { out.varint(Bench::IBench::id::Twice), out.varint(first + i + n), out.raw(value.view()); });
      to.deliver();
    }
  }
  auto from = timer::now();
  to.at.write_image(image);
  double written = nanoseconds(from);
  before.reset();
  double best = best_of(rounds, [&] {
    session other(std::make_unique<App>(), [] {});
    writer welcome;
    welcome.u16(1), welcome.string("self"), welcome.u16(0), welcome.string("r0"), welcome.raw(bytes(16)), welcome.u64(1), welcome.u64(1);
    welcome.u32(64 << 20), welcome.u64(0), welcome.u8(1), welcome.varint(0);
    other.take(frame_type::app_welcome, welcome.view());
    // A restore is the first thing that a process does: what earlier rounds have freed is not there.
    malloc_trim(0);
    auto begin = timer::now();
    if (!other.restore(image.view())) std::printf("%s\n", other.end().why.c_str()), std::exit(1);
    return nanoseconds(begin);
  });
  std::printf("%u suspended flows with 16 results each: image of %.1f MiB written in %.0f ms, restored in %.0f ms\n", count,
              static_cast<double>(image.size()) / (1 << 20), written / 1e6, best / 1e6);
}

}  // namespace

int main(int count, char** arguments) {
  int rounds = count > 1 ? std::atoi(arguments[1]) : 7;
  // One figure alone, under a profiler.
  std::string_view only = count > 2 ? arguments[2] : "";
  if (only == "messages") return messages(rounds * 100, 16), 0;
  if (only == "typed") return typed(rounds * 100), 0;
  if (only == "flows") return suspended(rounds * 10, 1'000), 0;
  if (only == "calls") return again_and_again(rounds * 10), 0;
  if (only == "restore") return restored(rounds, 100'000), 0;
  for (std::size_t size : {16, 256, 1'024}) messages(rounds, size);
  typed(rounds);
  suspended(rounds, 1'000);
  again_and_again(std::min(rounds, 5));
  restored(std::min(rounds, 3), 100'000);
}
