/* Our data path in C (path.h says which).
 *   c_path stream LOG LOCAL DIR BYTES MESSAGES   one way as fast as it goes
 *   c_path ping   LOG LOCAL DIR CALLS            16 bytes there and back, one at a time, durable on both sides before they are handed on
 * LOG: direct (O_DIRECT + fdatasync), buffered (fdatasync), unflushed, off. LOCAL: unix, tcp. DIR holds the pre-written log files, which are
 * kept for the next round. */
#include "path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { warm_up_calls = 2000 };

static void local_pair(const struct path_options *options, int ends[2]) {
    if (options->local_tcp) tcp_pair(ends);
    else unix_pair(ends);
}

static uint64_t cpu_of(const pid_t *processes, int count) {
    uint64_t sum = processor_time(getpid());
    for (int i = 0; i < count; i++) sum += processor_time(processes[i]);
    return sum;
}

static int run_stream(const struct path_options *options, size_t bytes, uint64_t messages) {
    struct path path = {.options = options, .messages = messages, .argument_bytes = bytes};
    local_pair(options, path.app1);
    tcp_pair(path.link);
    local_pair(options, path.app2);
    measure_check(pipe(path.totals) == 0 && pipe(path.counters) == 0, "pipe");
    pid_t processes[3] = {start_process(receive_messages, &path), start_process(log_messages, &path), start_process(forward_messages, &path)};
    close(path.app1[1]), close(path.link[0]), close(path.link[1]), close(path.app2[0]), close(path.app2[1]);
    struct round_usage usage = {0};
    measure_check(read_all(path.counters[0], &usage.commits, sizeof usage.commits), "the logger");
    uint64_t cpu = cpu_of(processes, 3), begun = measure_now();
    send_messages(&path);
    struct round_totals totals;
    close(path.totals[1]);
    measure_check(read_all(path.totals[0], &totals, sizeof totals), "app2");
    usage.cpu_seconds = (double)(cpu_of(processes, 3) - cpu) / 1e9;
    close(path.app1[0]); /* and one process after the other sees the end */
    read_all(path.counters[0], &usage.commits, sizeof usage.commits);
    read_all(path.counters[0], &usage.log_bytes, sizeof usage.log_bytes);
    for (int i = 0; i < 3; i++) await_process(processes[i]);
    print_round((double)(totals.ended - begun) / 1e9, &totals, &usage);
    return 0;
}

/* ---- ping: with one call under way everything is in turn, so each process needs one thread and no hand-off ---- */

struct ping_path {
    int app1[2], link[2], app2[2];
    const struct path_options *options;
};

/* A block with the message in it, written and flushed. */
static void commit_message(struct log_file *log, uint8_t *block, const uint8_t *message) {
    uint32_t crc = crc32c(message, ping_bytes);
    memcpy(block, &crc, sizeof crc);
    memcpy(block + sizeof crc, message, ping_bytes);
    write_log(log, block, block_bytes);
    flush_log(log);
}

static uint8_t *new_block(void) {
    void *block = NULL;
    measure_check(posix_memalign(&block, block_bytes, block_bytes) == 0, "memory");
    return memset(block, 0, block_bytes);
}

static void answer_calls(void *context) {
    struct ping_path *path = context;
    close(path->app1[0]), close(path->app1[1]), close(path->link[0]), close(path->link[1]), close(path->app2[0]);
    uint8_t message[ping_bytes];
    while (read_all(path->app2[1], message, sizeof message)) write_all(path->app2[1], message, sizeof message);
}

static void serve_calls(void *context) {
    struct ping_path *path = context;
    close(path->app1[0]), close(path->app1[1]), close(path->link[0]), close(path->app2[1]);
    struct log_file log = open_log(path->options, "server.log");
    uint8_t message[ping_bytes], *block = new_block();
    write_all(path->link[1], "r", 1); /* ready */
    while (read_all(path->link[1], message, sizeof message)) {
        commit_message(&log, block, message);
        write_all(path->app2[0], message, sizeof message);
        measure_check(read_all(path->app2[0], message, sizeof message), "app2");
        write_all(path->link[1], message, sizeof message);
    }
}

