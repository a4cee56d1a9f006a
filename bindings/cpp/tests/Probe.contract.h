// The header of a contract, as `ambrosia generate cpp Probe.contract.json` writes it: the data types, the proxies and the dispatch of each contract in it.
#pragma once

#include <ambrosia/ambrosia.h>

namespace Conformance {

enum class Colour : std::uint8_t {
  Red = 0,
  Green = 5,
  Blue = 6,
};

enum class Operation : std::uint8_t {
  Say = 0,
  Add = 1,
  Read = 2,
  Fork = 3,
  ForkDo = 4,
  Call = 5,
  Ask = 6,
  Through = 7,
  Throw = 8,
  Delay = 9,
  All = 10,
  Any = 11,
  Within = 12,
  Task = 13,
  Guid = 14,
  Random = 15,
  Now = 16,
  Checkpoint = 17,
  Pulse = 18,
  Again = 19,
  Pass = 20,
  Every = 21,
  Stop = 22,
};

struct Circle;
struct Everything;
struct Point;
struct Square;
struct Step;

struct IShape : ambrosia::one_of<IShape> {
  using one_of::one_of;
  static constexpr std::string_view name = "Conformance.IShape";
  using cases = ambrosia::union_cases<ambrosia::union_case<1, Circle>, ambrosia::union_case<2, Square>>;
};

struct Circle {
  std::int64_t Radius = 0;

  static constexpr auto fields = ambrosia::fields(
    1, &Circle::Radius);
};

struct Everything {
  ambrosia::datetime At;
  ambrosia::guid Id;
  ambrosia::date Day;
  std::int32_t Int = 0;
  ambrosia::bytes Blob;
  std::uint8_t Byte = 0;
  bool Flag = false;
  std::uint64_t Huge = 0;
  std::int64_t Long = 0;
  std::tuple<std::int32_t, std::string> Pair;
  ambrosia::timespan Span;
  std::uint16_t Word = 0;
  ambrosia::time_of_day Clock;
  std::optional<std::int32_t> Maybe;
  ambrosia::decimal Money;
  ambrosia::ordered_map<std::string, std::int32_t> Names;
  Conformance::IShape Shape{};
  std::int16_t Short = 0;
  std::int8_t Small = 0;
  ambrosia::datetimeoffset There;
  std::string Words;
  Conformance::Colour Colour{};
  double Double = 0;
  char16_t Letter = 0;
  std::vector<Conformance::Point> Points;
  float Single = 0;
  std::optional<std::string> Nothing;
  std::uint32_t Unsigned = 0;

  static constexpr auto fields = ambrosia::fields(
    "At", &Everything::At,
    "Id", &Everything::Id,
    "Day", &Everything::Day,
    "Int", &Everything::Int,
    "Blob", &Everything::Blob,
    "Byte", &Everything::Byte,
    "Flag", &Everything::Flag,
    "Huge", &Everything::Huge,
    "Long", &Everything::Long,
    "Pair", &Everything::Pair,
    "Span", &Everything::Span,
    "Word", &Everything::Word,
    "Clock", &Everything::Clock,
    "Maybe", &Everything::Maybe,
    "Money", &Everything::Money,
    "Names", &Everything::Names,
    "Shape", &Everything::Shape,
    "Short", &Everything::Short,
    "Small", &Everything::Small,
    "There", &Everything::There,
    "Words", &Everything::Words,
    "Colour", &Everything::Colour,
    "Double", &Everything::Double,
    "Letter", &Everything::Letter,
    "Points", &Everything::Points,
    "Single", &Everything::Single,
    "Nothing", &Everything::Nothing,
    "Unsigned", &Everything::Unsigned);
};

struct Point {
  std::int32_t X = 0;
  std::int32_t Y = 0;

  static constexpr auto fields = ambrosia::fields(
    1, &Point::X,
    2, &Point::Y);
};

struct Square {
  std::int64_t Side = 0;

  static constexpr auto fields = ambrosia::fields(
    1, &Square::Side);
};

struct Step {
  Conformance::Operation Op{};
  std::string To;
  std::int64_t Number = 0;
  std::string Text;
  std::vector<Conformance::Step> Steps;

  static constexpr auto fields = ambrosia::fields(
    1, &Step::Op,
    2, &Step::To,
    3, &Step::Number,
    4, &Step::Text,
    5, &Step::Steps);
};

struct IProbe {
  static constexpr std::string_view name = "IProbe";
  static constexpr std::uint64_t contract_hash = 0x842D2AF4687C5E58;
  static const std::string_view manifest;

