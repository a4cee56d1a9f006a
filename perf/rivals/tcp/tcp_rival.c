/* One bare TCP connection over loopback: what a message costs when nothing is promised.
 *   tcp_rival stream BYTES MESSAGES   numbered messages, written 64 KiB at a time, checked at the other end
 *   tcp_rival ping CALLS              16 bytes there and back, one at a time */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { length_bytes = 4, write_bytes = 64 * 1024, read_bytes = 256 * 1024, ping_bytes = 16, warm_up_calls = 2000 };

struct stream_job {
    int end, other_end, report;
    uint64_t messages;
    size_t bytes;
};

/* Parses what came, checks each number; the rest of a message that is cut waits for more. */
static void receive_stream(void *context) {
    struct stream_job *job = context;
    close(job->other_end);
    size_t capacity = read_bytes + length_bytes + job->bytes, have = 0;
    uint8_t *buffer = malloc(capacity);
    struct round_totals totals = {0};
    while (totals.count < job->messages) {
        ssize_t n = read(job->end, buffer + have, capacity - have);
        measure_check(n > 0, "read");
        have += (size_t)n;
        size_t at = 0;
        while (have - at >= length_bytes) {
            uint32_t length;
            memcpy(&length, buffer + at, length_bytes);
            if (have - at - length_bytes < length) break;
            uint64_t number;
            memcpy(&number, buffer + at + length_bytes, sizeof number);
            totals.count++;
            totals.bytes += length;
            totals.disorder += number != totals.count;
            at += length_bytes + length;
        }
        memmove(buffer, buffer + at, have - at);
        have -= at;
    }
    totals.ended = measure_now();
    write_all(job->report, &totals, sizeof totals);
    char goodbye;
    read_all(job->end, &goodbye, 1); /* until our processor time was read */
    free(buffer);
}

static void send_stream(int end, uint64_t messages, size_t bytes) {
    size_t record = length_bytes + bytes, filled = 0;
    size_t capacity = record > write_bytes ? record : write_bytes;
    uint8_t *buffer = calloc(1, capacity + record);
    for (uint64_t i = 1; i <= messages; i++) {
        uint32_t length = (uint32_t)bytes;
        memcpy(buffer + filled, &length, length_bytes);
        memcpy(buffer + filled + length_bytes, &i, sizeof i);
        filled += record;
        if (filled >= capacity || i == messages) {
            write_all(end, buffer, filled);
            filled = 0;
        }
    }
    free(buffer);
}

static int run_stream(size_t bytes, uint64_t messages) {
    int ends[2], reports[2];
    tcp_pair(ends);
    measure_check(pipe(reports) == 0, "pipe");
    struct stream_job job = {.end = ends[1], .other_end = ends[0], .report = reports[1], .messages = messages, .bytes = bytes};
    pid_t receiver = start_process(receive_stream, &job);
    close(ends[1]);
    close(reports[1]);
    uint64_t cpu = processor_time(getpid()) + processor_time(receiver), begun = measure_now();
    send_stream(ends[0], messages, bytes);
    struct round_totals totals;
    measure_check(read_all(reports[0], &totals, sizeof totals), "the receiver");
    struct round_usage usage = {.cpu_seconds = (double)(processor_time(getpid()) + processor_time(receiver) - cpu) / 1e9};
    close(ends[0]);
    await_process(receiver);
    print_round((double)(totals.ended - begun) / 1e9, &totals, &usage);
    return 0;
}

static void echo(void *context) {
    const int *ends = context;
    int end = ends[1];
    close(ends[0]);
    uint8_t message[ping_bytes];
    while (read_all(end, message, sizeof message)) write_all(end, message, sizeof message);
}

static int run_ping(size_t calls) {
    int ends[2];
    tcp_pair(ends);
    pid_t server = start_process(echo, ends);
    close(ends[1]);
    uint64_t *latencies = calloc(calls, sizeof *latencies), wrong = 0, cpu = 0, begun = 0;
    for (size_t i = 0; i < calls + warm_up_calls; i++) {
        if (i == warm_up_calls) {
            cpu = processor_time(getpid()) + processor_time(server);
            begun = measure_now();
        }
        uint64_t question[2] = {i, ~i}, answer[2], called = measure_now();
        write_all(ends[0], question, sizeof question);
        measure_check(read_all(ends[0], answer, sizeof answer), "the server");
        if (i >= warm_up_calls) latencies[i - warm_up_calls] = measure_now() - called;
        wrong += memcmp(question, answer, sizeof question) != 0;
    }
    double seconds = (double)(measure_now() - begun) / 1e9;
    struct round_usage usage = {.cpu_seconds = (double)(processor_time(getpid()) + processor_time(server) - cpu) / 1e9};
    close(ends[0]);
    await_process(server);
    print_latencies(wrong, seconds, &usage, latencies, calls);
    free(latencies);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "stream") == 0) {
        uint64_t bytes = measure_number(argv[2]);
        if (bytes >= 8 && bytes <= 1 << 24) return run_stream(bytes, measure_number(argv[3]));
    }
    if (argc == 3 && strcmp(argv[1], "ping") == 0) return run_ping(measure_number(argv[2]));
    fprintf(stderr, "usage: %s stream BYTES MESSAGES | ping CALLS   (BYTES from 8 to 16777216)\n", argv[0]);
    return 2;
}
