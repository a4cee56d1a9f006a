#include <ambrosia/failure.h>

namespace ambrosia::inline v0 {

namespace {

constexpr int depth_most = 16;
constexpr std::size_t bytes_most = 64'000;  // of the texts, so that a failure fits a message limit of 64 KiB (P4.4)

// The front of a text, cut at the end of a character.
std::string_view front(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most != 0 && (static_cast<std::uint8_t>(text[most]) & 0xC0) == 0x80) most--;
  return text.substr(0, most);
}

// What is no UTF-8 cannot travel, and a failure must.
std::string readable(std::string_view text) {
  std::string plain(text);
  if (is_utf8(as_bytes(text))) return plain;
  for (char& c : plain) c = static_cast<std::uint8_t>(c) < 0x80 ? c : '?';
  return plain;
}

}  // namespace

void write_failure(writer& out, const failure& what) {
  const failure* chain[depth_most];
  std::size_t depth = 0, before = 0;
  for (const failure* one = &what; one != nullptr && depth < depth_most; one = one->inner.get()) chain[depth++] = one;
  for (std::size_t i = 0; i < depth; i++) {
    std::size_t room = bytes_most - before;
    std::string_view type = front(chain[i]->type, room), message = front(chain[i]->message, room - type.size());
    before += type.size() + message.size();
    cbor::put_array(out, 3);
    encode(out, readable(type));
    encode(out, readable(message));
  }
  cbor::put_null(out);
}

bool read_failure(byte_span data, failure& what) {
  cbor_reader in(data);
  std::vector<failure> chain;
  while (in.ok() && (chain.empty() || !in.take_null())) {
    in.read_array_of(3);
    failure& one = chain.emplace_back();
    one.type = in.read_text();
    one.message = in.read_text();
    if (chain.size() > depth_most) in.fail("TooDeep");
  }
  if (!in.ok()) return false;
  for (std::size_t i = chain.size() - 1; i != 0; i--) chain[i - 1].inner = std::make_shared<failure>(std::move(chain[i]));
  what = std::move(chain[0]);
  return true;
}

failure call_failed(failure what) {
  failure outer("Ambrosia.CallFailed", what.message);
  outer.words = std::exchange(what.words, {});
  outer.inner = std::make_shared<failure>(std::move(what));
  return outer;
}

std::string method_text(std::uint32_t method) {
  std::string text;
  do text.insert(text.begin(), "0123456789ABCDEF"[method & 15]);
  while ((method >>= 4) != 0);
  return text;
}

}  // namespace ambrosia
