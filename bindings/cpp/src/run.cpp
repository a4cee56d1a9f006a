#include <ambrosia/run.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "orphan.h"

namespace ambrosia::inline v0 {

namespace {

constexpr std::size_t posts_most = 65'536;

// Impulses of other threads, until the executing thread is a primary's. It outlives any session.
struct post_box {
  std::mutex lock;
  std::deque<std::function<void(immortal_base&)>> waiting;
  std::function<void()> wake;
};
post_box& box() {
  static post_box one;
  return one;
}

// Returns the length of what a terminal would obey, or turns a line's direction by, at a place of UTF-8 (0: nothing): control characters,
// format characters and separators of lines. Of bytes that are no UTF-8, each stands for itself.
std::size_t harm_at(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t n) { return at + n < text.size() ? static_cast<unsigned char>(text[at + n]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return (first < ' ' && first != '\n') || first == 0x7F ? 1 : 0;
  const std::size_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xC2 && first < 0xE0 ? 2 : 1;
  unsigned code = first & (0xFFu >> (length + 1));
  for (std::size_t n = 1; n < length; n++) {
    if ((byte(n) & 0xC0) != 0x80) return 1;
    code = (code << 6) | (byte(n) & 0x3F);
  }
  const bool harms = length == 1 || code < 0xA0 || code == 0xAD || code == 0x61C || (code >= 0x200B && code <= 0x200F)
      || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) || (code >= 0xD800 && code <= 0xF8FF) || code == 0xFEFF
      || (code >= 0xFFF9 && code <= 0xFFFB) || (code >= 0xE0000 && code <= 0xE0FFF);
  return harms ? length : 0;
}

// A line may quote what others have sent.
std::string harmless(const std::string& text) {
  std::string to;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t harm = harm_at(text, at);
    if (harm == 0) to += text[at++];
    for (std::size_t n = 0; n < harm; n++, at++) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(text[at])));
      to += escaped;
    }
  }
  return to;
}

int say(int code, const std::string& why) {
  if (!why.empty()) std::fprintf(stderr, "ambrosia: %s\n", harmless(why).c_str());
  std::fflush(stdout);
  return code;
}

bool read_file(const char* path, bytes& content, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  char piece[65'536];
  while (content.size() <= most && (file.read(piece, sizeof piece) || file.gcount() > 0)) content.insert(content.end(), piece, piece + file.gcount());
  return content.size() <= most;
}

// The image in a checkpoint's file, which has it in chunks of kind 4 (log-format L6). Any other file is an image by itself.
bytes image_in(bytes file) {
  constexpr std::string_view magic = "AMBRCKP1";
  if (file.size() < 20 || as_text(byte_span(file).subspan(12, 8)) != magic) return file;
  bytes image;
  for (reader in(file); in.ok() && in.left() != 0;) {
    std::uint32_t length = in.u32(), kind = in.u32();
    in.u32();  // the chunk's checksum, which the coordinator checks; an image that is damaged is refused by its form
    byte_span chunk = in.take(length);
    if (kind == 4) image.insert(image.end(), chunk.begin(), chunk.end());
  }
  return image;
}

int check_image(std::unique_ptr<immortal_base> app, const char* path) {
  bytes image;
  if (!read_file(path, image, SIZE_MAX / 2)) return say(2, "The image " + std::string(path) + " cannot be read: AMBROSIA_CHECK_IMAGE names a file.");
  session of(std::move(app), [] {});
  if (!of.restore(image_in(std::move(image)))) return say(of.end().code, of.end().why);
  return say(0, "The image can be continued.");
}

bool flush(channel& to, session& from) {
  from.out.close();
  bool is_sent = to.write(from.out.bytes_out().view());
  from.out.bytes_out().clear();
  return is_sent;
}

// Executes the whole frames that were received. False: the session has ended.
bool execute_received(channel& from, session& at) {
  for (;;) {
    frame_view frame;
    const char* broken = read_frame(from.received(), false, 0, at.payload_most(), frame);
    if (broken != nullptr) return at.refuse(broken);
    if (frame.consumed == 0) return true;
    bool goes_on = at.take(frame.type, frame.payload);
    from.consume(frame.consumed);
    if (!goes_on) return false;
    std::uint32_t capacity = 0;
    std::string path = at.take_rings_path(capacity), why;
    if (!path.empty() && !from.map_rings(path, capacity, why)) return at.refuse_rings(why);
  }
}

void run_posts(session& at, immortal_base& app) {
  std::deque<std::function<void(immortal_base&)>> taken;
  {
    std::lock_guard hold(box().lock);
    if (at.is_primary) taken.swap(box().waiting);
  }
  for (auto& one : taken) one(app);
}

session_end lost() { return {74, "The connection to the coordinator has ended."}; }

// Whether a debugger is attached.
bool is_traced() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "TracerPid:") return status >> word && word != "0";
  }
  return false;
}

