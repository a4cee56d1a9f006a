// int main() { return ambrosia::run<Bank>(); }
#pragma once

#include <ambrosia/immortal.h>

namespace ambrosia::inline v0 {

// Connects to the coordinator that the environment names (P5.0), executes until the channel ends, and gives the exit code of P5.13.
// With AMBROSIA_CHECK_IMAGE=FILE it does no more than restore the image in FILE: 0 if this build can go on with it.
int run_app(std::unique_ptr<immortal_base> app);

// Sends an impulse from any thread: `send` runs on the executing thread, as soon as the process is primary. False: 65,536 wait already.
bool post(std::function<void(immortal_base&)> send);

template <class A, class... X>
int run(X&&... arguments) {
  return run_app(std::make_unique<A>(std::forward<X>(arguments)...));
}

}  // namespace ambrosia
