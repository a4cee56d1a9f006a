/* Pages go round a ring: opened, sealed, durable, delivered, and open again. Each stage is a count of pages that have passed it, so a page's
 * state is where its number stands: delivered <= durable <= sealed <= delivered + ring_pages. The page with number `sealed` is the open one.
 * The committer seals the open page itself when nothing waits: load makes the group, no timer does. */
#include "path.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ring_pages = 4, fill_bytes = 1 << 20 };

struct page_header {
    uint64_t number;
    uint32_t bytes, crc;
};

struct pages {
    pthread_mutex_t mutex;
    pthread_cond_t appendable, committable, deliverable;
    uint64_t sealed, durable, delivered;
    size_t filled[ring_pages]; /* bytes of batches in each */
    uint8_t *memory[ring_pages];
    bool closed, finished; /* no more batches; no more durable pages */
    struct log_file *log;
};

static size_t round_up(size_t bytes) { return (bytes + block_bytes - 1) / block_bytes * block_bytes; }

static void *aligned(size_t bytes) {
    void *memory = NULL;
    measure_check(posix_memalign(&memory, block_bytes, bytes) == 0, "memory");
    memset(memory, 0, bytes);
    return memory;
}

static void write_ahead(int fd) {
    void *zeros = aligned(fill_bytes);
    for (off_t at = 0; at < log_file_bytes; at += fill_bytes) measure_check(pwrite(fd, zeros, fill_bytes, at) == fill_bytes, "writing the log ahead");
    measure_check(fsync(fd) == 0, "fsync");
    free(zeros);
}

struct log_file open_log(const struct path_options *options, const char *name) {
    struct log_file log = {.fd = -1, .kind = options->log};
    if (options->log == log_off) return log;
    int directory = open(options->directory, O_DIRECTORY | O_CLOEXEC);
    measure_check(directory >= 0, options->directory);
    int fd = openat(directory, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    measure_check(fd >= 0, name);
    if (lseek(fd, 0, SEEK_END) != log_file_bytes) write_ahead(fd);
    close(fd);
    log.fd = openat(directory, name, O_RDWR | O_CLOEXEC | (options->log == log_direct ? O_DIRECT : 0));
    measure_check(log.fd >= 0, "opening the log (does its file system know O_DIRECT?)");
    close(directory);
    return log;
}

void write_log(struct log_file *log, const void *block_aligned, size_t count) {
    if (log->kind == log_off) return;
    if (log->offset + count > log_file_bytes) log->offset = 0;
    measure_check(pwrite(log->fd, block_aligned, count, (off_t)log->offset) == (ssize_t)count, "pwrite");
    log->offset += count;
    log->bytes += count;
}

void flush_log(struct log_file *log) {
    if (log->kind == log_direct || log->kind == log_buffered) measure_check(fdatasync(log->fd) == 0, "fdatasync");
    if (log->kind != log_off) log->commits++;
}

struct pages *open_pages(struct log_file *log) {
    struct pages *pages = calloc(1, sizeof *pages);
    measure_check(pages != NULL, "memory");
    pthread_mutex_init(&pages->mutex, NULL);
    pthread_cond_init(&pages->appendable, NULL);
    pthread_cond_init(&pages->committable, NULL);
    pthread_cond_init(&pages->deliverable, NULL);
    for (int i = 0; i < ring_pages; i++) pages->memory[i] = aligned(page_bytes);
    pages->log = log;
    return pages;
}

void append_batch(struct pages *pages, const struct batch_header *header, const uint8_t *messages) {
    size_t bytes = sizeof *header + header->bytes;
    measure_check(bytes <= page_body_bytes, "a batch larger than a page");
    pthread_mutex_lock(&pages->mutex);
    bool is_free = pages->sealed - pages->delivered < ring_pages;
    if (is_free && pages->filled[pages->sealed % ring_pages] + bytes > page_body_bytes) pages->sealed++;
    while (pages->sealed - pages->delivered >= ring_pages) pthread_cond_wait(&pages->appendable, &pages->mutex);
    size_t page = pages->sealed % ring_pages;
    uint8_t *at = pages->memory[page] + block_bytes + pages->filled[page];
    memcpy(at, header, sizeof *header);
    memcpy(at + sizeof *header, messages, header->bytes);
    pages->filled[page] += bytes;
    pthread_cond_signal(&pages->committable);
    pthread_mutex_unlock(&pages->mutex);
}

void close_pages(struct pages *pages) {
    pthread_mutex_lock(&pages->mutex);
    pages->closed = true;
    pthread_cond_signal(&pages->committable);
    pthread_mutex_unlock(&pages->mutex);
}

/* Pages to commit: [durable, end). False when there will be none. */
static bool take_group(struct pages *pages, uint64_t *end) {
    pthread_mutex_lock(&pages->mutex);
    while (true) {
        bool has_open = pages->sealed - pages->delivered < ring_pages && pages->filled[pages->sealed % ring_pages] > 0;
        if (pages->sealed == pages->durable && has_open) pages->sealed++;
        if (pages->sealed > pages->durable || pages->closed) break;
        pthread_cond_wait(&pages->committable, &pages->mutex);
    }
    *end = pages->sealed;
    bool more = *end > pages->durable;
    pthread_mutex_unlock(&pages->mutex);
    return more;
}

static void write_page(struct pages *pages, uint64_t number) {
    size_t page = number % ring_pages;
    uint8_t *memory = pages->memory[page];
    size_t bytes = pages->filled[page], padded = round_up(block_bytes + bytes);
    struct page_header header = {.number = number, .bytes = (uint32_t)bytes, .crc = crc32c(memory + block_bytes, bytes)};
    memcpy(memory, &header, sizeof header);
    memset(memory + block_bytes + bytes, 0, padded - block_bytes - bytes);
    write_log(pages->log, memory, padded);
}

void *commit_pages(void *context) {
    struct pages *pages = context;
    uint64_t end;
    while (take_group(pages, &end)) {
        for (uint64_t number = pages->durable; number < end; number++) write_page(pages, number);
        flush_log(pages->log);
        pthread_mutex_lock(&pages->mutex);
        pages->durable = end;
        pthread_cond_signal(&pages->deliverable);
        pthread_mutex_unlock(&pages->mutex);
    }
    pthread_mutex_lock(&pages->mutex);
    pages->finished = true;
    pthread_cond_signal(&pages->deliverable);
    pthread_mutex_unlock(&pages->mutex);
    return NULL;
}

const uint8_t *next_durable(struct pages *pages, size_t *count) {
    pthread_mutex_lock(&pages->mutex);
    while (pages->durable == pages->delivered && !pages->finished) pthread_cond_wait(&pages->deliverable, &pages->mutex);
    size_t page = pages->delivered % ring_pages;
    const uint8_t *memory = pages->durable > pages->delivered ? pages->memory[page] : NULL;
    *count = memory == NULL ? 0 : pages->filled[page];
    pthread_mutex_unlock(&pages->mutex);
    return memory;
}

void release_page(struct pages *pages) {
    pthread_mutex_lock(&pages->mutex);
    pages->filled[pages->delivered % ring_pages] = 0;
    pages->delivered++;
    pthread_cond_signal(&pages->appendable);
    pthread_mutex_unlock(&pages->mutex);
}
