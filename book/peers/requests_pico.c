/* Parses all requests of a file with picohttpparser. */
#include "requests.h"
#include "picohttpparser.h"

static struct phr_header headers[FIELDS];

static int parse(const char *bytes, size_t length) {
    for (size_t at = 0; at < length;) {
        const char *method;
        size_t method_length;
        int minor_version;
        head.fields = FIELDS;
        int consumed = phr_parse_request(bytes + at, length - at, &method, &method_length, &head.target.at,
                                         &head.target.length, &minor_version, headers, &head.fields, 0);
        if (consumed < 0)
            return malformed(at);
        at += consumed;
        request_ends();
    }
    return 0;
}
