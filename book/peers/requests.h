/* What the C peers share: the file in memory, the head that a request is read into, the time, and what is printed. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FIELDS = 100 };

struct span {
    const char *at;
    size_t length;
};

static struct {
    struct span target;
    struct span names[FIELDS], values[FIELDS];
    size_t fields;
} head;

static struct {
    size_t requests, fields;
} total;

static void request_ends(void) {
    /* What was read is looked at by somebody, as far as the compiler knows. */
    __asm__ volatile("" : : "r"(&head) : "memory");
    total.requests += 1;
    total.fields += head.fields;
}

static int malformed(size_t at) {
    fprintf(stderr, "byte %zu: malformed\n", at);
    return 1;
}

/* Parses all requests of a buffer; the exit code. */
static int parse(const char *bytes, size_t length);

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    size_t length = ftell(file);
    char *bytes = malloc(length + 1);
    rewind(file);
    if (!bytes || fread(bytes, 1, length, file) != length) {
        fprintf(stderr, "%s cannot be read\n", argv[1]);
        return 1;
    }
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    int code = parse(bytes, length);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (code != 0)
        return code;
    double seconds = (end.tv_sec - begin.tv_sec) + (end.tv_nsec - begin.tv_nsec) / 1e9;
    printf("%zu requests, %zu header fields, %zu bytes, parsed in %.6f s: %.0f MB/s\n", total.requests, total.fields,
           length, seconds, length / seconds / 1e6);
    return 0;
}
