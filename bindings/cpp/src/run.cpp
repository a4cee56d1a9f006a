#include <ambrosia/run.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <unistd.h>

#include "channel.h"
#include "session.h"

namespace ambrosia {
inline namespace v0 {

namespace {

constexpr std::size_t flush_bytes = 256 * 1024, posts_most = 65'536;

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

int say(int code, const std::string& why) {
  if (!why.empty()) std::fprintf(stderr, "ambrosia: %s\n", why.c_str());
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

int check_image(std::unique_ptr<immortal_base> app, const char* path) {
  bytes image;
  if (!read_file(path, image, SIZE_MAX / 2)) return say(2, "The image " + std::string(path) + " cannot be read: AMBROSIA_CHECK_IMAGE names a file.");
  session of(std::move(app), [] {});
  if (!of.restore(image)) return say(of.end().code, of.end().why);
  return say(0, "The image can be continued.");
}

// Tells where a long handler stands (P5.20), and ends a process whose coordinator is gone in the middle of one (P5.13).
class watcher {
 public:
  watcher(channel& of, session& at) : _channel(of), _session(at), _thread([this] { watch(); }) {}
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;
  ~watcher() {
    {
      std::lock_guard hold(_lock);
      _ends = true;
    }
    _more.notify_all();
    _thread.join();
  }

 private:
  void watch() {
    int broken = 0;
    std::uint64_t said_lsn = 0;
    std::uint32_t said_index = 0;
    std::unique_lock hold(_lock);
    while (!_more.wait_for(hold, std::chrono::seconds(1), [this] { return _ends; })) {
      broken = _channel.is_broken() ? broken + 1 : 0;
      if (broken >= 2) std::_Exit(74);
      std::uint64_t lsn = _session.executing_lsn.load(std::memory_order_relaxed);
      std::uint32_t index = _session.executing_index.load(std::memory_order_relaxed);
      if (lsn == 0 || (lsn == said_lsn && index == said_index)) continue;
      said_lsn = lsn, said_index = index;
      writer frame;
      std::size_t at = begin_frame(frame);
      frame.u64(lsn), frame.u32(index);
      end_frame(frame, at, frame_type::executing);
      _channel.write(frame.view());
    }
  }

  channel& _channel;
  session& _session;
  std::mutex _lock;
  std::condition_variable _more;
  bool _ends = false;
  std::thread _thread;
};

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
    if (at.out.bytes_out().size() > flush_bytes && !flush(from, at)) return true;
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

int converse(channel& with, session& at, immortal_base& app) {
  bool goes_on = true;
  std::unique_ptr<watcher> watching;
  while (goes_on) {
    goes_on = execute_received(with, at);
    if (!goes_on || with.read_more()) continue;
    if (watching == nullptr && at.is_welcome()) watching = std::make_unique<watcher>(with, at);
    at.drain_tasks();
    run_posts(at, app);
    at.run_dry();
    if (!flush(with, at) || with.has_ended()) break;
    with.wait();
  }
  watching.reset();
  if (!goes_on) {
    flush(with, at);
    return say(at.end().code, at.end().code == 0 ? "" : at.end().why);
  }
  return say(74, "The connection to the coordinator has ended.");
}

// Whether the coordinator that started this process has ended (protocol P5.0). A wrapper may stand between the two, so the parent of this
// process alone proves nothing; one that nobody has waited for is gone, too. Where there is no /proc nobody is said to be gone.
bool coordinator_is_gone() {
  const char* parent = std::getenv("AMBROSIA_PARENT");
  if (parent == nullptr || *parent == '\0' || std::strspn(parent, "0123456789") != std::strlen(parent)) return false;
  bytes line;
  if (!read_file("/proc/self/stat", line, 4096)) return false;
  line.clear();
  if (!read_file(("/proc/" + std::string(parent) + "/stat").c_str(), line, 4096)) return true;
  const std::string text(line.begin(), line.end());
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && name_end + 2 < text.size() && (text[name_end + 2] == 'Z' || text[name_end + 2] == 'X');
}

}  // namespace

bool post(std::function<void(immortal_base&)> send) {
  std::function<void()> wake;
  {
    std::lock_guard hold(box().lock);
    if (box().waiting.size() >= posts_most) return false;
    box().waiting.push_back(std::move(send));
    if (box().wake) box().wake();
  }
  return true;
}

int run_app(std::unique_ptr<immortal_base> app) {
  if (const char* image = std::getenv("AMBROSIA_CHECK_IMAGE")) return check_image(std::move(app), image);
  const char* address = std::getenv("AMBROSIA_APP");
  const char* token_path = std::getenv("AMBROSIA_TOKEN");
  if (address == nullptr || token_path == nullptr) {
    return say(2, "AMBROSIA_APP and AMBROSIA_TOKEN are not set: a coordinator starts an app (ImmortalCoordinator --log DIR -- ./app).");
  }
  bytes token;
  channel with;
  int code = 0;
  std::string why;
  if (!with.connect(address, code, why)) return say(code, why);
  // Behind the connection, or the one that was gone a moment later would be missed.
  if (coordinator_is_gone()) return say(74, "The coordinator that started this app is gone, and another one answers here.");
  if (!read_file(token_path, token, 32) || token.size() != 32) {
    return say(2, "The token in " + std::string(token_path) + " cannot be read, or has not 32 bytes: each start of a coordinator makes a new one.");
  }
  immortal_base& served = *app;
  session at(std::move(app), [&with] { with.wake(); });
  {
    std::lock_guard hold(box().lock);
    box().wake = [&with] { with.wake(); };
  }
  at.greet(token);
  code = flush(with, at) ? converse(with, at, served) : say(74, "The connection to the coordinator has ended.");
  std::lock_guard hold(box().lock);
  box().wake = nullptr;
  return code;
}

}  // namespace v0
}  // namespace ambrosia
