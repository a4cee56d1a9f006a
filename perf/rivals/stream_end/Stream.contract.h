// The header of a contract, as `ambrosia generate cpp Stream.contract.json` writes it: the data types, the proxies and the dispatch of each contract in it.
#pragma once

#include <ambrosia/ambrosia.h>

namespace Stream {

struct IStreamEnd {
  static constexpr std::string_view name = "IStreamEnd";
  static constexpr std::uint64_t contract_hash = 0x8EFA25BBBD09EF58;
  static const std::string_view manifest;

  // The methods by name, for timers (set_timer) and callers by id.
  struct id {
    static constexpr std::uint32_t Take = 1u;
    static constexpr std::uint32_t GoOn = 2u;
    static constexpr std::uint32_t Begin = 3u;
    static constexpr std::uint32_t Poke = 2473577252u;
    static constexpr std::uint32_t Hold = 2770280528u;
    static constexpr std::uint32_t Stream = 3329688445u;
  };

  // What any handler sends: forks, which nobody answers.
  class forks : public ambrosia::sender {
   public:
    using sender::sender;
    void TakeFork(ambrosia::byte_span message) const { tell_raw(id::Take, message); }
    void GoOnFork() const { tell(id::GoOn); }
    void BeginFork(const std::int32_t& round, const std::int32_t& lane, const std::int64_t& messages) const { tell(id::Begin, round, lane, messages); }
  };

  // What a flow sends besides: calls, whose results it awaits.
  class proxy : public forks {
   public:
    using forks::forks;
    ambrosia::pending<void> Take(ambrosia::byte_span message) const { return ask_raw<void>(id::Take, message); }
    ambrosia::pending<void> GoOn() const { return ask<void>(id::GoOn); }
    ambrosia::pending<void> Begin(const std::int32_t& round, const std::int32_t& lane, const std::int64_t& messages) const { return ask<void>(id::Begin, round, lane, messages); }
  };

  // What a primary sends from outside the log: impulses.
  class impulses : public ambrosia::impulse_sender {
   public:
    using impulse_sender::impulse_sender;
    void Poke(const std::int32_t& number, std::string_view key = {}) const { send(id::Poke, key, number); }
    void Hold(const std::int64_t& bytes, std::string_view key = {}) const { send(id::Hold, key, bytes); }
    void Stream(const std::int32_t& round, const std::int64_t& messages, const std::int32_t& bytes, const std::int32_t& turn, const std::string& lanes, std::string_view key = {}) const { send(id::Stream, key, round, messages, bytes, turn, lanes); }
  };

  template <class A>
  static void dispatch(A& app, ambrosia::incoming& in) {
    switch (in.method) {
      case id::Take: return ambrosia::invoke_raw<void>(in, app, &A::Take);
      case id::GoOn: return ambrosia::invoke<void()>(in, app, &A::GoOn);
      case id::Begin: return ambrosia::invoke<void(std::int32_t, std::int32_t, std::int64_t)>(in, app, &A::Begin);
      case id::Poke: return ambrosia::invoke<void(std::int32_t)>(in, app, &A::Poke);
      case id::Hold: return ambrosia::invoke<void(std::int64_t)>(in, app, &A::Hold);
      case id::Stream: return ambrosia::invoke<void(std::int32_t, std::int64_t, std::int32_t, std::int32_t, std::string)>(in, app, &A::Stream);
      default: return;
    }
  }
};

inline constexpr std::string_view IStreamEnd::manifest =
    R"json({"format":1,"assembly":"Stream","contracts":[{"name":"IStreamEnd","namespace":"Stream","methods":[{"name":"Take","id":1,)json"
    R"json("raw":true,"parameters":[{"name":"message","type":"bytes"}]},{"name":"GoOn","id":2,"parameters":[]},{"name":"Begin","id")json"
    R"json(:3,"parameters":[{"name":"round","type":"int32"},{"name":"lane","type":"int32"},{"name":"messages","type":"int64"}]},{"n)json"
    R"json(ame":"Poke","id":2473577252,"impulse":true,"parameters":[{"name":"number","type":"int32"}]},{"name":"Hold","id":27702805)json"
    R"json(28,"impulse":true,"parameters":[{"name":"bytes","type":"int64"}]},{"name":"Stream","id":3329688445,"impulse":true,"param)json"
    R"json(eters":[{"name":"round","type":"int32"},{"name":"messages","type":"int64"},{"name":"bytes","type":"int32"},{"name":"turn)json"
    R"json(","type":"int32"},{"name":"lanes","type":"text"}]}]}],"data":[],"enums":[],"unions":[]})json";

}  // namespace Stream
