// int main() { return ambrosia::run<Bank>(); }
#pragma once

#include <ambrosia/immortal.h>

namespace ambrosia::inline v0 {

// Connects to the coordinator that the environment names (P5.0), executes until the channel ends, and gives the exit code of P5.13.
// With AMBROSIA_CHECK_IMAGE=FILE it does no more than restore the image in FILE: 0 if this build can go on with it.
// `make` makes the app, anew for each session: a view begins more than one.
int run_app(const std::function<std::unique_ptr<immortal_base>()>& make);

// Whether this process executes a log for somebody who looks at the past (docs/time-travel.md). Code around the immortal, such as servers, asks
// it and stays away; handlers must not, since they would do other things than they did.
bool is_view();

// Sends an impulse from any thread: `send` runs on the executing thread, as soon as the process is primary. False: 65,536 wait already.
bool post(std::function<void(immortal_base&)> send);

template <class A, class... X>
int run(const X&... arguments) {
  return run_app([&] { return std::make_unique<A>(arguments...); });
}

}  // namespace ambrosia::inline v0
