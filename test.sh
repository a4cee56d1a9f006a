#!/usr/bin/env bash
# Builds everything once, runs every test project under tests/, and ends with one line: "N passed, N failed".
# Other languages bring a program "suite" of their own: bindings/*/suite and protocol/*/suite (docs/testing.md).
# Needs the .NET SDK named in global.json and nothing else; tests that want more (strace, two networks, gRPC, a C++ compiler)
# are skipped with the reason, and .ci/run installs it. Usage: ./test.sh [part of a suite's name ...]
#   AMBROSIA_TEST_SCALE     how much of the random and repeated work to do: 1 is a release, 0.1 (default) a commit
#   AMBROSIA_TEST_TIMEOUT   seconds that one suite may take (default 1200)
#   AMBROSIA_TEST_LANES     how many suites run side by side (default 3, as most of them wait half of their time); 1 is one behind the other
#   AMBROSIA_TEST_CONFIG    Release (default) or Debug
set -u -o pipefail
cd "$(dirname "$0")" || exit 1

export AMBROSIA_TEST_SCALE="${AMBROSIA_TEST_SCALE:-0.1}"
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_UI_LANGUAGE=en
# Suites are over before counting what is hot has paid.
export DOTNET_TieredPGO=0
# Nobody attacks a test; mapping each page of compiled code twice costs every process a few percent of its time.
export DOTNET_EnableWriteXorExecute=0
# Nothing that we start outlives us: no build nodes, and no compiler server but our own. It halves the time of the build, and of each build
# that a test makes, as a compiler that has just started spends most of its time on compiling itself.
compiler="ambrosia-test-$$"
export MSBUILDDISABLENODEREUSE=1 DOTNET_CLI_USE_MSBUILD_SERVER=0 UseSharedCompilation=true SharedCompilationId="$compiler"
timeout_s="${AMBROSIA_TEST_TIMEOUT:-1200}"
lanes="${AMBROSIA_TEST_LANES:-3}"
config="${AMBROSIA_TEST_CONFIG:-Release}"

results="$(mktemp -d "${TMPDIR:-/tmp}/ambrosia-test.XXXXXX")" || exit 1
trap 'stop_suites; stop_compiler; rm -rf "$results"' EXIT
trap 'exit 130' INT TERM
passed=0
failed=0
running=()

# By id. Where there is no /proc it ends by itself, after some minutes without work.
stop_compiler() {
  local process
  for process in /proc/[0-9]*; do
    case "$(tr '\0' ' ' 2>/dev/null <"$process/cmdline")" in
      *VBCSCompiler*"-pipename:$compiler "*) kill "${process#/proc/}" ;;
    esac
  done 2>/dev/null
}

# Those that still run when the script is interrupted. The limit around a suite hands the signal on to all that the suite has started.
stop_suites() {
  local name
  for name in "${running[@]-}"; do
    [ -n "$name" ] && kill "$(cat "$results/$name.limit" 2>/dev/null)" 2>/dev/null
  done
}

finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
  exit $?
}

# End-to-end tests start a coordinator a thousand times, so they use the native one, which is there at once and is what is shipped.
# Without a linker, or its compiler in a registry, they use the one that was built. The packages of the feed's tests take it, too.
publish_native() {
  local system
  [ -z "${AMBROSIA_TEST_COORDINATOR:-}" ] && command -v gcc >/dev/null || return
  case "$(uname -s)-$(uname -m)" in Linux-x86_64) system=linux-x64 ;; Linux-aarch64) system=linux-arm64 ;; *) return ;; esac
  if dotnet publish ImmortalCoordinator/ImmortalCoordinator -c Release -r "$system" -o "$results/native" -v q --nologo \
    -nodeReuse:false >"$results/native.out" 2>&1; then
    export AMBROSIA_TEST_COORDINATOR="$results/native/ImmortalCoordinator"
  else
    tail -n 3 "$results/native.out"
    echo "no native coordinator: end-to-end tests run the one that was built"
  fi
}

# A counter of a suite's results file; empty when there is no such file.
counter() {
  sed -n "s/.*<Counters [^>]*\b$1=\"\([0-9]*\)\".*/\1/p" "$2" 2>/dev/null | head -n 1
}

# Discovered, not listed: the simulation, whatever ends in .Tests, and the suites of other languages. Those that take minutes begin, the
# longest first, and what is short fills the lanes at the end; otherwise the last long one runs alone.
suites() {
  local project wanted
  # shellcheck disable=SC2046 # lists of paths
  for project in $(named EndToEnd.Tests Simulation Samples.Tests Feed.Tests Suspension.Tests) bindings/*/suite \
    $(named Hosting.Tests Perf.Tests Generators.Tests Log.Tests Schedules.Tests) protocol/*/suite tests/*.Tests/*.csproj; do
    [ -f "$project" ] || continue
    [ $# -eq 0 ] && echo "$project"
    for wanted in "$@"; do
      case "$project" in *"$wanted"*) echo "$project"; break ;; esac
    done
  done | awk '!seen[$0]++'
}

named() {
  printf 'tests/Ambrosia.%s/*.csproj ' "$@"
}

# Says everything of one suite, and leaves its count in a file, which is missing where the suite could not be run to its end.
run_suite() {
  case "$1" in */suite) run_program "$1" ;; *) run_project "$1" ;; esac
}

