// The app of the kill test (tests/kill.py): it calls itself in lanes that never rest, and knows what its totals must be. Arguments: the last
// number, and a file that it writes when every lane has come to it.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "Counter.contract.h"

namespace {

constexpr std::int32_t lanes = 6;

struct State {
  std::int64_t counted = 0;           // the last number that Count had: they come in order, once
  std::vector<std::int64_t> done;     // of each lane
  std::int64_t sum = 0;
  static constexpr auto fields = ambrosia::fields("counted", &State::counted, "done", &State::done, "sum", &State::sum);
};

std::int64_t last_number = 1'000;
std::string done_file;

[[noreturn]] void wrong(const char* what, std::int64_t a, std::int64_t b) {
  std::printf("WRONG %s: %lld %lld\n", what, static_cast<long long>(a), static_cast<long long>(b));
  std::fflush(stdout);
  std::_Exit(99);
}

class App : public ambrosia::immortal<App, State, ambrosia::serves<Counter::ICounter>> {
 public:
  using contract = Counter::ICounter;

  void first_start() override {
    state().done.resize(lanes);
    self<contract>().CountFork(1);
    for (std::int32_t lane = 0; lane < lanes; lane++) self<contract>().WorkFork(lane, 1);
  }

  void Count(std::int64_t number) {
    if (state().counted != number - 1) wrong("order", state().counted, number);
    state().counted = number;
    if (number < last_number * 10) self<contract>().CountFork(number + 1);
    finish();
  }
  std::int64_t Twice(std::int64_t number) { return 2 * number; }
  std::int64_t Sum() { return state().sum; }

  static ambrosia::flow<void> Work(ambrosia::context<App> at, std::int32_t lane, std::int64_t number) {
    auto own = at.get<contract>(at.name());
    auto first = own.Twice(number), second = own.Twice(number + 1);
    auto outcomes = co_await at.all(first, second);
    std::int64_t sum = *std::get<0>(outcomes) + *std::get<1>(outcomes);
    if (number % 50 == lane) co_await at.delay(std::chrono::milliseconds(2));
    if (number % 100 == lane) sum += co_await at.task("nothing", [](std::int64_t of) { return of - of; }, number);
    for (int i = 0; i < lane % 3; i++) sum += co_await own.Twice(0);
    at.step([&](State& s) {
      auto& done = s.done[static_cast<std::size_t>(lane)];
      if (done != number - 1) wrong("lane", done, number);
      done = number;
      s.sum += sum;
    });
    if (number < last_number) own.WorkFork(lane, number + 1);
    at.step([&](State& s) { finish(s); });
  }

 private:
  static void finish(const State& s) {
    for (std::int64_t done : s.done) {
      if (done != last_number) return;
    }
    if (s.counted != last_number * 10) return;
    // Each lane has added 2n + 2(n + 1) for n from 1 to the last number.
    std::int64_t expected = lanes * (2 * last_number * (last_number + 1) + 2 * last_number);
    if (s.sum != expected) wrong("sum", s.sum, expected);
    std::ofstream(done_file) << s.sum << "\n";
  }
  void finish() { finish(state()); }
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  last_number = std::atoll(arguments[1]);
  done_file = arguments[2];
  return ambrosia::run<App>();
}
