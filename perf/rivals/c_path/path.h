/* Our data path in C: what the hardware allows, with the same order of things and nothing beside it.
 *
 *   app1 --unix--> forwarder --TCP--> logger --unix--> app2
 *
 * app1 makes messages; the forwarder finds their boundaries and sends whole ones on in batches with a checksum; the logger checks each
 * batch, copies it into a page, writes and flushes pages in groups, and only then hands them to app2, which checks every message's
 * number. Left out, and therefore the distance to physics and no rival: outputs kept for resending, acknowledgements, trims, several
 * peers, the fence, user code, recovery.
 *
 * A message: its length as a varint (that of what follows), one byte for its method, its argument.
 * A batch: struct batch_header, then whole messages. A page: one block for its header, then batches. */
#ifndef AMBROSIA_C_PATH_H
#define AMBROSIA_C_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure.h"

enum {
    block_bytes = 4096,
    page_bytes = 1 << 20,
    page_body_bytes = page_bytes - block_bytes,
    receive_bytes = 256 * 1024,       /* of one read */
    send_bytes = 64 * 1024,           /* app1 writes when so much is there */
    argument_bytes_max = 512 * 1024,  /* with its batch it must fit a page */
    log_file_bytes = 512 << 20,       /* written before, and again from the start when it is full */
    ping_bytes = 16,
};

/* What becomes of a page before it is handed on. */
enum log_kind { log_direct, log_buffered, log_unflushed, log_off };

struct path_options {
    enum log_kind log;
    bool local_tcp;
    const char *directory;
};

struct batch_header {
    uint32_t bytes, count;
    uint64_t first; /* number of its first message, from 1 */
    uint32_t crc, zero;
};

/* ---- messages ---- */

/* Writes a message's head; returns its bytes, 2 to 5. */
size_t put_head(uint8_t *at, size_t argument_bytes);
/* Reads one: false when the head or the message is not whole. Sets where the argument begins and how long it is. */
bool find_message(const uint8_t *at, size_t have, size_t *argument_at, size_t *argument_bytes);

uint32_t crc32c(const void *bytes, size_t count);

/* ---- the log ---- */

struct log_file {
    int fd; /* -1: none */
    enum log_kind kind;
    uint64_t offset, commits, bytes;
};

/* Opens the pre-written file of a name, and makes it when it is not there: a file that grows pays for its metadata at each flush. */
struct log_file open_log(const struct path_options *options, const char *name);
void write_log(struct log_file *log, const void *block_aligned, size_t count);
/* Makes what was written durable. */
void flush_log(struct log_file *log);

/* ---- pages: filled by one thread, committed by a second, delivered by a third ---- */

struct pages;

struct pages *open_pages(struct log_file *log);
/* Waits for room. */
void append_batch(struct pages *pages, const struct batch_header *header, const uint8_t *messages);
/* No more will come. */
void close_pages(struct pages *pages);
/* Writes and flushes groups of pages until closed. A thread's body. */
void *commit_pages(void *pages);
/* Waits for the next durable page; NULL when closed and all were had. Its content begins behind the first block. */
const uint8_t *next_durable(struct pages *pages, size_t *count);
/* The page of next_durable may be filled again. */
void release_page(struct pages *pages);

/* ---- the processes ---- */

struct path {
    int app1[2], link[2], app2[2]; /* [0] is the left one's */
    int totals[2], counters[2];    /* to the first process */
    const struct path_options *options;
    uint64_t messages;
    size_t argument_bytes;
};

void send_messages(struct path *path);        /* app1 */
void forward_messages(void *path);            /* its coordinator */
void log_messages(void *path);                /* the other one */
void receive_messages(void *path);            /* app2 */

#endif
