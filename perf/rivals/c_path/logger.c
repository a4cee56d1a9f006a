/* The receiver's coordinator: batches from the link into pages, pages to the disk, and only then to the app. Three threads, as the pages have. */
#include "path.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct delivery {
    struct pages *pages;
    int app;
};

static void *deliver_pages(void *context) {
    struct delivery *delivery = context;
    size_t bytes;
    const uint8_t *page;
    while ((page = next_durable(delivery->pages, &bytes)) != NULL) {
        write_all(delivery->app, page + block_bytes, bytes);
        release_page(delivery->pages);
    }
    return NULL;
}

/* Puts whole batches into pages; returns the bytes used. */
static size_t take_batches(struct pages *pages, const uint8_t *at, size_t have, uint64_t *next) {
    size_t used = 0;
    while (have - used >= sizeof(struct batch_header)) {
        struct batch_header header;
        memcpy(&header, at + used, sizeof header);
        if (have - used - sizeof header < header.bytes) break;
        const uint8_t *messages = at + used + sizeof header;
        measure_check(header.first == *next, "a batch out of order");
        measure_check(header.crc == crc32c(messages, header.bytes), "a batch's checksum");
        append_batch(pages, &header, messages);
        *next += header.count;
        used += sizeof header + header.bytes;
    }
    return used;
}

static void take_link(struct pages *pages, int link) {
    size_t capacity = 2 * page_bytes, have = 0;
    uint8_t *buffer = malloc(capacity);
    uint64_t next = 1;
    while (true) {
        ssize_t n = read(link, buffer + have, capacity - have < receive_bytes ? capacity - have : receive_bytes);
        if (n < 0 && errno == EINTR) continue;
        measure_check(n >= 0, "the link");
        if (n == 0) break;
        have += (size_t)n;
        size_t used = take_batches(pages, buffer, have, &next);
        memmove(buffer, buffer + used, have - used);
        have -= used;
    }
    free(buffer);
}

void log_messages(void *context) {
    struct path *path = context;
    close(path->app1[0]), close(path->app1[1]), close(path->link[0]), close(path->app2[1]), close(path->totals[1]);
    struct log_file log = open_log(path->options, "receiver.log");
    write_all(path->counters[1], &log.commits, sizeof log.commits); /* the log is open: the round may begin */
    struct delivery delivery = {.pages = open_pages(&log), .app = path->app2[0]};
    pthread_t committer, deliverer;
    measure_check(pthread_create(&committer, NULL, commit_pages, delivery.pages) == 0, "a thread");
    measure_check(pthread_create(&deliverer, NULL, deliver_pages, &delivery) == 0, "a thread");
    take_link(delivery.pages, path->link[1]);
    close_pages(delivery.pages);
    pthread_join(committer, NULL);
    pthread_join(deliverer, NULL);
    write_all(path->counters[1], &log.commits, sizeof log.commits);
    write_all(path->counters[1], &log.bytes, sizeof log.bytes);
}