# Suites run side by side, so what one costs is the processor's time of all that it started, but for what outlived the one that started it.
say_result() {
  times >"$results/$1.times"
  printf '%-34s %6d passed %4d failed %5d s %5d s of a processor\n' "$@" \
    "$(awk -F '[ms ]+' 'NR == 2 { printf "%d", 60 * $1 + $2 + 60 * $3 + $4 }' "$results/$1.times")"
}

# A program says "N passed, N failed" in its last line, and why it skipped a test behind "  skipped".
run_program() {
  local program="$1" name started code p f
  name="$(suite_name "$program")"
  started=$SECONDS
  timeout -k 10 "$timeout_s" "$program" >"$results/$name.out" 2>&1 &
  echo $! >"$results/$name.limit"
  wait $!
  code=$?
  read -r p f < <(sed -n '$ s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$results/$name.out")
  p="${p:-0}"; f="${f:-0}"
  if [ "$code" -ne 0 ] || [ "$f" -gt 0 ] || [ "$p" -eq 0 ]; then
    [ "$f" -eq 0 ] && f=1
    cat "$results/$name.out"
    [ "$p" -eq 0 ] && echo "$name: no test passed (exit $code)"
  else
    sed -n '/^  skipped /,/^    /p' "$results/$name.out"
  fi
  say_result "$name" "$p" "$f" $((SECONDS - started))
  echo "$p $f" >"$results/$name.count"
}

run_project() {
  local project="$1" name trx started code p f total
  name="$(suite_name "$project")"
  trx="$results/$name.trx"
  started=$SECONDS
  # The suite names the test that hangs; the outer limit is for a runner that hangs itself.
  timeout -k 10 $((timeout_s + 60)) dotnet test "$(dirname "$project")/bin/$config/net10.0/$name.dll" \
    --logger "trx;LogFileName=$trx" --logger "console;verbosity=minimal" --results-directory "$results" \
    --blame-hang-timeout "${timeout_s}s" --blame-hang-dump-type none >"$results/$name.out" 2>&1 &
  echo $! >"$results/$name.limit"
  wait $!
  code=$?
  p="$(counter passed "$trx")"; f="$(counter failed "$trx")"; total="$(counter total "$trx")"
  p="${p:-0}"; f="${f:-0}"
  if [ "$code" -ne 0 ] || [ "$f" -gt 0 ] || [ "${total:-0}" -eq 0 ]; then
    # A suite that stopped, or ran nothing, is a failure even when no test says so.
    [ "$f" -eq 0 ] && f=1
    cat "$results/$name.out"
    [ "${total:-0}" -eq 0 ] && echo "$name: no test ran (exit $code)"
  fi
  say_result "$name" "$p" "$f" $((SECONDS - started))
  # Only for want of something on this machine: each with its reason.
  [ ! -f "$trx" ] || sed -n '/outcome="NotExecuted"/,/<\/UnitTestResult>/ { s/.*testName="\([^"]*\)".*/  skipped \1/p; s/.*<Message>\(.*\)<\/Message>.*/    \1/p }' "$trx"
  echo "$p $f" >"$results/$name.count"
}

suite_name() {
  case "$1" in */suite) dirname "$1" | tr / - ;; *) basename "$1" .csproj ;; esac
}

# Prints what a suite that has ended said, in one piece, and counts it.
report() {
  local name="$1" p f
  cat "$results/$name.said"
  if ! read -r p f 2>/dev/null <"$results/$name.count"; then
    echo "$name: its run ended without a result"
    p=0 f=1
  fi
  passed=$((passed + p))
  failed=$((failed + f))
}

# Reports the suites that have ended, and returns when no more than so many run. A suite's process is looked for by its id, so that one
# that was killed is noticed, too.
await_lanes() {
  local most="$1" i still
  while [ ${#running[@]} -gt 0 ]; do
    still=()
    for i in "${running[@]}"; do
      if kill -0 "$(cat "$results/$i.pid")" 2>/dev/null; then still+=("$i"); else report "$i"; fi
    done
    running=("${still[@]+"${still[@]}"}")
    [ ${#running[@]} -le "$most" ] && return
    sleep 0.2
  done
}

# Suites share nothing (docs/testing.md), so whichever is next begins when a lane is free.
run_suites() {
  local project name
  for project in "$@"; do
    await_lanes $((lanes - 1))
    name="$(suite_name "$project")"
    run_suite "$project" >"$results/$name.said" 2>&1 &
    echo $! >"$results/$name.pid"
    running+=("$name")
  done
  await_lanes 0
}

# What is started a thousand times is compiled ahead (Directory.Build.targets), where a registry has what does it.
ahead=-p:AmbrosiaCompileAhead=true
dotnet restore Ambrosia.sln -v q --nologo "$ahead" >/dev/null 2>&1 || ahead=-p:AmbrosiaCompileAhead=false

if ! dotnet build Ambrosia.sln -c "$config" -v q --nologo -nodeReuse:false "$ahead"; then
  echo "the build failed"
  failed=1
  finish
fi
found="$(suites "$@")"
case "$found" in *Ambrosia.EndToEnd.Tests* | *Ambrosia.Feed.Tests*) publish_native ;; esac

if [ -z "$found" ]; then
  echo "no suite found"
  failed=1
fi
# shellcheck disable=SC2086 # a list of paths
run_suites $found
finish
