/* CRC-32C (Castagnoli) by the processor's instruction on three lanes at once, since one lane waits three cycles for each step; elsewhere by
 * a table. The lanes' values are combined by the operator "append so many zero bytes", linear over GF(2), kept as four tables. */
#include "path.h"

#include <pthread.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78u

enum { lane_bytes = 1024 };

static uint32_t bytes_table[256];      /* one byte appended to a zero state */
static uint32_t lane_table[4][256];    /* lane_bytes zero bytes appended to each byte of a state */
static pthread_once_t made = PTHREAD_ONCE_INIT;

static uint32_t append_zero_byte(uint32_t state) { return (state >> 8) ^ bytes_table[state & 0xff]; }

static void make_tables(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t state = i;
        for (int bit = 0; bit < 8; bit++) state = (state >> 1) ^ ((state & 1) ? POLYNOMIAL : 0);
        bytes_table[i] = state;
    }
    for (int byte = 0; byte < 4; byte++) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t state = i << (8 * byte);
            for (int n = 0; n < lane_bytes; n++) state = append_zero_byte(state);
            lane_table[byte][i] = state;
        }
    }
}

#ifdef __SSE4_2__
#include <nmmintrin.h>

static uint32_t append_zero_lane(uint32_t state) {
    return lane_table[0][state & 0xff] ^ lane_table[1][(state >> 8) & 0xff] ^ lane_table[2][(state >> 16) & 0xff] ^ lane_table[3][state >> 24];
}

static uint64_t word_at(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint32_t append(uint32_t state, const uint8_t *at, size_t count) {
    while (count >= 3 * lane_bytes) {
        uint64_t a = state, b = 0, c = 0;
        for (size_t i = 0; i < lane_bytes; i += 8) {
            a = _mm_crc32_u64(a, word_at(at + i));
            b = _mm_crc32_u64(b, word_at(at + lane_bytes + i));
            c = _mm_crc32_u64(c, word_at(at + 2 * lane_bytes + i));
        }
        state = append_zero_lane(append_zero_lane((uint32_t)a) ^ (uint32_t)b) ^ (uint32_t)c;
        at += 3 * lane_bytes;
        count -= 3 * lane_bytes;
    }
    uint64_t rest = state;
    for (; count >= 8; at += 8, count -= 8) rest = _mm_crc32_u64(rest, word_at(at));
    for (; count > 0; at++, count--) rest = _mm_crc32_u8((uint32_t)rest, *at);
    return (uint32_t)rest;
}
#else
static uint32_t append(uint32_t state, const uint8_t *at, size_t count) {
    for (; count > 0; at++, count--) state = (state >> 8) ^ bytes_table[(state ^ *at) & 0xff];
    return state;
}
#endif

uint32_t crc32c(const void *bytes, size_t count) {
    pthread_once(&made, make_tables);
    return ~append(~0u, bytes, count);
}
