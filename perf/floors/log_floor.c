/* The raw cost of what the log does: writes of one size, each flushed, into a file whose blocks were all written before; a sequential write
 * of the whole file with one flush; a sequential read. One line on the standard output: seconds. Any failure ends the program.
 *   log_floor append FILE BLOCK COUNT direct|buffered
 *   log_floor stream FILE BLOCK COUNT direct|buffered
 *   log_floor read   FILE BLOCK COUNT direct|buffered|cold
 * cold: buffered, with nothing of the file in the page cache at the beginning.
 * The file is made, and written once, when it is not there or too short; it stays. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { fill_block = 1 << 20 };

static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static char *block_of(size_t bytes) {
    char *block = aligned_alloc(4096, bytes);
    if (block == NULL) fail("memory");
    for (size_t i = 0; i < bytes; i++) block[i] = (char)(i * 31 + i / 4096);
    return block;
}

static void prepare(const char *path, size_t bytes) {
    int file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    struct stat status;
    if (file < 0 || fstat(file, &status) < 0) fail(path);
    if ((size_t)status.st_size < bytes) {
        char *block = block_of(fill_block);
        for (size_t at = 0; at < bytes; at += fill_block)
            if (pwrite(file, block, fill_block, (off_t)at) != fill_block) fail("fill");
        if (fsync(file) < 0) fail("fsync");
        free(block);
    }
    close(file);
}

int main(int count, char **words) {
    if (count != 6) {
        fprintf(stderr, "log_floor append|stream|read FILE BLOCK COUNT direct|buffered|cold\n");
        return 2;
    }
    size_t bytes = strtoull(words[3], NULL, 10), times = strtoull(words[4], NULL, 10);
    int append = strcmp(words[1], "append") == 0, reads = strcmp(words[1], "read") == 0, direct = strcmp(words[5], "direct") == 0;
    if (bytes == 0 || bytes % 4096 != 0 || times == 0) {
        fprintf(stderr, "BLOCK is a multiple of 4096\n");
        return 2;
    }
    prepare(words[2], bytes * times);
    int file = open(words[2], O_RDWR | O_CLOEXEC | (direct ? O_DIRECT : 0));
    if (file < 0) fail(words[2]);
    if (strcmp(words[5], "cold") == 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0) fail("posix_fadvise");
    char *block = block_of(bytes);
    double begun = now();
    for (size_t i = 0; i < times; i++) {
        if (reads) {
            if (pread(file, block, bytes, (off_t)(i * bytes)) != (ssize_t)bytes) fail("pread");
            continue;
        }
        block[0] = (char)i;
        if (pwrite(file, block, bytes, (off_t)(i * bytes)) != (ssize_t)bytes) fail("pwrite");
        if (append && fdatasync(file) < 0) fail("fdatasync");
    }
    if (!append && !reads && fdatasync(file) < 0) fail("fdatasync");
    printf("%.9f\n", now() - begun);
    close(file);
    free(block);
    return 0;
}
