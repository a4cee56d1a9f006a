// The header of a contract, as `ambrosia generate cpp Vectors.contract.json` writes it: the data types, the proxies and the dispatch of each contract in it.
#pragma once

#include <ambrosia/ambrosia.h>

namespace System {

enum class DayOfWeek : std::int32_t {
  Sunday = 0,
  Monday = 1,
  Tuesday = 2,
  Wednesday = 3,
  Thursday = 4,
  Friday = 5,
  Saturday = 6,
};

}  // namespace System

namespace Vectors {

enum class Colour : std::uint8_t {
  Red = 0,
  Green = 5,
  Blue = 6,
  Lime = 5,
};

enum class Depth : std::int64_t {
  Least = -9223372036854775807 - 1,
  Most = 9223372036854775807,
};

struct Card;
struct Cash;
struct Leaf;
struct Order;
struct Place;
struct Point;
struct Reals;
struct Sum;
struct Times;
struct Tree;
struct Words;

struct Formula : ambrosia::one_of<Formula> {
  using one_of::one_of;
  static constexpr std::string_view name = "Vectors.Formula";
  using cases = ambrosia::union_cases<ambrosia::union_case<1, Leaf>, ambrosia::union_case<2, Sum>>;
};

struct IPayment : ambrosia::one_of<IPayment> {
  using one_of::one_of;
  static constexpr std::string_view name = "Vectors.IPayment";
  using cases = ambrosia::union_cases<ambrosia::union_case<0, Card>, ambrosia::union_case<4, Cash>>;
};

struct Card {
  std::string Number;

  static constexpr auto fields = ambrosia::fields(
    "Number", &Card::Number);
};

struct Cash {
  std::int64_t Cents = 0;

  static constexpr auto fields = ambrosia::fields(
    1, &Cash::Cents);
};

struct Leaf {
  std::int32_t Value = 0;

  static constexpr auto fields = ambrosia::fields(
    "Value", &Leaf::Value);
};

struct Order {
  std::optional<Vectors::IPayment> Tip;
  Vectors::IPayment Paid{};
  ambrosia::ordered_map<std::string, std::optional<Vectors::Formula>> Formulas;

  static constexpr auto fields = ambrosia::fields(
    "Tip", &Order::Tip,
    "Paid", &Order::Paid,
    "Formulas", &Order::Formulas);
};

struct Place {
  ambrosia::guid Id;
  std::int16_t Row = 0;
  std::optional<Vectors::Colour> Tint;

  static constexpr auto fields = ambrosia::fields(
    "Id", &Place::Id,
    "Row", &Place::Row,
    "Tint", &Place::Tint);
};

struct Point {
  std::int32_t Y = 0;
  std::int32_t X = 0;

  static constexpr auto fields = ambrosia::fields(
    1, &Point::Y,
    "X", &Point::X);
};

struct Reals {
  ambrosia::decimal Price;
  double Double = 0;
  float Single = 0;

  static constexpr auto fields = ambrosia::fields(
    "Price", &Reals::Price,
    "Double", &Reals::Double,
    "Single", &Reals::Single);
};

struct Sum {
  Vectors::Formula Left{};
  std::optional<Vectors::Formula> Right;

  static constexpr auto fields = ambrosia::fields(
    "Left", &Sum::Left,
    "Right", &Sum::Right);
};

struct Times {
  ambrosia::time_of_day At;
  ambrosia::date Day;
  ambrosia::timespan Span;
  ambrosia::datetime When;
  ambrosia::datetimeoffset There;

  static constexpr auto fields = ambrosia::fields(
    "At", &Times::At,
    "Day", &Times::Day,
    "Span", &Times::Span,
    "When", &Times::When,
    "There", &Times::There);
};

struct Tree {
  std::tuple<std::int32_t, std::optional<std::string>> Pair;
  ambrosia::ordered_map<std::string, std::int32_t> Tags;
  Vectors::Colour Colour{};
  std::vector<Vectors::Tree> Children;

  static constexpr auto fields = ambrosia::fields(
    "Pair", &Tree::Pair,
    "Tags", &Tree::Tags,
    "Colour", &Tree::Colour,
    "Children", &Tree::Children);
};

struct Words {
  std::string Text;
  std::optional<std::string> Maybe;
  char16_t Letter = 0;
  ambrosia::bytes Content;

