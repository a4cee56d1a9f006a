/* The sender's coordinator: finds where messages end, and sends whole ones on as a batch with a checksum, from where they were received. What
 * is cut waits at the front of the buffer. */
#include "path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static void send_batch(int link, const struct batch_header *header, const uint8_t *messages) {
    struct iovec parts[2] = {{.iov_base = (void *)header, .iov_len = sizeof *header}, {.iov_base = (void *)messages, .iov_len = header->bytes}};
    size_t left = sizeof *header + header->bytes;
    while (left > 0) {
        ssize_t n = writev(link, parts, 2);
        if (n < 0 && errno == EINTR) continue;
        measure_check(n > 0, "writev");
        left -= (size_t)n;
        for (int i = 0; i < 2; i++) {
            size_t taken = (size_t)n < parts[i].iov_len ? (size_t)n : parts[i].iov_len;
            parts[i].iov_base = (uint8_t *)parts[i].iov_base + taken;
            parts[i].iov_len -= taken;
            n -= (ssize_t)taken;
        }
    }
}

void forward_messages(void *context) {
    struct path *path = context;
    close(path->app1[0]), close(path->link[1]), close(path->app2[0]), close(path->app2[1]), close(path->totals[1]), close(path->counters[1]);
    size_t capacity = page_body_bytes - sizeof(struct batch_header), have = 0;
    uint8_t *buffer = malloc(capacity);
    uint64_t next = 1;
    while (true) {
        size_t room = capacity - have;
        measure_check(room > 0, "a message larger than the buffer");
        ssize_t n = read(path->app1[1], buffer + have, room < receive_bytes ? room : receive_bytes);
        if (n < 0 && errno == EINTR) continue;
        measure_check(n >= 0, "app1");
        if (n == 0) break;
        have += (size_t)n;
        struct batch_header header = {.first = next};
        size_t argument_at = 0, argument_bytes = 0;
        while (find_message(buffer + header.bytes, have - header.bytes, &argument_at, &argument_bytes)) {
            header.bytes += (uint32_t)(argument_at + argument_bytes);
            header.count++;
        }
        if (header.count == 0) continue;
        header.crc = crc32c(buffer, header.bytes);
        send_batch(path->link[0], &header, buffer);
        next += header.count;
        memmove(buffer, buffer + header.bytes, have - header.bytes);
        have -= header.bytes;
    }
    measure_check(have == 0, "a message cut by the end");
    free(buffer);
}
