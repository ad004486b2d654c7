/* MD5 (RFC 1321) and SHA-1, SHA-256, SHA-384, SHA-512 (FIPS 180-4).
 *
 * The constants of the standards are computed, not listed: those of MD5 are sines, those of SHA-2
 * the first bits of the fractions of square and cube roots of primes. */
#include "sparql/digest.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct state {
    uint64_t words[8]; /* of 32 or 64 bits */
    uint64_t constants[80];
} state;

static uint32_t turn32(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static uint32_t right32(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint64_t right64(uint64_t x, unsigned n)
{
    return x >> n | x << (64 - n);
}

static uint32_t little(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t big(const unsigned char *p)
{
    return (uint32_t)p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
}

/* ---- constants ---------------------------------------------------------------------------- */

/* Compares (value / 2^64)^power, value below 2^72, with a whole number: by limbs of 16 bits. */
static bool root_at_most(uint64_t whole, uint64_t fraction, unsigned power, uint64_t number)
{
    uint16_t base[5], product[20] = {1};
    for (int i = 0; i < 4; i++)
        base[i] = (uint16_t)(fraction >> (16 * i));
    base[4] = (uint16_t)whole;
    for (unsigned p = 0; p < power; p++) {
        uint32_t next[24] = {0};
        for (int i = 0; i < 15; i++) {
            uint32_t carry = 0;
            for (int k = 0; k < 5; k++) {
                uint64_t sum = (uint64_t)next[i + k] + (uint64_t)product[i] * base[k] + carry;
                next[i + k] = (uint32_t)(sum & 0xFFFF);
                carry = (uint32_t)(sum >> 16);
            }
            next[i + 5] += carry;
        }
        for (int i = 0; i < 20; i++)
            product[i] = (uint16_t)next[i];
    }
    uint64_t above = 0; /* the part of the product in front of the point */
    for (unsigned i = 4 * power; i < 20; i++)
        above |= (i - 4 * power) < 4 ? (uint64_t)product[i] << (16 * (i - 4 * power)) : 0;
    return above < number;
}

/* The first 64 bits of the fraction of the root of a prime. */
static uint64_t root_fraction(uint64_t number, unsigned power)
{
    uint64_t whole = 1, fraction = 0;
    while ((power == 2 ? (whole + 1) * (whole + 1) : (whole + 1) * (whole + 1) * (whole + 1)) <=
           number)
        whole++;
    for (int bit = 63; bit >= 0; bit--)
        if (root_at_most(whole, fraction | UINT64_C(1) << bit, power, number))
            fraction |= UINT64_C(1) << bit;
    return fraction;
}

static uint64_t next_prime(uint64_t after)
{
    for (uint64_t n = after + 1;; n++) {
        bool prime = n > 1;
        for (uint64_t d = 2; d * d <= n; d++)
            prime &= n % d != 0;
        if (prime)
            return n;
    }
}

static void prepare(wfre_sq_digest kind, state *s)
{
    static const uint64_t FIRST[] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    memset(s, 0, sizeof *s);
    if (kind == WFRE_SQ_DIGEST_MD5 || kind == WFRE_SQ_DIGEST_SHA1) {
        memcpy(s->words, FIRST, sizeof FIRST);
        for (int i = 0; i < 64; i++)
            s->constants[i] = (uint64_t)floor(fabs(sin(i + 1.0)) * 4294967296.0);
        return;
    }
    uint64_t prime = 1;
    for (unsigned i = 0; i < 80; i++) {
        prime = next_prime(prime);
        s->constants[i] = root_fraction(prime, 3) >> (kind == WFRE_SQ_DIGEST_SHA256 ? 32 : 0);
        if (i < 8)
            s->words[i] = root_fraction(prime, 2) >> (kind == WFRE_SQ_DIGEST_SHA256 ? 32 : 0);
        if (kind == WFRE_SQ_DIGEST_SHA384 && i >= 8 && i < 16)
            s->words[i - 8] = root_fraction(prime, 2);
    }
}

/* All kinds as they begin; worked out once, which takes a few milliseconds. */
static state starts[WFRE_SQ_DIGEST_SHA512 + 1];
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static void prepare_all(void)
{
    for (int kind = 0; kind <= WFRE_SQ_DIGEST_SHA512; kind++)
        prepare((wfre_sq_digest)kind, &starts[kind]);
}

/* ---- blocks ------------------------------------------------------------------------------- */

static void md5_block(state *s, const unsigned char *block)
{
    static const unsigned TURNS[4][4] = {
        {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = (uint32_t)s->words[0], b = (uint32_t)s->words[1], c = (uint32_t)s->words[2],
             d = (uint32_t)s->words[3];
    for (unsigned i = 0; i < 64; i++) {
        uint32_t f;
        unsigned k;
        if (i < 16) {
            f = (b & c) | (~b & d);
            k = i;
        } else if (i < 32) {
            f = (d & b) | (~d & c);
            k = (5 * i + 1) % 16;
        } else if (i < 48) {
            f = b ^ c ^ d;
            k = (3 * i + 5) % 16;
        } else {
            f = c ^ (b | ~d);
            k = 7 * i % 16;
        }
        uint32_t sum = a + f + (uint32_t)s->constants[i] + little(block + (size_t)4 * k);
        a = d;
        d = c;
        c = b;
        b += turn32(sum, TURNS[i / 16][i % 4]);
    }
    const uint32_t sums[] = {a, b, c, d};
    for (int i = 0; i < 4; i++)
        s->words[i] = (uint32_t)(s->words[i] + sums[i]);
}

static void sha1_block(state *s, const unsigned char *block)
{
    uint32_t w[80], v[5];
    for (unsigned i = 0; i < 80; i++)
        w[i] = i < 16 ? big(block + (size_t)4 * i)
                      : turn32(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (int i = 0; i < 5; i++)
        v[i] = (uint32_t)s->words[i];
    for (unsigned i = 0; i < 80; i++) {
        static const uint32_t K[] = {0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6};
        uint32_t f = i < 20   ? (v[1] & v[2]) | (~v[1] & v[3])
                     : i < 40 ? v[1] ^ v[2] ^ v[3]
                     : i < 60 ? (v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3])
                              : v[1] ^ v[2] ^ v[3];
        uint32_t sum = turn32(v[0], 5) + f + v[4] + K[i / 20] + w[i];
        v[4] = v[3];
        v[3] = v[2];
        v[2] = turn32(v[1], 30);
        v[1] = v[0];
        v[0] = sum;
    }
    for (int i = 0; i < 5; i++)
        s->words[i] = (uint32_t)(s->words[i] + v[i]);
}

static void sha256_block(state *s, const unsigned char *block)
{
    uint32_t w[64], v[8];
    for (unsigned i = 0; i < 64; i++) {
        if (i < 16) {
            w[i] = big(block + (size_t)4 * i);
            continue;
        }
        uint32_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (right32(x, 7) ^ right32(x, 18) ^ x >> 3) + w[i - 7] +
               (right32(y, 17) ^ right32(y, 19) ^ y >> 10);
    }
    for (int i = 0; i < 8; i++)
        v[i] = (uint32_t)s->words[i];
    for (unsigned i = 0; i < 64; i++) {
        uint32_t e = v[4], a = v[0];
        uint32_t one = v[7] + (right32(e, 6) ^ right32(e, 11) ^ right32(e, 25)) +
                       ((e & v[5]) ^ (~e & v[6])) + (uint32_t)s->constants[i] + w[i];
        uint32_t two = (right32(a, 2) ^ right32(a, 13) ^ right32(a, 22)) +
                       ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        s->words[i] = (uint32_t)(s->words[i] + v[i]);
}

static void sha512_block(state *s, const unsigned char *block)
{
    uint64_t w[80], v[8];
    for (unsigned i = 0; i < 80; i++) {
        if (i < 16) {
            const unsigned char *at = block + (size_t)8 * i;
            w[i] = (uint64_t)big(at) << 32 | big(at + 4);
            continue;
        }
        uint64_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (right64(x, 1) ^ right64(x, 8) ^ x >> 7) + w[i - 7] +
               (right64(y, 19) ^ right64(y, 61) ^ y >> 6);
    }
    memcpy(v, s->words, sizeof v);
    for (unsigned i = 0; i < 80; i++) {
        uint64_t e = v[4], a = v[0];
        uint64_t one = v[7] + (right64(e, 14) ^ right64(e, 18) ^ right64(e, 41)) +
                       ((e & v[5]) ^ (~e & v[6])) + s->constants[i] + w[i];
        uint64_t two = (right64(a, 28) ^ right64(a, 34) ^ right64(a, 39)) +
                       ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        s->words[i] += v[i];
}

/* ---- the whole ---------------------------------------------------------------------------- */

typedef struct method {
    void (*block)(state *s, const unsigned char *block);
    size_t block_size, word_size, words;
    bool little;
} method;

static const method METHODS[] = {{md5_block, 64, 4, 4, true},
                                 {sha1_block, 64, 4, 5, false},
                                 {sha256_block, 64, 4, 8, false},
                                 {sha512_block, 128, 8, 6, false},
                                 {sha512_block, 128, 8, 8, false}};

size_t wfre_sq_digest_text(wfre_sq_digest kind, const void *bytes, size_t length,
                           char text[WFRE_SQ_DIGEST_TEXT])
{
    const method *m = &METHODS[kind];
    const unsigned char *at = bytes;
    unsigned char last[256] = {0};
    (void)pthread_once(&prepared, prepare_all);
    state s = starts[kind];
    size_t left = length;
    for (; left >= m->block_size; left -= m->block_size, at += m->block_size)
        m->block(&s, at);
    if (left)
        memcpy(last, at, left);
    last[left] = 0x80;
    size_t end = left + 1 + m->block_size / 8 <= m->block_size ? m->block_size : 2 * m->block_size;
    uint64_t bits = (uint64_t)length * 8;
    for (size_t i = 0; i < 8; i++)
        last[m->little ? end - 8 + i : end - 1 - i] = (unsigned char)(bits >> (8 * i));
    for (size_t i = 0; i < end; i += m->block_size)
        m->block(&s, last + i);
    size_t used = 0;
    for (size_t i = 0; i < m->words; i++)
        for (size_t k = 0; k < m->word_size; k++) {
            size_t shift = 8 * (m->little ? k : m->word_size - 1 - k);
            used +=
                (size_t)snprintf(text + used, 3, "%02x", (unsigned)(s.words[i] >> shift & 0xFF));
        }
    return used;
}
