// The header of a contract, as `ambrosia generate cpp Bench.contract.json` writes it: the data types, the proxies and the dispatch of each contract in it.
#pragma once

#include <ambrosia/ambrosia.h>

namespace Bench {

struct IBench {
  static constexpr std::string_view name = "IBench";
  static constexpr std::uint64_t contract_hash = 0xB91EE36BA7AC6215;
  static const std::string_view manifest;

  // The methods by name, for timers (set_timer) and callers by id.
  struct id {
    static constexpr std::uint32_t Raw = 1u;
    static constexpr std::uint32_t Typed = 2u;
    static constexpr std::uint32_t Twice = 3u;
    static constexpr std::uint32_t Wait = 4u;
  };

  // What any handler sends: forks, which nobody answers.
  class forks : public ambrosia::sender {
   public:
    using sender::sender;
    void RawFork(ambrosia::byte_span content) const { tell_raw(id::Raw, content); }
    void TypedFork(const std::string& account, const std::int64_t& cents, const std::uint64_t& number) const { tell(id::Typed, account, cents, number); }
    void TwiceFork(const std::int64_t& number) const { tell(id::Twice, number); }
    void WaitFork(const std::int64_t& number, const std::int32_t& times) const { tell(id::Wait, number, times); }
  };

  // What a flow sends besides: calls, whose results it awaits.
  class proxy : public forks {
   public:
    using forks::forks;
    ambrosia::pending<void> Raw(ambrosia::byte_span content) const { return ask_raw<void>(id::Raw, content); }
    ambrosia::pending<void> Typed(const std::string& account, const std::int64_t& cents, const std::uint64_t& number) const { return ask<void>(id::Typed, account, cents, number); }
    ambrosia::pending<std::int64_t> Twice(const std::int64_t& number) const { return ask<std::int64_t>(id::Twice, number); }
    ambrosia::pending<void> Wait(const std::int64_t& number, const std::int32_t& times) const { return ask<void>(id::Wait, number, times); }
  };

  // What a primary sends from outside the log: impulses.
  class impulses : public ambrosia::impulse_sender {
   public:
    using impulse_sender::impulse_sender;
  };

  template <class A>
  static void dispatch(A& app, ambrosia::incoming& in) {
    switch (in.method) {
      case id::Raw: return ambrosia::invoke_raw<void>(in, app, &A::Raw);
      case id::Typed: return ambrosia::invoke<void(std::string, std::int64_t, std::uint64_t)>(in, app, &A::Typed);
      case id::Twice: return ambrosia::invoke<std::int64_t(std::int64_t)>(in, app, &A::Twice);
      case id::Wait: return ambrosia::invoke<void(std::int64_t, std::int32_t)>(in, app, &A::Wait);
      default: return;
    }
  }
};

inline constexpr std::string_view IBench::manifest =
    R"json({"format":1,"assembly":"Bench","contracts":[{"name":"IBench","namespace":"Bench","methods":[{"name":"Raw","id":1,"raw":t)json"
    R"json(rue,"parameters":[{"name":"content","type":"bytes"}]},{"name":"Typed","id":2,"parameters":[{"name":"account","type":"tex)json"
    R"json(t"},{"name":"cents","type":"int64"},{"name":"number","type":"uint64"}]},{"name":"Twice","id":3,"parameters":[{"name":"nu)json"
    R"json(mber","type":"int64"}],"result":"int64"},{"name":"Wait","id":4,"parameters":[{"name":"number","type":"int64"},{"name":"t)json"
    R"json(imes","type":"int32"}]}]}],"data":[],"enums":[],"unions":[]})json";

}  // namespace Bench
