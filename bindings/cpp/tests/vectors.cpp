#include "vectors.h"

#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include "../src/frames.h"
#include "Vectors.contract.h"

namespace vectors {

namespace {

using namespace ambrosia;
using json::value;

bytes unhex(std::string_view text) {
  bytes data;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) data.push_back(static_cast<std::uint8_t>(ambrosia::detail::nibble(text[i]) << 4 | ambrosia::detail::nibble(text[i + 1])));
  return data;
}
std::string hex(byte_span data) {
  std::string text;
  for (std::uint8_t byte : data) text += "0123456789abcdef"[byte >> 4], text += "0123456789abcdef"[byte & 15];
  return text;
}
std::string hex(std::uint64_t number, int digits) {
  std::string text;
  for (int i = digits - 1; i >= 0; i--) text += "0123456789abcdef"[number >> (4 * i) & 15];
  return text;
}
template <class T>
value wide(T number) { return std::to_string(number); }
value failed(std::string_view sentence) { return value::object().set("error", sentence); }
value found(value fields) { return value::object().set("expect", std::move(fields)); }
value skipped(const char* why) { return value::object().set("skip", why); }
std::uint64_t number(const value& of, std::string_view name, std::uint64_t otherwise) {
  const value* member = of.find(name);
  return member == nullptr ? otherwise : std::stoull(member->text);
}

std::string options_text(const std::vector<hello_option>& options) {
  std::string text;
  for (const auto& one : options) text += (text.empty() ? "" : " ") + std::to_string(one.type) + "=" + hex(one.value);
  return text;
}

// ---- Payloads of frames ----

using payload_reader = std::function<value(reader&, const value& context)>;

// A reader of one structure: T is read by `read`, and `show` makes its fields.
template <class T, class Show>
payload_reader payload(const char* section, bool (*read)(reader&, T&), Show show) {
  return [section, read, show](reader& in, const value&) -> value {
    in = reader({in.p, in.end}, section);
    T of{};
    if (!read(in, of)) return failed(in.error);
    return found(show(of));
  };
}

payload_reader empty(const char* sentence) {
  return [sentence](reader& in, const value&) -> value {
    (void)sentence;
    return in.finish() ? found(value::object()) : failed(in.error);
  };
}

value show_records(byte_span data, std::uint64_t first, std::uint64_t message_most) {
  value list = value::array();
  reader in(data);
  while (in.left() != 0) {
    record_view record;
    const char* broken = read_record(in, first, record);
    run_view run;
    if (broken == nullptr && (record.kind == record_kind::run || record.kind == record_kind::impulse_run)) {
      broken = read_run(record.body, message_most, run);
      bool fits = broken != nullptr || (record.kind == record_kind::impulse_run ? run.kind == run_kind::impulse : run.kind < run_kind::impulse);
      if (!fits) broken = record.kind == record_kind::run ? "L5.2" : "L5.3";
    }
    if (broken != nullptr) return failed(broken).set("lsn", wide(first));
    list.list.push_back(value::object().set("lsn", wide(record.lsn)).set("kind", static_cast<unsigned>(record.kind)).set("body", hex(record.body)));
    first = record.end;
  }
  return list;
}

value read_deliver_vector(reader& in, const value&) {
  in = reader({in.p, in.end}, "P5.4");
  deliver_frame of;
  if (!read_deliver(in, of)) return failed(in.error);
  value records = show_records(of.records, of.lsn, UINT64_MAX);
  if (records.what != value::kind::list) return failed(records.string("error"));
  return found(value::object().set("first", wide(of.lsn)).set("timeUs", wide(of.time)).set("mark", wide(of.mark)).set("records", std::move(records)));
}

value read_chunk(reader& in, const value&) {
  byte_span data = in.rest();
  if (data.empty() || data.size() > 1'048'576) return failed("P5.7");
  return found(value::object().set("bytes", hex(data)));
}

value read_policy_vector(reader& in, const value&) {
  policy_record of;
  bool states_limit = in.left() > 25;
  if (!read_policy(in, of)) return failed(in.error);
  value shown = value::object().set("forks", static_cast<unsigned>(of.forks)).set("windowUs", wide(of.window_us)).set("entriesMax", wide(of.entries_most));
  shown.set("bytesMax", wide(of.bytes_most));
  if (states_limit) shown.set("messageBytesMax", of.message_bytes_most);
  return found(std::move(shown));
}

value position(reader& in, const char* section) {
  in = reader({in.p, in.end}, section);
  std::uint64_t lsn = in.lsn();
  return in.finish() ? found(value::object().set("position", wide(lsn))) : failed(in.error);
}

const std::map<std::string, payload_reader>& payloads() {
  static const std::map<std::string, payload_reader> all = {
      {"AppWelcome", payload<app_welcome>("P5.3", read_welcome, [](const app_welcome& of) {
         return value::object().set("version", static_cast<unsigned>(of.version)).set("instance", of.instance).set("shard", static_cast<unsigned>(of.shard))
             .set("replica", of.replica).set("uuid", guid_text(of.uuid)).set("epoch", wide(of.epoch)).set("session", wide(of.session))
             .set("messageBytesMax", of.message_bytes_most).set("checkpoint", wide(of.checkpoint)).set("hasImage", of.has_image)
             .set("options", options_text(of.options));
       })},
      {"BecomePrimary", [](reader& in, const value&) { return position(in, "P5.10"); }},
      {"Look", payload<look_frame>("P5.24", read_look, [](const look_frame& of) {
         return value::object().set("position", wide(of.lsn)).set("index", of.index).set("flags", static_cast<unsigned>(of.flags));
       })},
      {"Convert", payload<convert_frame>("P5.25", read_convert, [](const convert_frame& of) {
         return value::object().set("position", wide(of.lsn)).set("from", of.from).set("to", of.to).set("use", static_cast<unsigned>(of.use));
       })},
      {"ImageBegin", payload<image_begin>("P5.7", read_image_begin, [](const image_begin& of) {
         return value::object().set("position", wide(of.lsn)).set("imageVersion", of.version);
       })},
      {"ImageChunk", read_chunk},
      {"ImageEnd", payload<image_end>("P5.7", read_image_end, [](const image_end& of) {
         return value::object().set("length", wide(of.length)).set("hash", hex(of.hash, 16));
       })},
      {"ImpulseLogged", payload<impulse_logged>("P5.9", read_impulse_logged, [](const impulse_logged& of) {
         return value::object().set("destination", of.destination).set("ticket", wide(of.ticket));
       })},
      {"PolicyAhead", payload<std::vector<policy_change>>("P5.17", read_policy_ahead, [](const std::vector<policy_change>& of) {
         value list = value::array();
         for (const auto& one : of) list.list.push_back(value::object().set("position", wide(one.lsn)).set("forks", static_cast<unsigned>(one.forks)));
         return value::object().set("changes", std::move(list));
       })},
      {"Query", [](reader& in, const value& context) -> value {
         in = reader({in.p, in.end}, "P5.18");
         query_frame of;
         if (!read_query(in, of, number(context, "messageBytesMax", 64 << 20))) return failed(in.error);
         return found(value::object().set("query", wide(of.query)).set("position", wide(of.lsn)).set("patienceMs", of.patience_ms).set("method", of.method)
                          .set("arguments", hex(of.arguments)));
       }},
      {"Rings", payload<rings_frame>("P5.19", read_rings, [](const rings_frame& of) {
         return value::object().set("capacity", of.capacity).set("path", of.path);
       })},
      {"Goodbye", payload<goodbye_frame>("P5.12", read_goodbye, [](const goodbye_frame& of) {
         return value::object().set("code", static_cast<unsigned>(of.code)).set("why", of.why);
       })},
      {"Heartbeat", empty("P5.12")},
      {"Deliver", read_deliver_vector},
      {"Peer", payload<peer_record>("L5.10", read_peer, [](const peer_record& of) {
         return value::object().set("origin", of.origin).set("shard", static_cast<unsigned>(of.shard)).set("uuid", guid_text(of.uuid))
             .set("epoch", wide(of.epoch)).set("name", of.name);
       })},
      {"Forget", payload<forget_record>("L5.10", read_forget, [](const forget_record& of) {
         return value::object().set("origin", of.origin).set("uuid", guid_text(of.uuid));
       })},
      {"FirstStart", payload<first_start_record>("L5.10", read_first_start, [](const first_start_record& of) {
         return value::object().set("uuid", guid_text(of.uuid)).set("createdUs", wide(of.created)).set("appVersion", of.app_version).set("name", of.name);
       })},
      {"CheckpointMark", payload<checkpoint_mark>("L5.10", read_mark, [](const checkpoint_mark& of) {
         return value::object().set("epoch", wide(of.epoch)).set("boundBytes", wide(of.bound)).set("replica", of.replica);
       })},
      {"NondetResult", payload<nondet_result>("L5.10", read_nondet, [](const nondet_result& of) {
         return value::object().set("task", wide(of.task)).set("failed", of.is_failure).set("result", hex(of.result));
       })},
      {"TimerFired", payload<timer_fired>("L5.10", read_timer, [](const timer_fired& of) {
         return value::object().set("timer", wide(of.timer)).set("dueUs", wide(of.due));
       })},
      {"ClientRequest", payload<client_request>("L5.10", read_request, [](const client_request& of) {
         return value::object().set("session", guid_text(of.session)).set("request", wide(of.request)).set("keyed", of.keyed).set("message", hex(of.message));
       })},
      {"Policy", read_policy_vector},
      {"Quarantine", payload<quarantine_record>("L5.10", read_quarantine, [](const quarantine_record& of) {
         return value::object().set("record", wide(of.lsn)).set("index", of.index).set("action", static_cast<unsigned>(of.action));
       })},
      {"Upgrade", payload<upgrade_record>("L5.10", read_upgrade, [](const upgrade_record& of) {
         return value::object().set("versionFrom", of.from).set("versionTo", of.to).set("checkpoint", wide(of.checkpoint))
             .set("checkpointEpoch", wide(of.checkpoint_epoch)).set("replica", of.replica).set("partHash", hex(of.part_hash, 16))
             .set("imageHash", hex(of.image_hash, 16)).set("build", hex(of.build));
       })},
  };
  return all;
}

// ---- Runs ----

value read_run_vector(byte_span data, std::uint64_t most) {
  run_view run;
  if (const char* broken = read_run(data, most, run)) return failed(broken);
  value blocks = value::array(), messages = value::array();
  reader extensions(run.extensions);
  while (extensions.left() != 0) {
    std::uint64_t type = extensions.varint(), version = extensions.varint();
    blocks.list.push_back(value::object().set("type", wide(type)).set("version", wide(version)).set("content", hex(extensions.byte_string(UINT64_MAX))));
  }
  reader at(run.messages);
  message_view message;
  for (std::uint32_t i = 0; i < run.count; i++) {
    read_message(run, at, most, message);
    messages.list.push_back(value::object().set("method", message.method).set("call", wide(message.call)).set("key", hex(message.key)).set("arguments", hex(message.arguments)));
  }
  return found(value::object().set("kind", static_cast<unsigned>(run.kind)).set("keyed", run.keyed).set("shard", static_cast<unsigned>(run.shard)).set("peer", run.peer)
                   .set("first", wide(run.first)).set("count", run.count).set("hash", hex(run.hash, 16)).set("extensions", std::move(blocks))
                   .set("messages", std::move(messages)));
}

value read_frame_vector(byte_span data, const value& context) {
  const value* link = context.find("link");
  frame_view frame;
  std::uint32_t seed = static_cast<std::uint32_t>(std::stoull(context.string("seed"), nullptr, 16));
  if (const char* broken = read_frame(data, link != nullptr && link->flag, seed, number(context, "payloadBytesMax", 4'096), frame)) return failed(broken);
  if (frame.consumed == 0) return failed("not whole");
  return found(value::object().set("type", static_cast<unsigned>(frame.type)).set("payload", hex(frame.payload)).set("consumed", static_cast<unsigned>(frame.consumed)));
}

// ---- CBOR ----

std::string text_of_head(cbor::major kind, std::uint64_t number) {
  if (kind == cbor::major::unsigned_number) return std::to_string(number);
  return number == UINT64_MAX ? "-18446744073709551616" : "-" + std::to_string(number + 1);
}

// One item in diagnostic notation. The whole has been checked by `skip` before.
std::string diagnose(cbor_reader& in) {
  std::uint8_t first = *in.p;
  auto kind = static_cast<cbor::major>(first >> 5);
  int info = first & 31;
  if (kind == cbor::major::other && info >= 25) return "float'" + hex(in.read_double_bits(), 16) + "'";
  in.p++;
  std::uint64_t number = static_cast<std::uint64_t>(info);
  if (info >= 24) {
    number = 0;
    for (int i = 0; i < 1 << (info - 24); i++) number = number << 8 | *in.p++;
  }
  auto take = [&] { return in.p += number, byte_span(in.p - number, static_cast<std::size_t>(number)); };
  std::string text;
  switch (kind) {
    case cbor::major::unsigned_number:
    case cbor::major::negative_number: return text_of_head(kind, number);
    case cbor::major::byte_string: return "h'" + hex(take()) + "'";
    case cbor::major::text: return "t'" + hex(take()) + "'";
    case cbor::major::array:
      for (std::uint64_t i = 0; i < number; i++) text += (i == 0 ? "" : ", ") + diagnose(in);
      return "[" + text + "]";
    case cbor::major::map:
      for (std::uint64_t i = 0; i < number; i++) {
        std::string key = diagnose(in);
        text += (i == 0 ? "" : ", ") + key + ": " + diagnose(in);
      }
      return "{" + text + "}";
    case cbor::major::tag: return std::to_string(number) + "(" + diagnose(in) + ")";
    default: break;
  }
  return number == 20 ? "false" : number == 21 ? "true" : number == 22 ? "null" : number == 23 ? "undefined" : "simple(" + std::to_string(number) + ")";
}

value read_cbor(byte_span data, const value& context) {
  if (context.find("lenient") != nullptr) return skipped("an app reads no CBOR of other forms");
  cbor_reader whole(data);
  while (whole.ok() && whole.left() != 0) whole.skip(true);
  if (!whole.ok()) return failed(whole.error);
  value items = value::array();
  cbor_reader in(data);
  while (in.left() != 0) items.list.push_back(diagnose(in));
  return found(value::object().set("items", std::move(items)));
}

std::string decimal_text(const decimal& of) {
  std::string digits;
  std::array<std::uint32_t, 3> left = {of.words[0], of.words[1], of.words[2]};
  while (left[0] != 0 || left[1] != 0 || left[2] != 0) {
    std::uint64_t rest = 0;
    for (int i = 2; i >= 0; i--) {
      rest = rest << 32 | left[static_cast<std::size_t>(i)];
      left[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(rest / 10);
      rest %= 10;
    }
    digits.insert(digits.begin(), static_cast<char>('0' + rest));
  }
  std::size_t scale = of.words[3] >> 16 & 0xFF;
  while (digits.size() <= scale) digits.insert(digits.begin(), '0');
  if (scale != 0) digits.insert(digits.size() - scale, ".");
  return (of.words[3] >> 31 != 0 ? "-" : "") + digits;
}

template <class T, class Show>
value read_value(byte_span data, Show show) {
  cbor_reader in(data);
  T of{};
  decode(in, of);
  if (!in.ok()) return failed(in.error);
  return found(value::object().set("value", show(of)));
}
template <class T>
value read_number(byte_span data) {
  return read_value<T>(data, [](T of) { return wide(of); });
}

value read_failure_vector(byte_span data) {
  cbor_reader check(data);
  failure of;
  value chain = value::array();
  if (!read_failure(data, of)) {
    // The kind of the mistake is that of the items, or of the depth.
    int depth = 0;
    while (check.ok() && (depth == 0 || !check.take_null())) {
      if (depth++ == 16) return failed("TooDeep");
      check.read_array_of(3), check.read_text(), check.read_text();
    }
    return failed(check.ok() ? "none" : std::strcmp(check.error, "OutOfRange") == 0 ? "WrongType" : check.error);
  }
  for (const failure* one = &of; one != nullptr; one = one->inner.get()) chain.list.push_back(value::object().set("type", one->type).set("message", one->message));
  return found(value::object().set("chain", std::move(chain)));
}

value read_typed(const std::string& structure, byte_span data) {
  if (structure == "int64") return read_number<std::int64_t>(data);
  if (structure == "uint64") return read_number<std::uint64_t>(data);
  if (structure == "int32") return read_number<std::int32_t>(data);
  if (structure == "uint32") return read_number<std::uint32_t>(data);
  if (structure == "int16") return read_number<std::int16_t>(data);
  if (structure == "uint16") return read_number<std::uint16_t>(data);
  if (structure == "sbyte") return read_number<std::int8_t>(data);
  if (structure == "byte") return read_number<std::uint8_t>(data);
  if (structure == "char") return read_value<char16_t>(data, [](char16_t of) { return wide(static_cast<unsigned>(of)); });
  if (structure == "boolean") return read_value<bool>(data, [](bool of) { return value(of ? "true" : "false"); });
  if (structure == "string") return read_value<std::string>(data, [](const std::string& of) { return value(of); });
  if (structure == "bytes") return read_value<bytes>(data, [](const bytes& of) { return value(hex(of)); });
  if (structure == "single") {
    return read_value<float>(data, [](float of) { return value(hex(cbor::widen_single(std::bit_cast<std::uint32_t>(of)), 16)); });
  }
  if (structure == "double") return read_value<double>(data, [](double of) { return value(hex(std::bit_cast<std::uint64_t>(of), 16)); });
  if (structure == "guid") return read_value<guid>(data, [](const guid& of) { return value(guid_text(of)); });
  if (structure == "decimal") return read_value<decimal>(data, [](const decimal& of) { return value(decimal_text(of)); });
  if (structure == "dateTime") {
    return read_value<datetime>(data, [](const datetime& of) { return value(std::to_string(of.ticks) + " " + std::to_string(static_cast<int>(of.kind))); });
  }
  if (structure == "dateTimeOffset") {
    return read_value<datetimeoffset>(data, [](const datetimeoffset& of) { return value(std::to_string(of.ticks) + " " + std::to_string(of.offset_minutes)); });
  }
  if (structure == "timeSpan") return read_value<timespan>(data, [](timespan of) { return wide(of.ticks); });
  if (structure == "dateOnly") return read_value<date>(data, [](date of) { return wide(of.days); });
  if (structure == "timeOnly") return read_value<time_of_day>(data, [](time_of_day of) { return wide(of.ticks); });
  return read_failure_vector(data);
}

// The vectors want a reader that declares three of the types by itself, with defaults of its own (contract.md C3.7).
struct Point {
  std::int32_t Y = 7, X = 0;
  static constexpr auto fields = ambrosia::fields(1, &Point::Y, "X", &Point::X);
};
struct Words {
  std::string Text = "none";
  std::optional<std::string> Maybe;
  char16_t Letter = 0;
  bytes Content;
  static constexpr auto fields = ambrosia::fields("Text", &Words::Text, "Maybe", &Words::Maybe, "Letter", &Words::Letter, "Content", &Words::Content);
};
struct Order {
  std::optional<Vectors::IPayment> Tip;
  Vectors::IPayment Paid = Vectors::Cash{7};
  ordered_map<std::string, std::optional<Vectors::Formula>> Formulas;
  static constexpr auto fields = ambrosia::fields("Tip", &Order::Tip, "Paid", &Order::Paid, "Formulas", &Order::Formulas);
};

template <class T>
value read_again(byte_span data) {
  cbor_reader in(data);
  T of{};
  decode(in, of);
  if (!in.union_name.empty()) return failed("UnknownCase " + std::string(in.union_name) + " " + std::to_string(in.case_number));
  if (!in.ok()) return failed(in.error);
  writer out;
  encode(out, of);
  return found(value::object().set("again", hex(out.view())));
}

value read_contract_value(byte_span data, const std::string& type) {
  if (type == "data<Vectors.Point>") return read_again<Point>(data);
  if (type == "data<Vectors.Reals>") return read_again<Vectors::Reals>(data);
  if (type == "data<Vectors.Words>") return read_again<Words>(data);
  if (type == "data<Vectors.Times>") return read_again<Vectors::Times>(data);
  if (type == "data<Vectors.Place>") return read_again<Vectors::Place>(data);
  if (type == "data<Vectors.Tree>") return read_again<Vectors::Tree>(data);
  if (type == "data<Vectors.Order>") return read_again<Order>(data);
  return skipped("a type that the test has no header of");
}

// ---- Hashes ----

value read_hash(const std::string& structure, byte_span data, const value& context) {
  std::uint64_t seed = context.string("seed").empty() ? 0 : std::stoull(context.string("seed"), nullptr, 16);
  if (structure == "crc32c") return found(value::object().set("crc", hex(crc32c(data, static_cast<std::uint32_t>(seed)), 8)));
  if (structure == "crc64nvme") return found(value::object().set("hash", hex(crc64(data, seed), 16)));
  if (structure == "methodId") {
    std::uint32_t id = 0x811C9DC5;
    for (char c : context.string("interface") + "." + context.string("method")) id = (id ^ static_cast<std::uint8_t>(c)) * 0x01000193u;
    return found(value::object().set("id", id | 0x80000000u));
  }
  if (structure == "channelHash") {
    std::uint64_t hash = 0;
    std::uint8_t last = 0;
    for (const value& piece : context.find("pieces")->list) {
      auto kind = static_cast<std::uint8_t>(number(piece, "kind", 0));
      if (std::exchange(last, kind) != kind) hash = crc64({&kind, 1}, hash);
      std::size_t length = std::min<std::size_t>(number(piece, "bytes", 0), data.size());
      hash = crc64(data.first(length), hash);
      data = data.subspan(length);
    }
    return found(value::object().set("hash", hex(hash, 16)).set("lastKind", static_cast<unsigned>(last)));
  }
  return skipped("digests are made by coordinators");
}

value read_varint(byte_span data) {
  reader in(data);
  std::uint64_t number = in.varint();
  return in.ok() ? found(value::object().set("value", wide(number))) : failed("P1.2");
}

value read_fnv(byte_span data) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (std::uint8_t byte : data) hash = (hash ^ byte) * 0x100000001B3ull;
  if (hash != Vectors::IVectors::contract_hash) return failed("the header states another hash");
  return found(value::object().set("hash", hex(hash, 16)));
}

}  // namespace

json::value read(const json::value& entry) {
  static const value no_context = value::object();
  const value* given = entry.find("context");
  const value& context = given == nullptr ? no_context : *given;
  std::string structure = entry.string("structure");
  bytes data = unhex(entry.string("hex"));
  data.resize(data.size() + number(context, "zeros", 0));
  bytes tail = unhex(context.string("tail"));
  data.insert(data.end(), tail.begin(), tail.end());
  std::uint64_t most = number(context, "messageBytesMax", 64 << 20);

  auto known = payloads().find(structure);
  if (known != payloads().end()) {
    reader in(data, "L5.10");
    return known->second(in, context);
  }
  if (structure == "failureStack") {
    reader in(data, "P3.7");
    std::uint64_t index = in.varint();
    if (in.ok() && index >> 32 != 0) in.fail("P3.7");
    std::string_view stack = in.string(8'192);
    return in.finish() ? found(value::object().set("fromEnd", static_cast<unsigned>(index)).set("stack", stack)) : failed(in.error);
  }
  if (structure == "run") return read_run_vector(data, most);
  if (structure == "frame") return read_frame_vector(data, context);
  if (structure == "records") {
    value list = show_records(data, number(context, "first", 0), most);
    return list.what == value::kind::list ? found(value::object().set("records", std::move(list))) : list;
  }
  if (structure == "cbor") return read_cbor(data, context);
  if (structure == "varint") return read_varint(data);
  if (structure == "contractHash") return read_fnv(data);
  if (structure == "value") return read_contract_value(data, context.string("type"));
  if (structure == "crc32c" || structure == "crc64nvme" || structure == "methodId" || structure == "channelHash" || structure == "answerHash") {
    return read_hash(structure, data, context);
  }
  static const char* const values[] = {"int64", "uint64", "int32", "uint32", "int16", "uint16", "sbyte", "byte", "char", "boolean", "string", "bytes", "single", "double",
                                       "guid", "decimal", "dateTime", "dateTimeOffset", "timeSpan", "dateOnly", "timeOnly", "failure"};
  for (const char* one : values) {
    if (structure == one) return read_typed(structure, data);
  }
  return skipped("an app does not read it");
}

bool load(const char* path, json::value& entries) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  entries = json::parser(text).parse();
  return file.good() || !text.empty();
}

int print(const char* path) {
  json::value entries;
  if (!load(path, entries)) {
    std::fprintf(stderr, "the vectors %s cannot be read\n", path);
    return 2;
  }
  for (const json::value& entry : entries.list) std::printf("%s\n", read(entry).write().c_str());
  return 0;
}

}  // namespace vectors
