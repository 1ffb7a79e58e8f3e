/* Parses all requests of a file with http_parser, the parser that node had. */
#include "requests.h"
#include <http_parser.h>

static int begins(http_parser *parser) {
    (void)parser;
    head.fields = 0;
    return 0;
}

static int target(http_parser *parser, const char *at, size_t length) {
    (void)parser;
    head.target = (struct span){at, length};
    return 0;
}

static int name(http_parser *parser, const char *at, size_t length) {
    (void)parser;
    if (head.fields == FIELDS)
        return 1;
    head.names[head.fields++] = (struct span){at, length};
    return 0;
}

static int value(http_parser *parser, const char *at, size_t length) {
    (void)parser;
    head.values[head.fields - 1] = (struct span){at, length};
    return 0;
}

static int ends(http_parser *parser) {
    (void)parser;
    request_ends();
    return 0;
}

static int parse(const char *bytes, size_t length) {
    http_parser_settings settings;
    http_parser_settings_init(&settings);
    settings.on_message_begin = begins;
    settings.on_url = target;
    settings.on_header_field = name;
    settings.on_header_value = value;
    settings.on_message_complete = ends;
    http_parser parser;
    http_parser_init(&parser, HTTP_REQUEST);
    size_t consumed = http_parser_execute(&parser, &settings, bytes, length);
    return consumed == length ? 0 : malformed(consumed);
}
