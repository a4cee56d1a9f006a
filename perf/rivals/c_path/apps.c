/* Both apps of a stream: one makes messages, the other checks each one's number. */
#include "path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { method = 1 };

size_t put_head(uint8_t *at, size_t argument_bytes) {
    size_t rest = argument_bytes + 1, n = 0;
    for (; rest >= 0x80; rest >>= 7) at[n++] = (uint8_t)(rest | 0x80);
    at[n++] = (uint8_t)rest;
    at[n++] = method;
    return n;
}

bool find_message(const uint8_t *at, size_t have, size_t *argument_at, size_t *argument_bytes) {
    size_t length = 0, n = 0;
    if (have > 0 && at[0] < 0x80) { /* nearly all */
        length = at[0];
        n = 1;
    } else {
        for (int shift = 0;; shift += 7) {
            if (n == have) return false;
            measure_check(shift <= 21, "a message's length");
            length |= (size_t)(at[n] & 0x7f) << shift;
            if (at[n++] < 0x80) break;
        }
    }
    if (have - n < length) return false;
    measure_check(length > 0, "an empty message");
    *argument_at = n + 1;
    *argument_bytes = length - 1;
    return true;
}

void send_messages(struct path *path) {
    enum { head_bytes_max = 8 };
    size_t bytes = path->argument_bytes, filled = 0;
    uint8_t *buffer = calloc(1, send_bytes + head_bytes_max + bytes);
    for (uint64_t i = 1; i <= path->messages; i++) {
        filled += put_head(buffer + filled, bytes);
        memcpy(buffer + filled, &i, sizeof i);
        filled += bytes;
        if (filled >= send_bytes || i == path->messages) {
            write_all(path->app1[0], buffer, filled);
            filled = 0;
        }
    }
    free(buffer);
}

/* Checks the messages of whole batches; returns the bytes used. */
static size_t check_batches(const uint8_t *at, size_t have, struct round_totals *totals) {
    size_t used = 0;
    while (have - used >= sizeof(struct batch_header)) {
        struct batch_header header;
        memcpy(&header, at + used, sizeof header);
        if (have - used - sizeof header < header.bytes) break;
        size_t end = used + sizeof header + header.bytes, argument_at = 0, argument_bytes = 0;
        for (used += sizeof header; used < end; used += argument_at + argument_bytes) {
            measure_check(find_message(at + used, end - used, &argument_at, &argument_bytes), "a message cut by its batch");
            uint64_t number;
            memcpy(&number, at + used + argument_at, sizeof number);
            totals->count++;
            totals->bytes += argument_bytes;
            totals->disorder += number != totals->count;
        }
    }
    return used;
}

void receive_messages(void *context) {
    struct path *path = context;
    close(path->app1[0]), close(path->app1[1]), close(path->link[0]), close(path->link[1]), close(path->app2[0]);
    size_t capacity = 2 * page_bytes, have = 0;
    uint8_t *buffer = malloc(capacity);
    struct round_totals totals = {0};
    while (totals.count < path->messages) {
        ssize_t n = read(path->app2[1], buffer + have, capacity - have < receive_bytes ? capacity - have : receive_bytes);
        measure_check(n > 0, "the logger");
        have += (size_t)n;
        size_t used = check_batches(buffer, have, &totals);
        memmove(buffer, buffer + used, have - used);
        have -= used;
    }
    totals.ended = measure_now();
    write_all(path->totals[1], &totals, sizeof totals);
    char goodbye;
    read_all(path->app2[1], &goodbye, 1); /* until the logger ends: our processor time was read by then */
    free(buffer);
}
