// As much JSON as the tests and the probe need: the vectors, and what the probe prints of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace json {

struct value {
  enum class kind { null, boolean, number, text, list, object } what = kind::null;
  bool flag = false;
  std::string text;  // a number is kept as it is written
  std::vector<value> list;
  std::vector<std::pair<std::string, value>> members;

  value() = default;
  value(bool of) : what(kind::boolean), flag(of) {}
  value(const char* of) : what(kind::text), text(of) {}
  value(std::string_view of) : what(kind::text), text(of) {}
  value(std::string of) : what(kind::text), text(std::move(of)) {}
  value(int of) : what(kind::number), text(std::to_string(of)) {}
  value(unsigned of) : what(kind::number), text(std::to_string(of)) {}
  static value object() { return of(kind::object); }
  static value array() { return of(kind::list); }

  value& set(std::string name, value of) {
    members.emplace_back(std::move(name), std::move(of));
    return *this;
  }
  const value* find(std::string_view name) const {
    for (const auto& [key, of] : members) {
      if (key == name) return &of;
    }
    return nullptr;
  }
  std::string string(std::string_view name) const {
    const value* found = find(name);
    return found == nullptr ? "" : found->text;
  }
  // Members in the order of their names, so that equal values are written alike.
  std::string write() const {
    std::string out;
    write_to(out);
    return out;
  }

 private:
  static value of(kind what) {
    value made;
    made.what = what;
    return made;
  }
  static void write_text(std::string_view text, std::string& out) {
    out += '"';
    for (char c : text) {
      if (c == '"' || c == '\\') {
        out += '\\', out += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        static const char digits[] = "0123456789abcdef";
        out += "\\u00", out += digits[c >> 4 & 15], out += digits[c & 15];
      } else {
        out += c;
      }
    }
    out += '"';
  }
  void write_to(std::string& out) const {
    switch (what) {
      case kind::null: out += "null"; break;
      case kind::boolean: out += flag ? "true" : "false"; break;
      case kind::number: out += text; break;
      case kind::text: write_text(text, out); break;
      case kind::list:
        out += '[';
        for (std::size_t i = 0; i < list.size(); i++) out += i == 0 ? "" : ",", list[i].write_to(out);
        out += ']';
        break;
      case kind::object: {
        std::map<std::string, const value*> sorted;
        for (const auto& [name, member] : members) sorted[name] = &member;
        out += '{';
        bool first = true;
        for (const auto& [name, member] : sorted) {
          if (!std::exchange(first, false)) out += ',';
          write_text(name, out), out += ':', member->write_to(out);
        }
        out += '}';
      }
    }
  }
};

class parser {
 public:
  explicit parser(std::string_view text) : _at(text.data()), _end(text.data() + text.size()) {}
  value parse() {
    skip();
    if (_at == _end) return {};
    switch (*_at) {
      case '{': return object();
      case '[': return array();
      case '"': return value(string());
      case 't': return _at += 4, value(true);
      case 'f': return _at += 5, value(false);
      case 'n': return _at += 4, value();
      default: return number();
    }
  }

 private:
  void skip() {
    while (_at != _end && (*_at == ' ' || *_at == '\n' || *_at == '\r' || *_at == '\t' || *_at == ',' || *_at == ':')) _at++;
  }
  value object() {
    value made = value::object();
    for (_at++, skip(); _at != _end && *_at != '}'; skip()) {
      std::string name = string();
      made.set(std::move(name), parse());
    }
    if (_at != _end) _at++;
    return made;
  }
  value array() {
    value made = value::array();
    for (_at++, skip(); _at != _end && *_at != ']'; skip()) made.list.push_back(parse());
    if (_at != _end) _at++;
    return made;
  }
  value number() {
    value made = 0;
    made.text.clear();
    while (_at != _end && (std::string_view("+-.eE0123456789").find(*_at) != std::string_view::npos)) made.text += *_at++;
    return made;
  }
  static void put(std::uint32_t c, std::string& out) {
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += static_cast<char>(0xC0 | c >> 6), out += static_cast<char>(0x80 | (c & 63));
    } else if (c < 0x10000) {
      out += static_cast<char>(0xE0 | c >> 12), out += static_cast<char>(0x80 | (c >> 6 & 63)), out += static_cast<char>(0x80 | (c & 63));
    } else {
      out += static_cast<char>(0xF0 | c >> 18), out += static_cast<char>(0x80 | (c >> 12 & 63));
      out += static_cast<char>(0x80 | (c >> 6 & 63)), out += static_cast<char>(0x80 | (c & 63));
    }
  }
  std::uint32_t hex4() {
    std::uint32_t c = 0;
    for (int i = 0; i < 4 && _at != _end; i++, _at++) c = c << 4 | static_cast<std::uint32_t>(*_at <= '9' ? *_at - '0' : (*_at | 32) - 'a' + 10);
    return c;
  }
  std::string string() {
    std::string out;
    for (_at++; _at != _end && *_at != '"';) {
      if (*_at != '\\') {
        out += *_at++;
        continue;
      }
      char c = *++_at;
      _at++;
      if (c == 'u') {
        std::uint32_t code = hex4();
        if (code >= 0xD800 && code < 0xDC00 && _end - _at > 6) _at += 2, code = 0x10000 + ((code - 0xD800) << 10) + (hex4() - 0xDC00);
        put(code, out);
      } else {
        out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
      }
    }
    if (_at != _end) _at++;
    return out;
  }

  const char *_at, *_end;
};

}  // namespace json
