/* Parses all requests of a file with llhttp, the parser that node has. */
#include "requests.h"
#include <llhttp.h>

static int begins(llhttp_t *parser) {
    (void)parser;
    head.fields = 0;
    return 0;
}

static int target(llhttp_t *parser, const char *at, size_t length) {
    (void)parser;
    head.target = (struct span){at, length};
    return 0;
}

static int name(llhttp_t *parser, const char *at, size_t length) {
    (void)parser;
    if (head.fields == FIELDS)
        return 1;
    head.names[head.fields++] = (struct span){at, length};
    return 0;
}

static int value(llhttp_t *parser, const char *at, size_t length) {
    (void)parser;
    head.values[head.fields - 1] = (struct span){at, length};
    return 0;
}

static int ends(llhttp_t *parser) {
    (void)parser;
    request_ends();
    return 0;
}

static int parse(const char *bytes, size_t length) {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_message_begin = begins;
    settings.on_url = target;
    settings.on_header_field = name;
    settings.on_header_value = value;
    settings.on_message_complete = ends;
    llhttp_t parser;
    llhttp_init(&parser, HTTP_REQUEST, &settings);
    if (llhttp_execute(&parser, bytes, length) != HPE_OK)
        return malformed(llhttp_get_error_pos(&parser) - bytes);
    return 0;
}
