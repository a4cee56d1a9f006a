// The header of a contract, as `ambrosia generate cpp Counter.contract.json` writes it: the data types, the proxies and the dispatch of each contract in it.
#pragma once

#include <ambrosia/ambrosia.h>

namespace Counter {

struct ICounter {
  static constexpr std::string_view name = "ICounter";
  static constexpr std::uint64_t contract_hash = 0x432058C1494F69A3;
  static const std::string_view manifest;

  // The methods by name, for timers (set_timer) and callers by id.
  struct id {
    static constexpr std::uint32_t Work = 2787542247u;
    static constexpr std::uint32_t Twice = 2898799186u;
    static constexpr std::uint32_t Sum = 4007686365u;
    static constexpr std::uint32_t Count = 4197063721u;
  };

  // What any handler sends: forks, which nobody answers.
  class forks : public ambrosia::sender {
   public:
    using sender::sender;
    void WorkFork(const std::int32_t& lane, const std::int64_t& number) const { tell(id::Work, lane, number); }
    void TwiceFork(const std::int64_t& number) const { tell(id::Twice, number); }
    void SumFork() const { tell(id::Sum); }
    void CountFork(const std::int64_t& number) const { tell(id::Count, number); }
  };

  // What a flow sends besides: calls, whose results it awaits.
  class proxy : public forks {
   public:
    using forks::forks;
    ambrosia::pending<void> Work(const std::int32_t& lane, const std::int64_t& number) const { return ask<void>(id::Work, lane, number); }
    ambrosia::pending<std::int64_t> Twice(const std::int64_t& number) const { return ask<std::int64_t>(id::Twice, number); }
    ambrosia::pending<std::int64_t> Sum() const { return ask<std::int64_t>(id::Sum); }
    ambrosia::pending<void> Count(const std::int64_t& number) const { return ask<void>(id::Count, number); }
  };

  // What a primary sends from outside the log: impulses.
  class impulses : public ambrosia::impulse_sender {
   public:
    using impulse_sender::impulse_sender;
  };

  template <class A>
  static void dispatch(A& app, ambrosia::incoming& in) {
    switch (in.method) {
      case id::Work: return ambrosia::invoke<void(std::int32_t, std::int64_t)>(in, app, &A::Work);
      case id::Twice: return ambrosia::invoke<std::int64_t(std::int64_t)>(in, app, &A::Twice);
      case id::Sum: return ambrosia::invoke<std::int64_t()>(in, app, &A::Sum);
      case id::Count: return ambrosia::invoke<void(std::int64_t)>(in, app, &A::Count);
      default: return;
    }
  }
};

inline constexpr std::string_view ICounter::manifest =
    R"json({"format":1,"assembly":"Counter","contracts":[{"name":"ICounter","namespace":"Counter","methods":[{"name":"Work","id":27)json"
    R"json(87542247,"parameters":[{"name":"lane","type":"int32"},{"name":"number","type":"int64"}]},{"name":"Twice","id":2898799186)json"
    R"json(,"parameters":[{"name":"number","type":"int64"}],"result":"int64"},{"name":"Sum","id":4007686365,"parameters":[],"result)json"
    R"json(":"int64"},{"name":"Count","id":4197063721,"parameters":[{"name":"number","type":"int64"}]}]}],"data":[],"enums":[],"uni)json"
    R"json(ons":[]})json";

}  // namespace Counter