  static constexpr auto fields = ambrosia::fields(
    "Text", &Words::Text,
    "Maybe", &Words::Maybe,
    "Letter", &Words::Letter,
    "Content", &Words::Content);
};

struct IVectors {
  static constexpr std::string_view name = "IVectors";
  static constexpr std::uint64_t contract_hash = 0xFC2B50A5BC4D62FE;
  static const std::string_view manifest;

  // The methods by name, for timers (set_timer) and callers by id.
  struct id {
    static constexpr std::uint32_t Numbers = 1u;
    static constexpr std::uint32_t Reals = 2u;
    static constexpr std::uint32_t Texts = 3u;
    static constexpr std::uint32_t Times = 4u;
    static constexpr std::uint32_t Others = 5u;
    static constexpr std::uint32_t Pay = 6u;
    static constexpr std::uint32_t Where = 2555341409u;
    static constexpr std::uint32_t Read = 2604522658u;
    static constexpr std::uint32_t Input = 4274508878u;
  };

  // What any handler sends: forks, which nobody answers.
  class forks : public ambrosia::sender {
   public:
    using sender::sender;
    void NumbersFork(const bool& a, const std::int8_t& b, const std::uint16_t& c, const std::int64_t& d, const std::uint64_t& e, const char16_t& f, const std::optional<std::int32_t>& g, const std::uint32_t& h) const { tell(id::Numbers, a, b, c, d, e, f, g, h); }
    void RealsFork(const double& a, const double& b, const double& c, const float& d, const double& e, const double& f, const float& g, const double& h, const float& i, const double& j, const ambrosia::decimal& k, const std::optional<ambrosia::decimal>& l) const { tell(id::Reals, a, b, c, d, e, f, g, h, i, j, k, l); }
    void TextsFork(const std::string& a, const std::optional<std::string>& b, const std::optional<ambrosia::bytes>& c, const std::int32_t& d, const ambrosia::bytes& e, const std::string& f) const { tell(id::Texts, a, b, c, d, e, f); }
    void TimesFork(const ambrosia::datetime& a, const ambrosia::datetimeoffset& b, const ambrosia::timespan& c, const ambrosia::date& d, const ambrosia::time_of_day& e, const ambrosia::guid& f) const { tell(id::Times, a, b, c, d, e, f); }
    void OthersFork(const Vectors::Colour& a, const std::optional<Vectors::Depth>& b, const Vectors::Place& c, const std::tuple<std::int32_t, std::optional<ambrosia::guid>>& d, const std::tuple<std::int32_t, std::string>& e, const System::DayOfWeek& f) const { tell(id::Others, a, b, c, d, e, f); }
    void PayFork(const Vectors::IPayment& with, const std::vector<std::optional<Vectors::Order>>& orders, const std::optional<Vectors::IPayment>& tip) const { tell(id::Pay, with, orders, tip); }
    void ReadFork(const Vectors::Words& words, const std::optional<Vectors::Reals>& reals, const Vectors::Times& times, const std::optional<ambrosia::ordered_map<Vectors::Depth, Vectors::Place>>& places) const { tell(id::Read, words, reals, times, places); }
  };

  // What a flow sends besides: calls, whose results it awaits.
  class proxy : public forks {
   public:
    using forks::forks;
    ambrosia::pending<void> Numbers(const bool& a, const std::int8_t& b, const std::uint16_t& c, const std::int64_t& d, const std::uint64_t& e, const char16_t& f, const std::optional<std::int32_t>& g, const std::uint32_t& h) const { return ask<void>(id::Numbers, a, b, c, d, e, f, g, h); }
    ambrosia::pending<void> Reals(const double& a, const double& b, const double& c, const float& d, const double& e, const double& f, const float& g, const double& h, const float& i, const double& j, const ambrosia::decimal& k, const std::optional<ambrosia::decimal>& l) const { return ask<void>(id::Reals, a, b, c, d, e, f, g, h, i, j, k, l); }
    ambrosia::pending<void> Texts(const std::string& a, const std::optional<std::string>& b, const std::optional<ambrosia::bytes>& c, const std::int32_t& d, const ambrosia::bytes& e, const std::string& f) const { return ask<void>(id::Texts, a, b, c, d, e, f); }
    ambrosia::pending<void> Times(const ambrosia::datetime& a, const ambrosia::datetimeoffset& b, const ambrosia::timespan& c, const ambrosia::date& d, const ambrosia::time_of_day& e, const ambrosia::guid& f) const { return ask<void>(id::Times, a, b, c, d, e, f); }
    ambrosia::pending<void> Others(const Vectors::Colour& a, const std::optional<Vectors::Depth>& b, const Vectors::Place& c, const std::tuple<std::int32_t, std::optional<ambrosia::guid>>& d, const std::tuple<std::int32_t, std::string>& e, const System::DayOfWeek& f) const { return ask<void>(id::Others, a, b, c, d, e, f); }
    ambrosia::pending<std::optional<Vectors::Formula>> Pay(const Vectors::IPayment& with, const std::vector<std::optional<Vectors::Order>>& orders, const std::optional<Vectors::IPayment>& tip) const { return ask<std::optional<Vectors::Formula>>(id::Pay, with, orders, tip); }
    ambrosia::pending<ambrosia::bytes, true> Read(const Vectors::Words& words, const std::optional<Vectors::Reals>& reals, const Vectors::Times& times, const std::optional<ambrosia::ordered_map<Vectors::Depth, Vectors::Place>>& places) const { return ask<ambrosia::bytes, true>(id::Read, words, reals, times, places); }
  };

