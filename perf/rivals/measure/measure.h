/* What every rival needs: clocks, whole reads and writes, socket pairs, forked processes whose processor time counts, and the one line
 * that the driver reads. Any failure ends the program with a message: a measurement that goes on after one means nothing. */
#ifndef AMBROSIA_MEASURE_H
#define AMBROSIA_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the process with "what: why" on the standard error. */
void measure_fail(const char *what) __attribute__((noreturn));
void measure_check(bool holds, const char *what);

/* The monotonic clock in nanoseconds; one for all processes. */
uint64_t measure_now(void);

/* A number from 1 on; ends the program when the text is none. */
uint64_t measure_number(const char *text);

void write_all(int fd, const void *bytes, size_t count);
/* False: the other end is gone before the first byte. In the middle it is a failure. */
bool read_all(int fd, void *bytes, size_t count);

/* Two connected ends; ends[0] is for the one that connects. */
void unix_pair(int ends[2]);
void tcp_pair(int ends[2]);

/* Forks; the child runs the function with its context and ends with 0. It dies with its parent. */
pid_t start_process(void (*run)(void *), void *context);
/* Waits for it; a failure of it is ours. */
void await_process(pid_t process);
/* User and system time of a process so far, all threads, in nanoseconds. */
uint64_t processor_time(pid_t process);

/* A receiver's account of a round. */
struct round_totals {
    uint64_t count, bytes, disorder;
    uint64_t ended; /* measure_now() at the last message */
};

/* What the processes of a leg used and wrote. */
struct round_usage {
    double cpu_seconds;
    uint64_t commits, log_bytes;
};

void print_round(double seconds, const struct round_totals *totals, const struct round_usage *usage);

/* Prints percentiles of latencies in nanoseconds; sorts them. */
void print_latencies(uint64_t wrong, double seconds, const struct round_usage *usage, uint64_t *latencies, size_t count);

#ifdef __cplusplus
}
#endif
#endif