  // The methods by name, for timers (set_timer) and callers by id.
  struct id {
    static constexpr std::uint32_t Add = 1u;
    static constexpr std::uint32_t Take = 2u;
    static constexpr std::uint32_t Do = 3u;
    static constexpr std::uint32_t Tick = 7u;
    static constexpr std::uint32_t Grow = 2529060067u;
    static constexpr std::uint32_t Defaults = 2811051634u;
    static constexpr std::uint32_t Mirror = 2948313803u;
    static constexpr std::uint32_t Refuse = 3010382004u;
    static constexpr std::uint32_t Measure = 3068568104u;
    static constexpr std::uint32_t Remember = 3109439007u;
    static constexpr std::uint32_t Send = 3123180854u;
    static constexpr std::uint32_t Total = 3148426818u;
    static constexpr std::uint32_t Peek = 3285655095u;
    static constexpr std::uint32_t Ship = 3477789746u;
    static constexpr std::uint32_t Echo = 3855347289u;
    static constexpr std::uint32_t SendMany = 3992396777u;
    static constexpr std::uint32_t Recall = 4077637541u;
    static constexpr std::uint32_t Trail = 4196172404u;
  };

  // What any handler sends: forks, which nobody answers.
  class forks : public ambrosia::sender {
   public:
    using sender::sender;
    void AddFork(const std::int64_t& amount) const { tell(id::Add, amount); }
    void TakeFork(ambrosia::byte_span content) const { tell_raw(id::Take, content); }
    void DoFork(const std::vector<Conformance::Step>& steps) const { tell(id::Do, steps); }
    void GrowFork(const std::int32_t& size) const { tell(id::Grow, size); }
    void DefaultsFork(const std::int32_t& number, const std::string& word, const std::optional<std::int64_t>& more) const { tell(id::Defaults, number, word, more); }
    void MirrorFork(const Conformance::Everything& value) const { tell(id::Mirror, value); }
    void RefuseFork(const std::string& why) const { tell(id::Refuse, why); }
    void MeasureFork(const Conformance::IShape& shape) const { tell(id::Measure, shape); }
    void RememberFork(const std::string& key) const { tell(id::Remember, key); }
    void SendFork(const std::string& to, const std::int64_t& amount) const { tell(id::Send, to, amount); }
    void TotalFork() const { tell(id::Total); }
    void ShipFork(const std::string& to, const std::int32_t& size) const { tell(id::Ship, to, size); }
    void EchoFork(ambrosia::byte_span content) const { tell_raw(id::Echo, content); }
    void SendManyFork(const std::string& to, const std::int64_t& first, const std::int32_t& count) const { tell(id::SendMany, to, first, count); }
    void RecallFork() const { tell(id::Recall); }
    void TrailFork() const { tell(id::Trail); }
  };

  // What a flow sends besides: calls, whose results it awaits.
  class proxy : public forks {
   public:
    using forks::forks;
    ambrosia::pending<std::int64_t> Add(const std::int64_t& amount) const { return ask<std::int64_t>(id::Add, amount); }
    ambrosia::pending<void> Take(ambrosia::byte_span content) const { return ask_raw<void>(id::Take, content); }
    ambrosia::pending<std::vector<std::string>> Do(const std::vector<Conformance::Step>& steps) const { return ask<std::vector<std::string>>(id::Do, steps); }
    ambrosia::pending<void> Grow(const std::int32_t& size) const { return ask<void>(id::Grow, size); }
    ambrosia::pending<std::string> Defaults(const std::int32_t& number, const std::string& word, const std::optional<std::int64_t>& more) const { return ask<std::string>(id::Defaults, number, word, more); }
    ambrosia::pending<Conformance::Everything> Mirror(const Conformance::Everything& value) const { return ask<Conformance::Everything>(id::Mirror, value); }
    ambrosia::pending<void> Refuse(const std::string& why) const { return ask<void>(id::Refuse, why); }
    ambrosia::pending<std::int64_t> Measure(const Conformance::IShape& shape) const { return ask<std::int64_t>(id::Measure, shape); }
    ambrosia::pending<std::int32_t> Remember(const std::string& key) const { return ask<std::int32_t>(id::Remember, key); }
    ambrosia::pending<void> Send(const std::string& to, const std::int64_t& amount) const { return ask<void>(id::Send, to, amount); }
    ambrosia::pending<std::int64_t> Total() const { return ask<std::int64_t>(id::Total); }
    ambrosia::pending<void> Ship(const std::string& to, const std::int32_t& size) const { return ask<void>(id::Ship, to, size); }
    ambrosia::pending<ambrosia::bytes, true> Echo(ambrosia::byte_span content) const { return ask_raw<ambrosia::bytes, true>(id::Echo, content); }
    ambrosia::pending<void> SendMany(const std::string& to, const std::int64_t& first, const std::int32_t& count) const { return ask<void>(id::SendMany, to, first, count); }
    ambrosia::pending<std::vector<std::string>> Recall() const { return ask<std::vector<std::string>>(id::Recall); }
    ambrosia::pending<std::int64_t> Trail() const { return ask<std::int64_t>(id::Trail); }
  };

