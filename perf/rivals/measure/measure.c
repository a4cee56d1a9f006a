#include "measure.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { socket_buffer_bytes = 1 << 20 };

void measure_fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, errno ? strerror(errno) : "failed");
    exit(1);
}

void measure_check(bool holds, const char *what) {
    if (!holds) measure_fail(what);
}

static uint64_t nanoseconds_of(clockid_t clock) {
    struct timespec t;
    measure_check(clock_gettime(clock, &t) == 0, "clock_gettime");
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t measure_now(void) { return nanoseconds_of(CLOCK_MONOTONIC); }

uint64_t measure_number(const char *text) {
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno != 0 || *text < '0' || *text > '9' || *end != 0 || value == 0) {
        fprintf(stderr, "'%s' is no number from 1 on\n", text);
        exit(2);
    }
    return value;
}

void write_all(int fd, const void *bytes, size_t count) {
    const char *at = bytes;
    while (count > 0) {
        ssize_t n = write(fd, at, count);
        if (n < 0 && errno == EINTR) continue;
        measure_check(n > 0, "write");
        at += n;
        count -= (size_t)n;
    }
}

bool read_all(int fd, void *bytes, size_t count) {
    char *at = bytes;
    size_t left = count;
    while (left > 0) {
        ssize_t n = read(fd, at, left);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0 && left == count) return false;
        errno = n == 0 ? ECONNRESET : errno;
        measure_check(n > 0, "read");
        at += n;
        left -= (size_t)n;
    }
    return true;
}

void unix_pair(int ends[2]) {
    measure_check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
    for (int i = 0; i < 2; i++) {
        int bytes = socket_buffer_bytes;
        measure_check(setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) == 0, "SO_SNDBUF");
    }
}

void tcp_pair(int ends[2]) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    measure_check(listener >= 0 && bind(listener, (struct sockaddr *)&address, length) == 0, "bind");
    measure_check(listen(listener, 1) == 0 && getsockname(listener, (struct sockaddr *)&address, &length) == 0, "listen");
    ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    measure_check(ends[0] >= 0 && connect(ends[0], (struct sockaddr *)&address, length) == 0, "connect");
    ends[1] = accept(listener, NULL, NULL);
    measure_check(ends[1] >= 0, "accept");
    close(listener);
    for (int i = 0; i < 2; i++) {
        int on = 1;
        measure_check(setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "TCP_NODELAY");
    }
}

pid_t start_process(void (*run)(void *), void *context) {
    pid_t parent = getpid(), child = fork();
    measure_check(child >= 0, "fork");
    if (child > 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* it died before the line above */
    run(context);
    exit(0);
}

void await_process(pid_t process) {
    int status = 0;
    while (waitpid(process, &status, 0) < 0) measure_check(errno == EINTR, "waitpid");
    errno = 0;
    measure_check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a process of the leg");
}

uint64_t processor_time(pid_t process) {
    clockid_t clock;
    errno = clock_getcpuclockid(process, &clock);
    measure_check(errno == 0, "clock_getcpuclockid");
    return nanoseconds_of(clock);
}

void print_round(double seconds, const struct round_totals *totals, const struct round_usage *usage) {
    printf("round %.9f %" PRIu64 " %" PRIu64 " %" PRIu64 " %.9f %" PRIu64 " %" PRIu64 "\n", seconds, totals->count, totals->bytes,
           totals->disorder, usage->cpu_seconds, usage->commits, usage->log_bytes);
}

static int compare_times(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The value that so many of 100 do not exceed, in microseconds. */
static double percentile(const uint64_t *sorted, size_t count, double percent) {
    size_t rank = (size_t)ceil((double)count * percent / 100);
    return (double)sorted[rank - 1] / 1e3;
}

void print_latencies(uint64_t wrong, double seconds, const struct round_usage *usage, uint64_t *latencies, size_t count) {
    qsort(latencies, count, sizeof *latencies, compare_times);
    printf("latencies %" PRIu64 " %.9f %.9f %" PRIu64 " %" PRIu64 " %zu %.1f %.1f %.1f %.1f %.1f\n", wrong, seconds, usage->cpu_seconds,
           usage->commits, usage->log_bytes, count, percentile(latencies, count, 50), percentile(latencies, count, 90),
           percentile(latencies, count, 99), percentile(latencies, count, 99.9), percentile(latencies, count, 100));
}