static void carry_calls(void *context) {
    struct ping_path *path = context;
    close(path->app1[0]), close(path->link[1]), close(path->app2[0]), close(path->app2[1]);
    struct log_file log = open_log(path->options, "client.log");
    uint8_t message[ping_bytes], *block = new_block();
    char ready;
    measure_check(read_all(path->link[0], &ready, 1), "the server");
    write_all(path->app1[1], &ready, 1);
    while (read_all(path->app1[1], message, sizeof message)) {
        write_all(path->link[0], message, sizeof message);
        measure_check(read_all(path->link[0], message, sizeof message), "the link");
        commit_message(&log, block, message);
        write_all(path->app1[1], message, sizeof message);
    }
}

static int run_ping(const struct path_options *options, size_t calls) {
    struct ping_path path = {.options = options};
    local_pair(options, path.app1);
    tcp_pair(path.link);
    local_pair(options, path.app2);
    pid_t processes[3] = {start_process(answer_calls, &path), start_process(serve_calls, &path), start_process(carry_calls, &path)};
    close(path.app1[1]), close(path.link[0]), close(path.link[1]), close(path.app2[0]), close(path.app2[1]);
    char ready;
    measure_check(read_all(path.app1[0], &ready, 1), "the path");
    uint64_t *latencies = calloc(calls, sizeof *latencies), wrong = 0, cpu = 0, begun = 0;
    for (size_t i = 0; i < calls + warm_up_calls; i++) {
        if (i == warm_up_calls) {
            cpu = cpu_of(processes, 3);
            begun = measure_now();
        }
        uint64_t question[2] = {i, ~i}, answer[2], called = measure_now();
        write_all(path.app1[0], question, sizeof question);
        measure_check(read_all(path.app1[0], answer, sizeof answer), "the path");
        if (i >= warm_up_calls) latencies[i - warm_up_calls] = measure_now() - called;
        wrong += memcmp(question, answer, sizeof question) != 0;
    }
    double seconds = (double)(measure_now() - begun) / 1e9;
    /* Each call is two commits of a block, by construction. */
    uint64_t commits = options->log == log_off ? 0 : 2 * calls;
    struct round_usage usage = {.cpu_seconds = (double)(cpu_of(processes, 3) - cpu) / 1e9, .commits = commits, .log_bytes = commits * block_bytes};
    close(path.app1[0]);
    for (int i = 0; i < 3; i++) await_process(processes[i]);
    print_latencies(wrong, seconds, &usage, latencies, calls);
    free(latencies);
    return 0;
}

static bool parse_options(char **words, struct path_options *options) {
    static const char *const kinds[] = {"direct", "buffered", "unflushed", "off"};
    options->directory = words[2];
    options->local_tcp = strcmp(words[1], "tcp") == 0;
    if (!options->local_tcp && strcmp(words[1], "unix") != 0) return false;
    for (options->log = log_direct; options->log <= log_off; options->log++)
        if (strcmp(words[0], kinds[options->log]) == 0) return true;
    return false;
}

int main(int argc, char **argv) {
    struct path_options options;
    if (argc == 7 && strcmp(argv[1], "stream") == 0 && parse_options(argv + 2, &options)) {
        uint64_t bytes = measure_number(argv[5]);
        if (bytes >= 8 && bytes <= argument_bytes_max) return run_stream(&options, bytes, measure_number(argv[6]));
    }
    if (argc == 6 && strcmp(argv[1], "ping") == 0 && parse_options(argv + 2, &options)) return run_ping(&options, measure_number(argv[5]));
    fprintf(stderr, "usage: %s stream LOG LOCAL DIR BYTES MESSAGES | ping LOG LOCAL DIR CALLS\n"
                    "LOG: direct, buffered, unflushed, off. LOCAL: unix, tcp. BYTES: 8 to %d.\n", argv[0], argument_bytes_max);
    return 2;
}