session_end converse(channel& with, session& at, immortal_base& app) {
  std::unique_ptr<watcher> watching;
  while (execute_received(with, at)) {
    bool is_dry = !with.read_more();
    if (watching == nullptr && at.is_welcome()) watching = std::make_unique<watcher>(with, at);
    // Neither reports nor what other threads have brought may wait for the end of an input that never runs dry.
    at.drain_tasks();
    run_posts(at, app);
    if (is_dry) at.run_dry();
    bool is_sent = flush(with, at);
    if (!is_dry) continue;
    if (!is_sent || with.has_ended()) return lost();
    if (at.takes_break() && is_traced()) {
      std::raise(SIGTRAP);
      at.say_goes_on();  // the coordinator says what comes next
      continue;
    }
    with.wait();
  }
  watching.reset();  // it says nothing behind the goodbye
  flush(with, at);
  return at.end();
}

session_end run_session(std::unique_ptr<immortal_base> app) {
  const char* address = std::getenv("AMBROSIA_APP");
  const char* token_path = std::getenv("AMBROSIA_TOKEN");
  if (address == nullptr || token_path == nullptr) {
    return {2, "AMBROSIA_APP and AMBROSIA_TOKEN are not set: a coordinator starts an app (ImmortalCoordinator --log DIR -- ./app)."};
  }
  bytes token;
  channel with;
  int code = 0;
  std::string why;
  if (!with.connect(address, code, why)) return {code, why};
  // Behind the connection, or the one that was gone a moment later would be missed.
  if (coordinator_is_gone(std::getenv("AMBROSIA_PARENT"))) return {74, "The coordinator that started this app is gone, and another one answers here."};
  if (!read_file(token_path, token, 32) || token.size() != 32) {
    return {2, "The token in " + std::string(token_path) + " cannot be read, or has not 32 bytes: each start of a coordinator makes a new one."};
  }
  immortal_base& served = *app;
  session at(std::move(app), [&with] { with.wake(); });
  {
    std::lock_guard hold(box().lock);
    box().wake = [&with] { with.wake(); };
  }
  // That the connection has ended is found by who reads.
  at.out.send = [&with](writer& frames) { with.write(frames.view()), frames.clear(); };
  at.greet(token);
  session_end end = flush(with, at) ? converse(with, at, served) : lost();
  std::lock_guard hold(box().lock);
  box().wake = nullptr;
  return end;
}

}  // namespace

bool post(std::function<void(immortal_base&)> send) {
  std::lock_guard hold(box().lock);
  if (box().waiting.size() >= posts_most) return false;
  box().waiting.push_back(std::move(send));
  if (box().wake) box().wake();
  return true;
}

bool is_view() {
  const char* said = std::getenv("AMBROSIA_VIEW");
  return said != nullptr && std::string_view(said) == "1";
}

int run_app(const std::function<std::unique_ptr<immortal_base>()>& make) {
  if (const char* image = std::getenv("AMBROSIA_CHECK_IMAGE")) return check_image(make(), image);
  session_end end;
  do end = run_session(make());
  while (end.begins_again);
  return say(end.code, end.code == 0 ? "" : end.why);
}

}  // namespace ambrosia::inline v0
