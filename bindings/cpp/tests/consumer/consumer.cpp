// A project of somebody else, built from the installed tree alone.
#include <ambrosia/ambrosia.h>

struct State {
  std::int64_t total = 0;
  static constexpr auto fields = ambrosia::fields("total", &State::total);
};

int main() {
  ambrosia::writer out;
  ambrosia::encode(out, State{7});
  return out.size() == 8 && ambrosia::crc64(ambrosia::as_bytes("123456789")) == 0xAE8B14860A799888 ? 0 : 1;
}
