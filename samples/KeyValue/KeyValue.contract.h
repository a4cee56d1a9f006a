// The header of a contract, as `ambrosia generate cpp KeyValue.contract.json` writes it: the data types, the proxies and the dispatch of each contract in it.
#pragma once

#include <ambrosia/ambrosia.h>

namespace KeyValue {

struct IStore {
  static constexpr std::string_view name = "IStore";
  static constexpr std::uint64_t contract_hash = 0x1EC2D0E20FD42F1C;
  static const std::string_view manifest;

  // The methods by name, for timers (set_timer) and callers by id.
  struct id {
    static constexpr std::uint32_t Remove = 2193241681u;
    static constexpr std::uint32_t Count = 2502782264u;
    static constexpr std::uint32_t Look = 2714763882u;
    static constexpr std::uint32_t Get = 2968053683u;
    static constexpr std::uint32_t Put = 3784505506u;
  };

  // What any handler sends: forks, which nobody answers.
  class forks : public ambrosia::sender {
   public:
    using sender::sender;
    void RemoveFork(const std::string& key) const { tell(id::Remove, key); }
    void GetFork(const std::string& key) const { tell(id::Get, key); }
    void PutFork(const std::string& key, const std::string& value) const { tell(id::Put, key, value); }
  };

  // What a flow sends besides: calls, whose results it awaits.
  class proxy : public forks {
   public:
    using forks::forks;
    ambrosia::pending<bool> Remove(const std::string& key) const { return ask<bool>(id::Remove, key); }
    ambrosia::pending<std::optional<std::string>> Get(const std::string& key) const { return ask<std::optional<std::string>>(id::Get, key); }
    ambrosia::pending<std::int64_t> Put(const std::string& key, const std::string& value) const { return ask<std::int64_t>(id::Put, key, value); }
  };

  // What a primary sends from outside the log: impulses.
  class impulses : public ambrosia::impulse_sender {
   public:
    using impulse_sender::impulse_sender;
  };

  template <class A>
  static void dispatch(A& app, ambrosia::incoming& in) {
    switch (in.method) {
      case id::Remove: return ambrosia::invoke<bool(std::string)>(in, app, &A::Remove);
      case id::Count: return ambrosia::invoke_query<std::int64_t()>(in, app, &A::Count);
      case id::Look: return ambrosia::invoke_query<std::optional<std::string>(std::string)>(in, app, &A::Look);
      case id::Get: return ambrosia::invoke<std::optional<std::string>(std::string)>(in, app, &A::Get);
      case id::Put: return ambrosia::invoke<std::int64_t(std::string, std::string)>(in, app, &A::Put);
      default: return;
    }
  }
};

struct IWriter {
  static constexpr std::string_view name = "IWriter";
  static constexpr std::uint64_t contract_hash = 0xE6D4E91EF14D8F57;
  static const std::string_view manifest;

  // The methods by name, for timers (set_timer) and callers by id.
  struct id {
    static constexpr std::uint32_t Write = 2403228266u;
  };

  // What any handler sends: forks, which nobody answers.
  class forks : public ambrosia::sender {
   public:
    using sender::sender;
    void WriteFork(const std::int64_t& from) const { tell(id::Write, from); }
  };

  // What a flow sends besides: calls, whose results it awaits.
  class proxy : public forks {
   public:
    using forks::forks;
    ambrosia::pending<void> Write(const std::int64_t& from) const { return ask<void>(id::Write, from); }
  };

  // What a primary sends from outside the log: impulses.
  class impulses : public ambrosia::impulse_sender {
   public:
    using impulse_sender::impulse_sender;
  };

  template <class A>
  static void dispatch(A& app, ambrosia::incoming& in) {
    switch (in.method) {
      case id::Write: return ambrosia::invoke<void(std::int64_t)>(in, app, &A::Write);
      default: return;
    }
  }
};

inline constexpr std::string_view IStore::manifest =
    R"json({"format":1,"assembly":"KeyValue","contracts":[{"name":"IStore","namespace":"KeyValue","methods":[{"name":"Remove","id":)json"
    R"json(2193241681,"parameters":[{"name":"key","type":"text"}],"result":"bool"},{"name":"Count","id":2502782264,"query":true,"pa)json"
    R"json(rameters":[],"result":"int64"},{"name":"Look","id":2714763882,"query":true,"parameters":[{"name":"key","type":"text"}],")json"
    R"json(result":"text?"},{"name":"Get","id":2968053683,"parameters":[{"name":"key","type":"text"}],"result":"text?"},{"name":"Pu)json"
    R"json(t","id":3784505506,"parameters":[{"name":"key","type":"text"},{"name":"value","type":"text"}],"result":"int64"}]},{"name)json"
    R"json(":"IWriter","namespace":"KeyValue","methods":[{"name":"Write","id":2403228266,"parameters":[{"name":"from","type":"int64)json"
    R"json("}]}]}],"data":[],"enums":[],"unions":[]})json";

inline constexpr std::string_view IWriter::manifest =
    R"json({"format":1,"assembly":"KeyValue","contracts":[{"name":"IStore","namespace":"KeyValue","methods":[{"name":"Remove","id":)json"
    R"json(2193241681,"parameters":[{"name":"key","type":"text"}],"result":"bool"},{"name":"Count","id":2502782264,"query":true,"pa)json"
    R"json(rameters":[],"result":"int64"},{"name":"Look","id":2714763882,"query":true,"parameters":[{"name":"key","type":"text"}],")json"
    R"json(result":"text?"},{"name":"Get","id":2968053683,"parameters":[{"name":"key","type":"text"}],"result":"text?"},{"name":"Pu)json"
    R"json(t","id":3784505506,"parameters":[{"name":"key","type":"text"},{"name":"value","type":"text"}],"result":"int64"}]},{"name)json"
    R"json(":"IWriter","namespace":"KeyValue","methods":[{"name":"Write","id":2403228266,"parameters":[{"name":"from","type":"int64)json"
    R"json("}]}]}],"data":[],"enums":[],"unions":[]})json";

}  // namespace KeyValue
