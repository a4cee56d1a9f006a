// What must not compile. With -DCASE=n one mistake is made; 0 makes none and must compile. `suite` looks for the sentence of each case.
#include <coroutine>
#include <unordered_map>

#include "../Counter.contract.h"

struct State {
  std::map<std::string, std::int64_t> balance;
  std::int64_t moved = 0;
#if CASE == 6
  std::unordered_map<std::string, std::int64_t> hashed;
  static constexpr auto fields = ambrosia::fields("balance", &State::balance, "moved", &State::moved, "hashed", &State::hashed);
#elif CASE == 7
  static constexpr auto fields = ambrosia::fields("balance", &State::balance);
#elif CASE == 8
  std::int64_t* pointer = nullptr;
  static constexpr auto fields = ambrosia::fields("balance", &State::balance, "moved", &State::moved, "pointer", &State::pointer);
#elif CASE == 11
  std::optional<std::string> forgotten;
  static constexpr auto fields = ambrosia::fields("balance", &State::balance, "moved", &State::moved);
#else
  static constexpr auto fields = ambrosia::fields("balance", &State::balance, "moved", &State::moved);
#endif
};

class Bank : public ambrosia::immortal<Bank, State, ambrosia::serves<Counter::ICounter>> {
 public:
  using contract = Counter::ICounter;

  void Count(std::int64_t number) { state().moved += number; }
#if CASE == 9
  void Twice(std::int64_t number) { get<contract>("bank2").Twice(number); }
#else
  std::int64_t Twice(std::int64_t number) { return 2 * number; }
#endif
#if CASE == 10
  std::int64_t Sum() const {
    self<contract>().CountFork(1);
    return state().moved;
  }
#else
  std::int64_t Sum() const { return state().moved; }
#endif

#if CASE == 1
  static ambrosia::flow<void> Work(ambrosia::context<Bank>, std::int32_t, std::int64_t) { co_await std::suspend_always(); }
#elif CASE == 2
  static ambrosia::flow<void> Work(ambrosia::context<Bank> at, std::int32_t, std::int64_t number) {
    auto& balance = at.step([](State& s) -> std::map<std::string, std::int64_t>& { return s.balance; });
    balance["x"] = co_await at.get<contract>("bank2").Twice(number);
  }
#elif CASE == 3
  static ambrosia::flow<void> Work(ambrosia::context<Bank> at, std::int32_t, const std::int64_t& number) { co_await at.get<contract>("bank2").Twice(number); }
#elif CASE == 4
  ambrosia::flow<void> Work(std::int32_t, std::int64_t number) {
    state().moved += number;
    co_return;
  }
#elif CASE == 5
  static ambrosia::flow<void> Work(ambrosia::context<Bank> at, std::string_view, std::int64_t number) { co_await at.get<contract>("bank2").Twice(number); }
#else
  static ambrosia::flow<void> Work(ambrosia::context<Bank> at, std::int32_t, std::int64_t number) {
    std::int64_t twice = co_await at.get<contract>("bank2").Twice(number);
    at.step([&](State& s) { s.moved += twice; });
  }
#endif
};

int main() { return ambrosia::run<Bank>(); }