  // What a primary sends from outside the log: impulses.
  class impulses : public ambrosia::impulse_sender {
   public:
    using impulse_sender::impulse_sender;
    void Tick(const std::int64_t& amount, std::string_view key = {}) const { send(id::Tick, key, amount); }
  };

  template <class A>
  static void dispatch(A& app, ambrosia::incoming& in) {
    switch (in.method) {
      case id::Add: return ambrosia::invoke<std::int64_t(std::int64_t)>(in, app, &A::Add);
      case id::Take: return ambrosia::invoke_raw<void>(in, app, &A::Take);
      case id::Do: return ambrosia::invoke<std::vector<std::string>(std::vector<Conformance::Step>)>(in, app, &A::Do);
      case id::Tick: return ambrosia::invoke<void(std::int64_t)>(in, app, &A::Tick);
      case id::Grow: return ambrosia::invoke<void(std::int32_t)>(in, app, &A::Grow);
      case id::Defaults: return ambrosia::invoke<std::string(std::int32_t, std::string, std::optional<std::int64_t>)>(in, app, &A::Defaults, "07", "65736576656e", "f6");
      case id::Mirror: return ambrosia::invoke<Conformance::Everything(Conformance::Everything)>(in, app, &A::Mirror);
      case id::Refuse: return ambrosia::invoke<void(std::string)>(in, app, &A::Refuse);
      case id::Measure: return ambrosia::invoke<std::int64_t(Conformance::IShape)>(in, app, &A::Measure);
      case id::Remember: return ambrosia::invoke<std::int32_t(std::string)>(in, app, &A::Remember);
      case id::Send: return ambrosia::invoke<void(std::string, std::int64_t)>(in, app, &A::Send);
      case id::Total: return ambrosia::invoke<std::int64_t()>(in, app, &A::Total);
      case id::Peek: return ambrosia::invoke_query<std::int64_t()>(in, app, &A::Peek);
      case id::Ship: return ambrosia::invoke<void(std::string, std::int32_t)>(in, app, &A::Ship);
      case id::Echo: return ambrosia::invoke_raw<ambrosia::bytes, true>(in, app, &A::Echo);
      case id::SendMany: return ambrosia::invoke<void(std::string, std::int64_t, std::int32_t)>(in, app, &A::SendMany);
      case id::Recall: return ambrosia::invoke<std::vector<std::string>()>(in, app, &A::Recall);
      case id::Trail: return ambrosia::invoke<std::int64_t()>(in, app, &A::Trail);
      default: return;
    }
  }
};

inline constexpr std::string_view IProbe::manifest =
    R"json({"format":1,"assembly":"Probe","contracts":[{"name":"IProbe","namespace":"Conformance","methods":[{"name":"Add","id":1,")json"
    R"json(parameters":[{"name":"amount","type":"int64"}],"result":"int64"},{"name":"Take","id":2,"raw":true,"parameters":[{"name":)json"
    R"json("content","type":"bytes"}]},{"name":"Do","id":3,"parameters":[{"name":"steps","type":"list<data<Conformance.Step>>"}],"r)json"
    R"json(esult":"list<text>"},{"name":"Tick","id":7,"impulse":true,"parameters":[{"name":"amount","type":"int64"}]},{"name":"Grow)json"
    R"json(","id":2529060067,"parameters":[{"name":"size","type":"int32"}]},{"name":"Defaults","id":2811051634,"parameters":[{"name)json"
    R"json(":"number","type":"int32","optional":true,"default":"07"},{"name":"word","type":"text","optional":true,"default":"657365)json"
    R"json(76656e"},{"name":"more","type":"int64?","optional":true,"default":"f6"}],"result":"text"},{"name":"Mirror","id":29483138)json"
    R"json(03,"parameters":[{"name":"value","type":"data<Conformance.Everything>"}],"result":"data<Conformance.Everything>"},{"name)json"
    R"json(":"Refuse","id":3010382004,"parameters":[{"name":"why","type":"text"}]},{"name":"Measure","id":3068568104,"parameters":[)json"
    R"json({"name":"shape","type":"union<Conformance.IShape>"}],"result":"int64"},{"name":"Remember","id":3109439007,"parameters":[)json"
    R"json({"name":"key","type":"text"}],"result":"int32"},{"name":"Send","id":3123180854,"parameters":[{"name":"to","type":"text"})json"
    R"json(,{"name":"amount","type":"int64"}]},{"name":"Total","id":3148426818,"parameters":[],"result":"int64"},{"name":"Peek","id)json"
    R"json(":3285655095,"query":true,"parameters":[],"result":"int64"},{"name":"Ship","id":3477789746,"parameters":[{"name":"to","t)json"
    R"json(ype":"text"},{"name":"size","type":"int32"}]},{"name":"Echo","id":3855347289,"raw":true,"parameters":[{"name":"content",)json"
    R"json("type":"bytes"}],"result":"bytes","rawResult":true},{"name":"SendMany","id":3992396777,"parameters":[{"name":"to","type")json"
    R"json(:"text"},{"name":"first","type":"int64"},{"name":"count","type":"int32"}]},{"name":"Recall","id":4077637541,"parameters")json"
    R"json(:[],"result":"list<text>"},{"name":"Trail","id":4196172404,"parameters":[],"result":"int64"}]}],"data":[{"name":"Conform)json"
    R"json(ance.Circle","fields":[{"name":"Radius","number":1,"type":"int64"}]},{"name":"Conformance.Everything","fields":[{"name":)json"
    R"json("At","type":"datetime"},{"name":"Id","type":"guid"},{"name":"Day","type":"date"},{"name":"Int","type":"int32"},{"name":")json"
    R"json(Blob","type":"bytes"},{"name":"Byte","type":"uint8"},{"name":"Flag","type":"bool"},{"name":"Huge","type":"uint64"},{"nam)json"
    R"json(e":"Long","type":"int64"},{"name":"Pair","type":"tuple<int32,text>"},{"name":"Span","type":"timespan"},{"name":"Word","t)json"
    R"json(ype":"uint16"},{"name":"Clock","type":"time"},{"name":"Maybe","type":"int32?"},{"name":"Money","type":"decimal"},{"name")json"
    R"json(:"Names","type":"map<text,int32>"},{"name":"Shape","type":"union<Conformance.IShape>"},{"name":"Short","type":"int16"},{)json"
    R"json("name":"Small","type":"int8"},{"name":"There","type":"datetimeoffset"},{"name":"Words","type":"text"},{"name":"Colour",")json"
    R"json(type":"enum<Conformance.Colour,uint8>"},{"name":"Double","type":"float64"},{"name":"Letter","type":"char"},{"name":"Poin)json"
    R"json(ts","type":"list<data<Conformance.Point>>"},{"name":"Single","type":"float32"},{"name":"Nothing","type":"text?"},{"name")json"
    R"json(:"Unsigned","type":"uint32"}]},{"name":"Conformance.Point","fields":[{"name":"X","number":1,"type":"int32"},{"name":"Y",)json"
    R"json("number":2,"type":"int32"}]},{"name":"Conformance.Square","fields":[{"name":"Side","number":1,"type":"int64"}]},{"name":)json"
    R"json("Conformance.Step","fields":[{"name":"Op","number":1,"type":"enum<Conformance.Operation,uint8>"},{"name":"To","number":2)json"
    R"json(,"type":"text"},{"name":"Number","number":3,"type":"int64"},{"name":"Text","number":4,"type":"text"},{"name":"Steps","nu)json"
    R"json(mber":5,"type":"list<data<Conformance.Step>>"}]}],"enums":[{"name":"Conformance.Colour","type":"uint8","members":[{"name)json"
    R"json(":"Red","value":0},{"name":"Green","value":5},{"name":"Blue","value":6}]},{"name":"Conformance.Operation","type":"uint8")json"
    R"json(,"members":[{"name":"Say","value":0},{"name":"Add","value":1},{"name":"Read","value":2},{"name":"Fork","value":3},{"name)json"
    R"json(":"ForkDo","value":4},{"name":"Call","value":5},{"name":"Ask","value":6},{"name":"Through","value":7},{"name":"Throw","v)json"
    R"json(alue":8},{"name":"Delay","value":9},{"name":"All","value":10},{"name":"Any","value":11},{"name":"Within","value":12},{"n)json"
    R"json(ame":"Task","value":13},{"name":"Guid","value":14},{"name":"Random","value":15},{"name":"Now","value":16},{"name":"Check)json"
    R"json(point","value":17},{"name":"Pulse","value":18},{"name":"Again","value":19},{"name":"Pass","value":20},{"name":"Every","v)json"
    R"json(alue":21},{"name":"Stop","value":22}]}],"unions":[{"name":"Conformance.IShape","cases":[{"number":1,"type":"data<Conform)json"
    R"json(ance.Circle>"},{"number":2,"type":"data<Conformance.Square>"}]}]})json";

}  // namespace Conformance