  // What a primary sends from outside the log: impulses.
  class impulses : public ambrosia::impulse_sender {
   public:
    using impulse_sender::impulse_sender;
    void Input(ambrosia::byte_span content, std::string_view key = {}) const { send_raw(id::Input, key, content); }
  };

  template <class A>
  static void dispatch(A& app, ambrosia::incoming& in) {
    switch (in.method) {
      case id::Numbers: return ambrosia::invoke<void(bool, std::int8_t, std::uint16_t, std::int64_t, std::uint64_t, char16_t, std::optional<std::int32_t>, std::uint32_t)>(in, app, &A::Numbers, "f5", "387f", "19ffff", "3b7fffffffffffffff", "1bffffffffffffffff", "18e9", "1818", "1a00010000");
      case id::Reals: return ambrosia::invoke<void(double, double, double, float, double, double, float, double, float, double, ambrosia::decimal, std::optional<ambrosia::decimal>)>(in, app, &A::Reals, "f93e00", "f9fe00", "fb7e37e43c8800759c", "f9fc00", "f98000", "f90001", "fa7f7fffff", "fb3ff199999999999a", "fa00000001", "fb0000000000000001", "84189600003a7ffdffff", "f6");
      case id::Texts: return ambrosia::invoke<void(std::string, std::optional<std::string>, std::optional<ambrosia::bytes>, std::int32_t, ambrosia::bytes, std::string)>(in, app, &A::Texts, "6468c3a90a", "f6", "f6", "00", "40", "");
      case id::Times: return ambrosia::invoke<void(ambrosia::datetime, ambrosia::datetimeoffset, ambrosia::timespan, ambrosia::date, ambrosia::time_of_day, ambrosia::guid)>(in, app, &A::Times, "820000", "820000", "00", "00", "00", "d8255000000000000000000000000000000000");
      case id::Others: return ambrosia::invoke<void(Vectors::Colour, std::optional<Vectors::Depth>, Vectors::Place, std::tuple<std::int32_t, std::optional<ambrosia::guid>>, std::tuple<std::int32_t, std::string>, System::DayOfWeek)>(in, app, &A::Others, "05", "3b7fffffffffffffff", "a3624964d825500000000000000000000000000000000063526f77006454696e74f6", "8200f6", "", "05");
      case id::Pay: return ambrosia::invoke<std::optional<Vectors::Formula>(Vectors::IPayment, std::vector<std::optional<Vectors::Order>>, std::optional<Vectors::IPayment>)>(in, app, &A::Pay, "", "", "f6");
      case id::Where: return ambrosia::invoke_query<Vectors::Point(Vectors::Tree, std::vector<Vectors::Colour>, std::int32_t)>(in, app, &A::Where);
      case id::Read: return ambrosia::invoke<ambrosia::bytes(Vectors::Words, std::optional<Vectors::Reals>, Vectors::Times, std::optional<ambrosia::ordered_map<Vectors::Depth, Vectors::Place>>), true>(in, app, &A::Read);
      case id::Input: return ambrosia::invoke_raw<void>(in, app, &A::Input);
      default: return;
    }
  }
};

inline constexpr std::string_view IVectors::manifest =
    R"json({"format":1,"assembly":"Vectors","contracts":[{"name":"IVectors","namespace":"Vectors","methods":[{"name":"Numbers","id")json"
    R"json(:1,"parameters":[{"name":"a","type":"bool","optional":true,"default":"f5"},{"name":"b","type":"int8","optional":true,"de)json"
    R"json(fault":"387f"},{"name":"c","type":"uint16","optional":true,"default":"19ffff"},{"name":"d","type":"int64","optional":tru)json"
    R"json(e,"default":"3b7fffffffffffffff"},{"name":"e","type":"uint64","optional":true,"default":"1bffffffffffffffff"},{"name":"f)json"
    R"json(","type":"char","optional":true,"default":"18e9"},{"name":"g","type":"int32?","optional":true,"default":"1818"},{"name":)json"
    R"json("h","type":"uint32","optional":true,"default":"1a00010000"}]},{"name":"Reals","id":2,"parameters":[{"name":"a","type":"f)json"
    R"json(loat64","optional":true,"default":"f93e00"},{"name":"b","type":"float64","optional":true,"default":"f9fe00"},{"name":"c")json"
    R"json(,"type":"float64","optional":true,"default":"fb7e37e43c8800759c"},{"name":"d","type":"float32","optional":true,"default")json"
    R"json(:"f9fc00"},{"name":"e","type":"float64","optional":true,"default":"f98000"},{"name":"f","type":"float64","optional":true)json"
    R"json(,"default":"f90001"},{"name":"g","type":"float32","optional":true,"default":"fa7f7fffff"},{"name":"h","type":"float64",")json"
    R"json(optional":true,"default":"fb3ff199999999999a"},{"name":"i","type":"float32","optional":true,"default":"fa00000001"},{"na)json"
    R"json(me":"j","type":"float64","optional":true,"default":"fb0000000000000001"},{"name":"k","type":"decimal","optional":true,"d)json"
    R"json(efault":"84189600003a7ffdffff"},{"name":"l","type":"decimal?","optional":true,"default":"f6"}]},{"name":"Texts","id":3,")json"
    R"json(parameters":[{"name":"a","type":"text","optional":true,"default":"6468c3a90a"},{"name":"b","type":"text?","optional":tru)json"
    R"json(e,"default":"f6"},{"name":"c","type":"bytes?","optional":true,"default":"f6"},{"name":"d","type":"int32","optional":true)json"
    R"json(,"default":"00"},{"name":"e","type":"bytes","optional":true,"default":"40"},{"name":"f","type":"text","optional":true}]})json"
    R"json(,{"name":"Times","id":4,"parameters":[{"name":"a","type":"datetime","optional":true,"default":"820000"},{"name":"b","typ)json"
    R"json(e":"datetimeoffset","optional":true,"default":"820000"},{"name":"c","type":"timespan","optional":true,"default":"00"},{")json"
    R"json(name":"d","type":"date","optional":true,"default":"00"},{"name":"e","type":"time","optional":true,"default":"00"},{"name)json"
    R"json(":"f","type":"guid","optional":true,"default":"d8255000000000000000000000000000000000"}]},{"name":"Others","id":5,"param)json"
    R"json(eters":[{"name":"a","type":"enum<Vectors.Colour,uint8>","optional":true,"default":"05"},{"name":"b","type":"enum<Vectors)json"
    R"json(.Depth,int64>?","optional":true,"default":"3b7fffffffffffffff"},{"name":"c","type":"data<Vectors.Place>","optional":true)json"
    R"json(,"default":"a3624964d825500000000000000000000000000000000063526f77006454696e74f6"},{"name":"d","type":"tuple<int32,guid?)json"
    R"json(>","optional":true,"default":"8200f6"},{"name":"e","type":"tuple<int32,text>","optional":true},{"name":"f","type":"enum<)json"
    R"json(System.DayOfWeek,int32>","optional":true,"default":"05"}]},{"name":"Pay","id":6,"parameters":[{"name":"with","type":"uni)json"
    R"json(on<Vectors.IPayment>"},{"name":"orders","type":"list<data<Vectors.Order>?>"},{"name":"tip","type":"union<Vectors.IPaymen)json"
    R"json(t>?","optional":true,"default":"f6"}],"result":"union<Vectors.Formula>?"},{"name":"Where","id":2555341409,"query":true,")json"
    R"json(parameters":[{"name":"tree","type":"data<Vectors.Tree>"},{"name":"colours","type":"list<enum<Vectors.Colour,uint8>>"},{")json"
    R"json(name":"times","type":"int32"}],"result":"data<Vectors.Point>"},{"name":"Read","id":2604522658,"parameters":[{"name":"wor)json"
    R"json(ds","type":"data<Vectors.Words>"},{"name":"reals","type":"data<Vectors.Reals>?"},{"name":"times","type":"data<Vectors.Ti)json"
    R"json(mes>"},{"name":"places","type":"map<enum<Vectors.Depth,int64>,data<Vectors.Place>>?"}],"result":"bytes","rawResult":true)json"
    R"json(},{"name":"Input","id":4274508878,"impulse":true,"raw":true,"parameters":[{"name":"content","type":"bytes"}]}]}],"data":)json"
    R"json([{"name":"Vectors.Card","fields":[{"name":"Number","type":"text"}]},{"name":"Vectors.Cash","fields":[{"name":"Cents","nu)json"
    R"json(mber":1,"type":"int64"}]},{"name":"Vectors.Leaf","fields":[{"name":"Value","type":"int32"}]},{"name":"Vectors.Order","fi)json"
    R"json(elds":[{"name":"Tip","type":"union<Vectors.IPayment>?"},{"name":"Paid","type":"union<Vectors.IPayment>"},{"name":"Formul)json"
    R"json(as","type":"map<text,union<Vectors.Formula>?>"}]},{"name":"Vectors.Place","fields":[{"name":"Id","type":"guid"},{"name":)json"
    R"json("Row","type":"int16"},{"name":"Tint","type":"enum<Vectors.Colour,uint8>?"}]},{"name":"Vectors.Point","fields":[{"name":")json"
    R"json(Y","number":1,"type":"int32"},{"name":"X","type":"int32"}]},{"name":"Vectors.Reals","fields":[{"name":"Price","type":"de)json"
    R"json(cimal"},{"name":"Double","type":"float64"},{"name":"Single","type":"float32"}]},{"name":"Vectors.Sum","fields":[{"name":)json"
    R"json("Left","type":"union<Vectors.Formula>"},{"name":"Right","type":"union<Vectors.Formula>?"}]},{"name":"Vectors.Times","fie)json"
    R"json(lds":[{"name":"At","type":"time"},{"name":"Day","type":"date"},{"name":"Span","type":"timespan"},{"name":"When","type":")json"
    R"json(datetime"},{"name":"There","type":"datetimeoffset"}]},{"name":"Vectors.Tree","fields":[{"name":"Pair","type":"tuple<int3)json"
    R"json(2,text?>"},{"name":"Tags","type":"map<text,int32>"},{"name":"Colour","type":"enum<Vectors.Colour,uint8>"},{"name":"Child)json"
    R"json(ren","type":"list<data<Vectors.Tree>>"}]},{"name":"Vectors.Words","fields":[{"name":"Text","type":"text"},{"name":"Maybe)json"
    R"json(","type":"text?"},{"name":"Letter","type":"char"},{"name":"Content","type":"bytes"}]}],"enums":[{"name":"System.DayOfWee)json"
    R"json(k","type":"int32","members":[{"name":"Sunday","value":0},{"name":"Monday","value":1},{"name":"Tuesday","value":2},{"name)json"
    R"json(":"Wednesday","value":3},{"name":"Thursday","value":4},{"name":"Friday","value":5},{"name":"Saturday","value":6}]},{"nam)json"
    R"json(e":"Vectors.Colour","type":"uint8","members":[{"name":"Red","value":0},{"name":"Green","value":5},{"name":"Blue","value")json"
    R"json(:6},{"name":"Lime","value":5}]},{"name":"Vectors.Depth","type":"int64","members":[{"name":"Least","value":-9223372036854)json"
    R"json(775808},{"name":"Most","value":9223372036854775807}]}],"unions":[{"name":"Vectors.Formula","cases":[{"number":1,"type":")json"
    R"json(data<Vectors.Leaf>"},{"number":2,"type":"data<Vectors.Sum>"}]},{"name":"Vectors.IPayment","cases":[{"number":0,"type":"d)json"
    R"json(ata<Vectors.Card>"},{"number":4,"type":"data<Vectors.Cash>"}]}]})json";

}  // namespace Vectors
