// The header of a contract, as `ambrosia generate cpp Ledger.contract.json` writes it: the data types, the proxies and the dispatch of each contract in it.
#pragma once

#include <ambrosia/ambrosia.h>

namespace Ledger {

struct Page_Sale;
struct Page_int32;
struct Sale;

struct Page_Sale {
  std::vector<Ledger::Sale> Items;
  std::int32_t Total = 0;

  static constexpr auto fields = ambrosia::fields(
    "Items", &Page_Sale::Items,
    "Total", &Page_Sale::Total);
};

struct Page_int32 {
  std::vector<std::int32_t> Items;
  std::int32_t Total = 0;

  static constexpr auto fields = ambrosia::fields(
    "Items", &Page_int32::Items,
    "Total", &Page_int32::Total);
};

struct Sale {
  std::int32_t Pieces = 0;
  std::string Article;

  static constexpr auto fields = ambrosia::fields(
    "Pieces", &Sale::Pieces,
    "Article", &Sale::Article);
};

struct ILedger {
  static constexpr std::string_view name = "ILedger";
  static constexpr std::uint64_t contract_hash = 0x218B4F45D40A199A;
  static const std::string_view manifest;

  // The methods by name, for timers (set_timer) and callers by id.
  struct id {
    static constexpr std::uint32_t Find = 1u;
  };

  // What any handler sends: forks, which nobody answers.
  class forks : public ambrosia::sender {
   public:
    using sender::sender;
    void FindFork(const std::string& article, const std::optional<Ledger::Page_int32>& after) const { tell(id::Find, article, after); }
  };

  // What a flow sends besides: calls, whose results it awaits.
  class proxy : public forks {
   public:
    using forks::forks;
    ambrosia::pending<Ledger::Page_Sale> Find(const std::string& article, const std::optional<Ledger::Page_int32>& after) const { return ask<Ledger::Page_Sale>(id::Find, article, after); }
  };

  // What a primary sends from outside the log: impulses.
  class impulses : public ambrosia::impulse_sender {
   public:
    using impulse_sender::impulse_sender;
  };

  template <class A>
  static void dispatch(A& app, ambrosia::incoming& in) {
    switch (in.method) {
      case id::Find: return ambrosia::invoke<Ledger::Page_Sale(std::string, std::optional<Ledger::Page_int32>)>(in, app, &A::Find, "", "f6");
      default: return;
    }
  }
};

inline constexpr std::string_view ILedger::manifest =
    R"json({"format":1,"assembly":"Ledger","contracts":[{"name":"ILedger","namespace":"Ledger","methods":[{"name":"Find","id":1,"pa)json"
    R"json(rameters":[{"name":"article","type":"text"},{"name":"after","type":"data<Ledger.Page<int32>>?","optional":true,"default")json"
    R"json(:"f6"}],"result":"data<Ledger.Page<data<Ledger.Sale>>>"}]}],"data":[{"name":"Ledger.Page<data<Ledger.Sale>>","fields":[{)json"
    R"json("name":"Items","type":"list<data<Ledger.Sale>>"},{"name":"Total","type":"int32"}]},{"name":"Ledger.Page<int32>","fields")json"
    R"json(:[{"name":"Items","type":"list<int32>"},{"name":"Total","type":"int32"}]},{"name":"Ledger.Sale","fields":[{"name":"Piece)json"
    R"json(s","type":"int32"},{"name":"Article","type":"text"}]}],"enums":[],"unions":[]})json";

}  // namespace Ledger
